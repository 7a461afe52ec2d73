// Package web answers over HTTP what espalier-bridge knows: as JSON, or as a page for people.
package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge/explain"
	"espalier.dev/espalier/internal/reportpage"
	"espalier.dev/espalier/internal/resources"
)

// callTimeout bounds what one request asks the server.
const callTimeout = 30 * time.Second

// Reports tells why workloads wait.
type Reports interface {
	Report(types.NamespacedName) (explain.Report, bool)
	Reports() []explain.Report
}

// Server is the part of a client that is used.
type Server interface {
	Summary(context.Context) (*espalier.Summary, error)
	CountGangs(context.Context, espalier.Position, ...espalier.Gang) ([]espalier.Room, error)
	Leaves(context.Context, string) ([]string, [][]string, error)
}

// Report is the report page's data, which has no '<', with the gang that is shown first and a remark.
type Report interface {
	Document(ctx context.Context, about, remark string) ([]byte, error)
}

// Links returns the texts and addresses that the report page shows. The empty address is its own.
func Links(explained bool) [][2]string {
	links := [][2]string{{"Reload", ""}}
	if explained {
		links = append(links, [2]string{"Waiting workloads", "/workloads"})
	}
	return append(links, [2]string{"Topology", "/topology"}, [2]string{"Capacity", "/capacity"})
}

// Options are what the pages are about.
type Options struct {
	Server  Server
	Reports Reports // nil: workloads are not explained
	Report  Report
	// Ready returns why the bridge does not do its work, or nil.
	Ready   func() error
	Metrics *prometheus.Registry
}

// fault is an error with its HTTP status.
type fault struct {
	status int
	text   string
}

func (f fault) Error() string { return f.text }

// New returns the handler of all paths.
func New(o Options) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := o.Ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ok")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(o.Metrics, promhttp.HandlerOpts{}))
	page := func(pattern, name string, answer func(*http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), callTimeout)
			defer cancel()
			value, err := answer(r.WithContext(ctx))
			write(w, r, name, value, err)
		})
	}
	mux.HandleFunc("GET /{$}", o.report)
	mux.HandleFunc("GET /report", o.report)
	page("GET /workloads", "workloads", o.workloads)
	page("GET /workloads/{namespace}/{name}", "workload", o.workload)
	page("GET /topology", "topology", o.topology)
	page("GET /capacity", "capacity", o.capacity)
	return mux
}

// wantsPage returns whether a browser asks.
func wantsPage(r *http.Request) bool {
	return r.URL.Query().Get("output") != "json" && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// report writes the report page, or its data.
func (o *Options) report(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), callTimeout)
	defer cancel()
	remark := ""
	if err := o.Ready(); err != nil {
		remark = "The state is not that of the cluster at the moment: " + err.Error()
	}
	document, err := o.Report.Document(ctx, r.URL.Query().Get("about"), remark)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	parts := []string{string(document)}
	if wantsPage(r) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", reportpage.ContentSecurityPolicy)
		parts = []string{reportpage.Before, parts[0], reportpage.Behind}
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	for _, part := range parts {
		if _, err := io.WriteString(w, part); err != nil { // the client has left
			return
		}
	}
}

func refuse(w http.ResponseWriter, err error) {
	code := http.StatusBadGateway // the server did not answer
	var known fault
	switch {
	case errors.As(err, &known):
		code = known.status
	case status.Code(err) == codes.InvalidArgument:
		code = http.StatusBadRequest
	case status.Code(err) == codes.NotFound:
		code = http.StatusNotFound
	}
	http.Error(w, err.Error(), code)
}

func write(w http.ResponseWriter, r *http.Request, name string, value any, err error) {
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if wantsPage(r) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		err = pages.ExecuteTemplate(w, name, value)
	} else {
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(value)
	}
	if err != nil { // the client has left
		return
	}
}

var errNotExplained = fault{http.StatusNotFound, "workloads are not explained: the bridge runs without mode explain, or its cluster without Kueue"}

func (o *Options) workloads(*http.Request) (any, error) {
	if o.Reports == nil {
		return nil, errNotExplained
	}
	return o.Reports.Reports(), nil
}

func (o *Options) workload(r *http.Request) (any, error) {
	if o.Reports == nil {
		return nil, errNotExplained
	}
	key := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	report, waits := o.Reports.Report(key)
	if !waits {
		return nil, fault{http.StatusNotFound, fmt.Sprintf("no Workload %s waits: there is none of that name, or it has its quota or has ended", key)}
	}
	return report, nil
}

// Topology outlines the flavors of the state, with the leaves of one where it is asked for.
type Topology struct {
	State   string            `json:"state"`
	Nodes   int64             `json:"nodes"`
	Flavors []espalier.Flavor `json:"flavors"`
	Flavor  string            `json:"flavor,omitempty"`
	Levels  []string          `json:"levels,omitempty"`
	Leaves  [][]string        `json:"leaves,omitempty"`
}

func (o *Options) topology(r *http.Request) (any, error) {
	summary, err := o.Server.Summary(r.Context())
	if err != nil {
		return nil, err
	}
	t := Topology{State: summary.Position.String(), Nodes: summary.Nodes, Flavors: summary.Flavors}
	if t.Flavor = r.URL.Query().Get("flavor"); t.Flavor != "" {
		if t.Levels, t.Leaves, err = o.Server.Leaves(r.Context(), t.Flavor); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Capacity says how many more gangs of one shape fit on each flavor.
type Capacity struct {
	Pods     int32             `json:"pods"`
	Requests map[string]string `json:"requests"`
	Flavors  []CapacityOf      `json:"flavors"`
}

// CapacityOf is the room on one flavor.
type CapacityOf struct {
	Flavor string        `json:"flavor"`
	Room   espalier.Room `json:"room"`
}

// capacity reads the shape from the query: pods=8&cpu=16&nvidia.com/gpu=8, and flavor=NAME.
func (o *Options) capacity(r *http.Request) (any, error) {
	c := Capacity{Pods: 1, Requests: map[string]string{}}
	requests, only := map[string]int64{}, ""
	for name, values := range r.URL.Query() {
		value := values[len(values)-1]
		switch name {
		case "output":
		case "flavor":
			only = value
		case "pods":
			pods, err := strconv.ParseInt(value, 10, 32)
			if err != nil || pods < 1 {
				return nil, fault{http.StatusBadRequest, fmt.Sprintf("pods: %q: want a number of 1 or more", value)}
			}
			c.Pods = int32(pods)
		default:
			quantity, err := resource.ParseQuantity(value)
			if err != nil || quantity.Sign() < 0 {
				return nil, fault{http.StatusBadRequest, fmt.Sprintf("%s: %q: want a quantity of 0 or more, such as 16 or 64Gi", name, value)}
			}
			requests[name] = resources.Amount(name, quantity)
			c.Requests[name] = value
		}
	}
	summary, err := o.Server.Summary(r.Context())
	if err != nil {
		return nil, err
	}
	var shapes []espalier.Gang
	for _, flavor := range summary.Flavors {
		if only != "" && flavor.Name != only {
			continue
		}
		c.Flavors = append(c.Flavors, CapacityOf{Flavor: flavor.Name})
		shapes = append(shapes, espalier.Gang{PodSets: []espalier.PodSet{{
			PodSet: kueue.PodSet{Name: "main", Count: c.Pods}, Flavor: flavor.Name, Requests: requests,
		}}})
	}
	if only != "" && len(shapes) == 0 {
		return nil, fault{http.StatusNotFound, fmt.Sprintf("flavor: %q: the state has no flavor of that name with a topology", only)}
	}
	rooms, err := o.Server.CountGangs(r.Context(), espalier.Position{}, shapes...)
	if err != nil {
		return nil, err
	}
	for i := range rooms {
		c.Flavors[i].Room = rooms[i]
	}
	return c, nil
}

var pages = template.Must(template.New("").Funcs(template.FuncMap{"join": strings.Join}).Parse(`
{{define "head"}}<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Espalier</title>
<style>body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#1b1f24;background:#fff}
table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.25em 1em .25em 0;border-bottom:1px solid #d0d7de}
td.n,th.n{text-align:right}nav a{margin-right:1em}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}a{color:#79b8ff}td,th{border-color:#30363d}}</style></head>
<body><nav><a href="/">Espalier</a><a href="/workloads">Workloads</a><a href="/topology">Topology</a><a href="/capacity">Capacity</a></nav>{{end}}
{{define "workloads"}}{{template "head"}}<h1>{{len .}} waiting workloads</h1>
<table><tr><th>Workload</th><th>Queue</th><th>Verdict</th><th>Why</th></tr>
{{range .}}<tr><td><a href="/workloads/{{.Namespace}}/{{.Name}}">{{.Namespace}}/{{.Name}}</a></td><td>{{.ClusterQueue}}</td><td>{{.Verdict}}</td><td>{{.Message}}</td></tr>
{{end}}</table>{{end}}
{{define "workload"}}{{template "head"}}<h1>{{.Namespace}}/{{.Name}}</h1>
<p>{{.Sentence}}</p><p><a href="/?about={{.Namespace}}/{{.Name}}">Where that is in the cluster</a></p><p>Queue {{.Queue}}, ClusterQueue {{.ClusterQueue}}; asked {{.At.Format "2006-01-02 15:04:05 MST"}}</p>
{{range .Flavors}}<h2>Flavor {{.Flavor}}: {{.Verdict}}</h2><p>{{.Reason}}</p>
{{with .Nearest}}<p>Nearest: {{if .Level}}{{.Level}} {{join .Values "/"}}{{else}}the whole flavor{{end}} holds {{.Fit}} of {{.Pods}} pods{{if .Binding}}; short: {{join .Binding ", "}}{{end}}</p>
{{if .RuledOut}}<ul>{{range .RuledOut}}<li>{{.}}</li>{{end}}</ul>{{end}}{{end}}
{{if .Changes}}<p>It would fit with any of:</p><ul>{{range .Changes}}<li>{{.}}</li>{{end}}</ul>{{end}}{{end}}{{end}}
{{define "topology"}}{{template "head"}}<h1>{{.Nodes}} nodes</h1><p>State {{.State}}</p>
<table><tr><th>Flavor</th><th>Levels</th><th class="n">Domains</th><th class="n">Nodes in service</th></tr>
{{range .Flavors}}<tr><td><a href="/topology?flavor={{.Name}}">{{.Name}}</a></td><td>{{range .Levels}}{{.}}<br>{{end}}</td><td class="n">{{range .Domains}}{{.}}<br>{{end}}</td><td class="n">{{.Nodes}}</td></tr>
{{end}}</table>
{{if .Flavor}}<h2>Leaves of {{.Flavor}}</h2><table><tr>{{range .Levels}}<th>{{.}}</th>{{end}}</tr>
{{range .Leaves}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</table>{{end}}{{end}}
{{define "capacity"}}{{template "head"}}<h1>Room for gangs of {{.Pods}} pods</h1>
<p>Each pod requests {{range $name, $amount := .Requests}}{{$name}}={{$amount}} {{else}}nothing but its slot: say what, as in <code>?pods=8&amp;cpu=16&amp;nvidia.com/gpu=8</code>{{end}}</p>
{{range .Flavors}}<h2>Flavor {{.Flavor}}</h2>{{with .Room.Failure}}<p>{{.}}</p>{{end}}
{{if .Room.Levels}}<table><tr><th>No gang leaves its</th><th class="n">Gangs</th></tr>
{{range .Room.Levels}}<tr><td>{{if .Level}}{{.Level}}{{else}}flavor{{end}}</td><td class="n">{{.Gangs}}</td></tr>
{{end}}</table>{{end}}{{end}}{{end}}
`))
