package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge/explain"
	"espalier.dev/espalier/internal/bridge/report"
	"espalier.dev/espalier/internal/bridge/web"
	"espalier.dev/espalier/internal/reportpage"
	"espalier.dev/espalier/internal/servertest"
)

type reports []explain.Report

func (r reports) Reports() []explain.Report { return r }
func (r reports) Report(key types.NamespacedName) (explain.Report, bool) {
	for _, report := range r {
		if report.Namespace == key.Namespace && report.Name == key.Name {
			return report, true
		}
	}
	return explain.Report{}, false
}

// handler answers about the state of a real cluster.
func handler(t *testing.T, of web.Reports, ready error) http.Handler {
	t.Helper()
	client, err := espalier.Dial(servertest.Start(t).Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	mirror, err := espalier.NewMirror(client, espalier.Informers{}, espalier.MirrorOptions{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = mirror.Run(t.Context()) }()
	for _, object := range servertest.Objects(t, filepath.Join(servertest.Repository(t), "tests", "data", "dumps", "before.json.gz")) {
		switch object.(type) {
		case *kueue.ClusterQueue, *kueue.LocalQueue:
		default:
			mirror.Set(object)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := mirror.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "some_figure"}))
	live := report.New(report.Options{Client: client, Links: web.Links(of != nil), Clock: clock.RealClock{}})
	return web.New(web.Options{Server: client, Reports: of, Report: live, Ready: func() error { return ready }, Metrics: registry})
}

func get(h http.Handler, path string, accept string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, path, nil)
	request.Header.Set("Accept", accept)
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	return recorder
}

func TestPathsAnswerJSONAndPages(t *testing.T) {
	h := handler(t, reports{{
		Namespace: "team", Name: "train", Verdict: espalier.Never, Message: "<b>never</b>",
		Flavors: []explain.OfFlavor{{Flavor: "gpu", Verdict: espalier.Never, Changes: []string{"at most 3 pods"}, Nearest: &espalier.NearMiss{Level: "rack", Values: []string{"z", "r1"}, Fit: 3, Pods: 4}}},
	}}, nil)
	for _, c := range []struct {
		path   string
		status int
		says   []string
	}{
		{"/healthz", 200, []string{"ok"}},
		{"/readyz", 200, []string{"ok"}},
		{"/metrics", 200, []string{"some_figure 0"}},
		{"/", 200, []string{`"command":"espalier-bridge"`, "gpu-h100", "gpu-use1a-b01-r01-n03"}},
		{"/report?about=team/train", 200, []string{`"about":"team/train"`, `["Waiting workloads","/workloads"]`}},
		{"/workloads", 200, []string{"train", "never"}},
		{"/workloads/team/train", 200, []string{"train", "at most 3 pods", "r1"}},
		{"/workloads/team/other", 404, []string{"no Workload team/other waits"}},
		{"/topology", 200, []string{"gpu-h100", "cloud.provider.com/topology-rack"}},
		{"/topology?flavor=gpu-h100", 200, []string{"gpu-use1a-b01-r01-n03"}},
		{"/topology?flavor=none", 404, []string{"none"}},
		{"/capacity?pods=2&cpu=16&nvidia.com/gpu=8", 200, []string{"gpu-h100", "cloud.provider.com/topology-rack"}},
		{"/capacity?pods=0", 400, []string{`pods: "0": want a number of 1 or more`}},
		{"/capacity?cpu=much", 400, []string{`cpu: "much": want a quantity`}},
		{"/capacity?flavor=none", 404, []string{`flavor: "none"`}},
		{"/nowhere", 404, nil},
	} {
		for _, accept := range []string{"*/*", "text/html,*/*"} {
			got := get(h, c.path, accept)
			if got.Code != c.status {
				t.Errorf("%s (%s): %d %s", c.path, accept, got.Code, got.Body)
			}
			for _, text := range c.says {
				if !strings.Contains(got.Body.String(), text) {
					t.Errorf("%s (%s): does not say %q: %.500s", c.path, accept, text, got.Body)
				}
			}
		}
	}
	if page := get(h, "/workloads", "text/html").Body.String(); strings.Contains(page, "<b>never") {
		t.Error("texts of objects are not escaped")
	}
	if page := get(h, "/workloads/team/train", "text/html").Body.String(); strings.Count(strings.ToLower(page), "never") != 2 || !strings.Contains(page, `href="/?about=team`) {
		t.Errorf("want the verdict of all and that of a flavor, and the place in the report: %s", page)
	}
	capacity := web.Capacity{}
	body := get(h, "/capacity?pods=2&cpu=16&nvidia.com/gpu=8&flavor=gpu-h100", "").Body.Bytes()
	if err := json.Unmarshal(body, &capacity); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	levels := capacity.Flavors[0].Room.Levels
	if len(levels) < 3 || levels[0].Gangs < 10 || levels[0].Gangs < levels[len(levels)-1].Gangs || len(levels[1].Domains) != 2 {
		t.Errorf("%+v", levels)
	}
}

func TestTheReportIsOnePageWithNothingFromElsewhere(t *testing.T) {
	h := handler(t, nil, errors.New("</script>the server is away"))
	reply := get(h, "/?about=%3C/script%3E", "text/html")
	page := reply.Body.String()
	if got := reply.Header().Get("Content-Security-Policy"); got != reportpage.ContentSecurityPolicy {
		t.Errorf("policy %q", got)
	}
	if !strings.HasPrefix(page, reportpage.Before) || !strings.HasSuffix(page, reportpage.Behind) {
		t.Fatalf("%.500s", page)
	}
	data := page[len(reportpage.Before) : len(page)-len(reportpage.Behind)]
	if strings.Contains(data, "<") || !strings.Contains(data, "The state is not that of the cluster at the moment: ") {
		t.Errorf("%.500s", data)
	}
	if strings.Contains(data, "/workloads") {
		t.Error("it links to what is not there")
	}
	for _, text := range []string{"<!-- ", "src=", "<link", "@import", "url("} {
		if strings.Contains(reportpage.Before+reportpage.Behind, text) {
			t.Errorf("the page has %q", text)
		}
	}
	away, err := espalier.Dial("unix:/nowhere/s")
	if err != nil {
		t.Fatal(err)
	}
	defer away.Close()
	h = web.New(web.Options{Report: report.New(report.Options{Client: away, Clock: clock.RealClock{}}), Ready: func() error { return nil }, Metrics: prometheus.NewRegistry()})
	if got := get(h, "/", "text/html"); got.Code != http.StatusBadGateway {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

func TestWhoDoesNotExplainOrIsNotReadySaysSo(t *testing.T) {
	h := handler(t, nil, errors.New("the server is away"))
	for path, want := range map[string]int{"/readyz": 503, "/healthz": 200, "/workloads": 404, "/workloads/a/b": 404} {
		if got := get(h, path, ""); got.Code != want {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
}
