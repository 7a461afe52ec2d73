package shadow_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"espalier.dev/espalier/internal/bridge/shadow"
)

// kueuePage has the metric as Kueue writes it, of a leader and of one that was none before.
const kueuePage = `# HELP kueue_admission_attempt_duration_seconds The latency of an admission attempt.
# TYPE kueue_admission_attempt_duration_seconds histogram
kueue_admission_attempt_duration_seconds_bucket{replica_role="leader",result="success",le="0.25"} 3
kueue_admission_attempt_duration_seconds_bucket{replica_role="leader",result="success",le="0.5"} 7
kueue_admission_attempt_duration_seconds_bucket{replica_role="leader",result="success",le="+Inf"} 8
kueue_admission_attempt_duration_seconds_sum{replica_role="leader",result="success"} 4
kueue_admission_attempt_duration_seconds_count{replica_role="leader",result="success"} 8
kueue_admission_attempt_duration_seconds_bucket{replica_role="follower",result="success",le="0.25"} 1
kueue_admission_attempt_duration_seconds_bucket{replica_role="follower",result="success",le="0.5"} 1
kueue_admission_attempt_duration_seconds_bucket{replica_role="follower",result="success",le="+Inf"} 1
kueue_admission_attempt_duration_seconds_sum{replica_role="follower",result="success"} 0.125
kueue_admission_attempt_duration_seconds_count{replica_role="follower",result="success"} 1
kueue_admission_attempt_duration_seconds_bucket{replica_role="leader",result="inadmissible",le="+Inf"} 2
kueue_admission_attempt_duration_seconds_sum{replica_role="leader",result="inadmissible"} 0.5
kueue_admission_attempt_duration_seconds_count{replica_role="leader",result="inadmissible"} 2
# TYPE kueue_pending_workloads gauge
kueue_pending_workloads 3
`

// published returns the page of metrics that a scrape gets.
func published(t *testing.T, endpoint shadow.KueueEndpoint) string {
	t.Helper()
	metrics, err := shadow.NewKueueMetrics(endpoint, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics)
	recorder := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if recorder.Code != http.StatusOK {
		t.Fatalf("%d: %s", recorder.Code, recorder.Body)
	}
	return recorder.Body.String()
}

func TestTheCyclesOfKueueArePublishedByResult(t *testing.T) {
	folder := t.TempDir()
	token, authorities := filepath.Join(folder, "token"), filepath.Join(folder, "ca.crt")
	kueue := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, kueuePage)
	}))
	defer kueue.Close()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: kueue.Certificate().Raw})
	for file, text := range map[string][]byte{token: []byte("secret\n"), authorities: certificate} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page := published(t, shadow.KueueEndpoint{URL: kueue.URL, TokenFile: token, CA: authorities})
	for _, want := range []string{
		`espalier_shadow_kueue_seconds_bucket{result="success",le="0.25"} 4`,
		`espalier_shadow_kueue_seconds_bucket{result="success",le="0.5"} 8`,
		`espalier_shadow_kueue_seconds_sum{result="success"} 4.125`,
		`espalier_shadow_kueue_seconds_count{result="success"} 9`,
		`espalier_shadow_kueue_seconds_count{result="inadmissible"} 2`,
		`espalier_shadow_kueue_failures_total 0`,
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("%q is missing in\n%s", want, page)
		}
	}
	for name, endpoint := range map[string]shadow.KueueEndpoint{
		"no token":           {URL: kueue.URL, CA: authorities},
		"no such file":       {URL: kueue.URL, CA: authorities, TokenFile: "/nowhere/token"},
		"unknown authority":  {URL: kueue.URL, TokenFile: token},
		"nobody listens":     {URL: "http://127.0.0.1:1/metrics"},
		"an address of none": {URL: "http://[::1"},
	} {
		if page := published(t, endpoint); !strings.Contains(page, "espalier_shadow_kueue_failures_total 1\n") || strings.Contains(page, "kueue_seconds") {
			t.Errorf("%s: %s", name, page)
		}
	}
	if _, err := shadow.NewKueueMetrics(shadow.KueueEndpoint{CA: token}, nil); err == nil || !strings.Contains(err.Error(), "has no certificate") {
		t.Errorf("%v", err)
	}
}

func TestAPageWithoutKueuesCyclesIsAFailure(t *testing.T) {
	for name, text := range map[string]string{
		"another page":      "# TYPE up gauge\nup 1\n",
		"no metrics":        "<html>",
		"not a histogram":   "# TYPE kueue_admission_attempt_duration_seconds gauge\nkueue_admission_attempt_duration_seconds 1\n",
		"cut in the middle": kueuePage[:200] + "{",
	} {
		kueue := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }))
		if page := published(t, shadow.KueueEndpoint{URL: kueue.URL}); !strings.Contains(page, "espalier_shadow_kueue_failures_total 1\n") {
			t.Errorf("%s: %s", name, page)
		}
		kueue.Close()
	}
}
