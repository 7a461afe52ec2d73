package shadow

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	kueueFamily = "kueue_admission_attempt_duration_seconds"
	// kueuePatience is less than what scrapes are given.
	kueuePatience = 5 * time.Second
	// mostKueueBytes bounds a page of metrics.
	mostKueueBytes = 64 << 20
)

// KueueEndpoint is where Kueue's metrics are.
type KueueEndpoint struct {
	URL       string
	TokenFile string // of a bearer token, read for each request; empty: none is sent
	CA        string // PEM file; empty: the authorities of the system
}

// KueueMetrics publishes how long Kueue's scheduling cycles take, by Kueue's own metrics, which it reads
// whenever it is scraped. Safe for concurrent use.
type KueueMetrics struct {
	endpoint KueueEndpoint
	client   *http.Client
	logger   *slog.Logger
	seconds  *prometheus.Desc
	failed   prometheus.Counter
}

// NewKueueMetrics returns metrics that have read nothing. Errors: the authorities cannot be read.
func NewKueueMetrics(endpoint KueueEndpoint, logger *slog.Logger) (*KueueMetrics, error) {
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if endpoint.CA != "" {
		pem, err := os.ReadFile(endpoint.CA)
		if err != nil {
			return nil, err
		}
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: has no certificate", endpoint.CA)
		}
	}
	return &KueueMetrics{
		endpoint: endpoint, logger: logger,
		client:  &http.Client{Timeout: kueuePatience, Transport: &http.Transport{TLSClientConfig: trust, Proxy: http.ProxyFromEnvironment}},
		seconds: prometheus.NewDesc("espalier_shadow_kueue_seconds", "How long Kueue's scheduling cycles took, by its own "+kueueFamily+".", []string{"result"}, nil),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "espalier_shadow_kueue_failures_total", Help: "Times that Kueue's metrics could not be read.",
		}),
	}, nil
}

// Describe tells of the metrics.
func (k *KueueMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- k.seconds
	k.failed.Describe(to)
}

// Collect reads Kueue's metrics and gives those that are published.
func (k *KueueMetrics) Collect(to chan<- prometheus.Metric) {
	cycles, err := k.read()
	if err != nil {
		k.failed.Inc()
		k.logger.Warn("Kueue's metrics not read", "err", err)
	}
	for result, c := range cycles {
		to <- prometheus.MustNewConstHistogram(k.seconds, c.count, c.sum, c.buckets, result)
	}
	k.failed.Collect(to)
}

// cycles are the scheduling cycles of one result.
type cycles struct {
	count   uint64
	sum     float64
	buckets map[float64]uint64 // how many took at most so many seconds
}

// read returns the cycles by result. Errors: the endpoint does not answer with metrics, or not with those.
func (k *KueueMetrics) read() (map[string]*cycles, error) {
	page, err := k.get()
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(page))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.endpoint.URL, err)
	}
	family := families[kueueFamily]
	if family == nil {
		return nil, fmt.Errorf("%s: has no %s", k.endpoint.URL, kueueFamily)
	}
	byResult := map[string]*cycles{}
	for _, metric := range family.GetMetric() {
		histogram := metric.GetHistogram()
		if histogram == nil {
			return nil, fmt.Errorf("%s: %s is no histogram", k.endpoint.URL, kueueFamily)
		}
		result := ""
		for _, label := range metric.GetLabel() {
			if label.GetName() == "result" {
				result = strings.ToValidUTF8(label.GetValue(), "?")
			}
		}
		of := byResult[result]
		if of == nil {
			of = &cycles{buckets: map[float64]uint64{}}
			byResult[result] = of
		}
		// Those of the other labels, such as the replica's role, count together.
		of.count += histogram.GetSampleCount()
		of.sum += histogram.GetSampleSum()
		for _, bucket := range histogram.GetBucket() {
			of.buckets[bucket.GetUpperBound()] += bucket.GetCumulativeCount()
		}
	}
	return byResult, nil
}

func (k *KueueMetrics) get() ([]byte, error) {
	request, err := http.NewRequest(http.MethodGet, k.endpoint.URL, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/plain;version=0.0.4")
	if k.endpoint.TokenFile != "" {
		token, err := os.ReadFile(k.endpoint.TokenFile)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	reply, err := k.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", k.endpoint.URL, reply.Status)
	}
	page, err := io.ReadAll(io.LimitReader(reply.Body, mostKueueBytes+1))
	if err == nil && len(page) > mostKueueBytes {
		err = fmt.Errorf("more than %d bytes", mostKueueBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.endpoint.URL, err)
	}
	return page, nil
}
