// Package config reads what espalier-bridge is to do: a file, and flags that win over it.
package config

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Config is what the bridge is to do.
type Config struct {
	// Server is the address of the server: unix:/path/to/socket or HOST:PORT.
	Server string `json:"server"`
	// TLS is how a server at HOST:PORT is reached that has a certificate; empty: in plain text.
	TLS TLS `json:"tls,omitempty"`
	// State is the name of the server's state to keep; empty: the one without a name.
	State string `json:"state,omitempty"`
	// Kubeconfig is a file; empty: that of the pod's service account, else $KUBECONFIG or ~/.kube/config.
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// Listen is the address of health, metrics and reports; empty: none.
	Listen string `json:"listen,omitempty"`
	// DryRun keeps the bridge from writing to the API server; what it would write is logged.
	DryRun bool `json:"dryRun,omitempty"`
	// Debug logs more.
	Debug bool `json:"debug,omitempty"`

	LeaderElection LeaderElection `json:"leaderElection,omitempty"`
	Mirror         Mirror         `json:"mirror,omitempty"`
	Explain        Explain        `json:"explain,omitempty"`
	Shadow         Shadow         `json:"shadow,omitempty"`
	Gate           Gate           `json:"gate,omitempty"`
	Topology       *Topology      `json:"topology,omitempty"`
}

// TLS names PEM files, as --tls-... of the commands do.
type TLS struct {
	CA         string `json:"ca,omitempty"`
	Cert       string `json:"cert,omitempty"`
	Key        string `json:"key,omitempty"`
	ServerName string `json:"serverName,omitempty"`
}

// LeaderElection lets one of several replicas act.
type LeaderElection struct {
	Enabled   bool   `json:"enabled,omitempty"`
	Namespace string `json:"namespace,omitempty"` // empty: that of the pod
	Name      string `json:"name,omitempty"`
}

// Mirror says how the server's state is kept.
type Mirror struct {
	BatchWindow   metav1.Duration `json:"batchWindow,omitempty"`
	CheckInterval metav1.Duration `json:"checkInterval,omitempty"`
	// KueueConfigurationFile holds Kueue's Configuration, or the ConfigMap that does.
	KueueConfigurationFile string `json:"kueueConfigurationFile,omitempty"`
}

// Explain says how waiting workloads are explained.
type Explain struct {
	Enabled  bool            `json:"enabled,omitempty"`
	Interval metav1.Duration `json:"interval,omitempty"`
	// EventsPerMinute bounds the Events that are written.
	EventsPerMinute int `json:"eventsPerMinute,omitempty"`
}

// Shadow says how Kueue's decisions are compared.
type Shadow struct {
	Enabled bool `json:"enabled,omitempty"`
	// Log is a file to which differences are appended; empty: none.
	Log          string       `json:"log,omitempty"`
	KueueMetrics KueueMetrics `json:"kueueMetrics,omitempty"`
}

// KueueMetrics says where Kueue's metrics are read.
type KueueMetrics struct {
	// URL of the page; empty: they are not read.
	URL string `json:"url,omitempty"`
	// TokenFile holds a bearer token; empty: none is sent.
	TokenFile string `json:"tokenFile,omitempty"`
	// CA is a PEM file; empty: the authorities of the system.
	CA string `json:"ca,omitempty"`
}

// Gate says how gated pods are placed.
type Gate struct {
	Enabled  bool            `json:"enabled,omitempty"`
	Interval metav1.Duration `json:"interval,omitempty"`
}

// Topology describes the nodes of a cluster without Kueue.
type Topology struct {
	// Levels are keys of labels, coarsest first; the last is kubernetes.io/hostname.
	Levels []string `json:"levels"`
	// NodeLabels are those of the nodes to place on; empty: all nodes.
	NodeLabels map[string]string `json:"nodeLabels,omitempty"`
}

// Default returns the configuration before file and flags.
func Default() Config {
	return Config{
		Server:         "unix:/run/espalier/espalier.sock",
		Listen:         ":9465",
		LeaderElection: LeaderElection{Name: "espalier-bridge"},
		Mirror: Mirror{
			BatchWindow:   metav1.Duration{Duration: 100 * time.Millisecond},
			CheckInterval: metav1.Duration{Duration: 10 * time.Second},
		},
		Explain: Explain{Interval: metav1.Duration{Duration: 30 * time.Second}, EventsPerMinute: 60},
		Gate:    Gate{Interval: metav1.Duration{Duration: 10 * time.Second}},
	}
}

// ErrVersion says that the version was asked for, and nothing else is to be done.
var ErrVersion = errors.New("the version was asked for")

// Read returns the configuration of a command line. Errors: flag.ErrHelp where help was asked for
// and printed; ErrVersion; what is wrong, naming file, flag or field.
func Read(arguments []string) (Config, error) {
	c := Default()
	flags := flag.NewFlagSet("espalier-bridge", flag.ContinueOnError)
	file := flags.String("config", "", "`FILE` with the configuration, as YAML (docs/bridge.md); flags win over it")
	modes := flags.String("modes", "mirror", "what to do, as `LIST` of mirror, explain, shadow, gate; mirror is always on")
	flags.StringVar(&c.Server, "server", c.Server, "`ADDRESS` of the server: unix:/path/to/socket or HOST:PORT")
	flags.StringVar(&c.TLS.CA, "tls-ca", c.TLS.CA, "PEM `FILE` with the authorities of the server's certificate; empty: plain text")
	flags.StringVar(&c.TLS.Cert, "tls-cert", c.TLS.Cert, "PEM `FILE` with the certificate to show to the server")
	flags.StringVar(&c.TLS.Key, "tls-key", c.TLS.Key, "PEM `FILE` with its key")
	flags.StringVar(&c.TLS.ServerName, "tls-server-name", c.TLS.ServerName, "`NAME` that the server's certificate has; empty: the host of --server")
	flags.StringVar(&c.State, "state", c.State, "`NAME` of the server's state to keep; empty: the one without a name")
	flags.StringVar(&c.Kubeconfig, "kubeconfig", c.Kubeconfig, "`FILE` of the cluster; empty: the pod's service account, else $KUBECONFIG or ~/.kube/config")
	flags.StringVar(&c.Listen, "listen", c.Listen, "`ADDRESS` of health, metrics and reports; empty: none")
	flags.BoolVar(&c.DryRun, "dry-run", c.DryRun, "write nothing to the API server; log what would be written")
	flags.BoolVar(&c.Debug, "debug", c.Debug, "log more")
	flags.StringVar(&c.Shadow.Log, "shadow-log", c.Shadow.Log, "`FILE` to which shadow appends differences, for espalier audit; empty: none")
	flags.StringVar(&c.Shadow.KueueMetrics.URL, "kueue-metrics", c.Shadow.KueueMetrics.URL, "`URL` of Kueue's metrics, for shadow to publish how long its cycles take; empty: none")
	flags.BoolVar(&c.LeaderElection.Enabled, "leader-elect", c.LeaderElection.Enabled, "let one of several replicas act, by a Lease; always on with gate")
	flags.StringVar(&c.LeaderElection.Namespace, "leader-elect-namespace", c.LeaderElection.Namespace, "`NAMESPACE` of the Lease; empty: that of the pod")
	version := flags.Bool("version", false, "print version and commit")
	if err := flags.Parse(arguments); err != nil {
		return Config{}, err
	}
	if *version {
		return Config{}, ErrVersion
	}
	if flags.NArg() > 0 {
		return Config{}, fmt.Errorf("argument %q: want flags only", flags.Arg(0))
	}
	if *file != "" {
		text, err := os.ReadFile(*file)
		if err != nil {
			return Config{}, fmt.Errorf("--config: %w", err)
		}
		if err := yaml.UnmarshalStrict(text, &c); err != nil {
			return Config{}, fmt.Errorf("--config: %s: %w", *file, err)
		}
		// Once more, as the file came over them.
		if err := flags.Parse(arguments); err != nil {
			return Config{}, err
		}
	}
	named := false
	flags.Visit(func(f *flag.Flag) { named = named || f.Name == "modes" })
	if named {
		if err := c.setModes(*modes); err != nil {
			return Config{}, err
		}
	}
	if c.Gate.Enabled && !c.DryRun {
		c.LeaderElection.Enabled = true
	}
	return c, c.check()
}

func (c *Config) setModes(list string) error {
	c.Explain.Enabled, c.Shadow.Enabled, c.Gate.Enabled = false, false, false
	for mode := range strings.SplitSeq(list, ",") {
		switch mode {
		case "mirror":
		case "explain":
			c.Explain.Enabled = true
		case "shadow":
			c.Shadow.Enabled = true
		case "gate":
			c.Gate.Enabled = true
		default:
			return fmt.Errorf("--modes: %q: want mirror, explain, shadow or gate", mode)
		}
	}
	return nil
}

// check returns everything that is wrong, a line each.
func (c *Config) check() error {
	var wrong []error
	is := func(bad bool, format string, values ...any) {
		if bad {
			wrong = append(wrong, fmt.Errorf(format, values...))
		}
	}
	is(c.Server == "", "server: is empty; want unix:/path/to/socket or HOST:PORT")
	is(c.TLS.CA == "" && c.TLS != (TLS{}), "tls.ca: is empty; want the authorities of the server's certificate")
	is((c.TLS.Cert == "") != (c.TLS.Key == ""), "tls: has one of cert and key; want both or neither")
	for name, duration := range map[string]metav1.Duration{
		"mirror.batchWindow": c.Mirror.BatchWindow, "mirror.checkInterval": c.Mirror.CheckInterval,
		"explain.interval": c.Explain.Interval, "gate.interval": c.Gate.Interval,
	} {
		is(duration.Duration <= 0, "%s: is %v; want a time above 0, such as 10s", name, duration.Duration)
	}
	is(c.Explain.EventsPerMinute < 1, "explain.eventsPerMinute: is %d; want 1 or more", c.Explain.EventsPerMinute)
	is(c.Shadow.Log != "" && !c.Shadow.Enabled, "shadow.log: is %q, and shadow is off; want it among the modes", c.Shadow.Log)
	if kueue := c.Shadow.KueueMetrics; kueue != (KueueMetrics{}) {
		is(!c.Shadow.Enabled, "shadow.kueueMetrics: is set, and shadow is off; want it among the modes")
		at, err := url.Parse(kueue.URL)
		is(err != nil || at.Host == "" || (at.Scheme != "http" && at.Scheme != "https"),
			"shadow.kueueMetrics.url: is %q; want http://HOST:PORT/metrics, or https", kueue.URL)
	}
	is(c.LeaderElection.Name == "", "leaderElection.name: is empty; want the name of a Lease")
	if c.Topology != nil {
		levels := c.Topology.Levels
		is(len(levels) == 0 || len(levels) > 16, "topology.levels: has %d entries; want 1 to 16", len(levels))
		for i, level := range levels {
			is(level == "", "topology.levels[%d]: is empty; want the key of a label", i)
			is(slices.Index(levels, level) < i, "topology.levels[%d]: %q is there already; want each once", i, level)
		}
		is(len(levels) > 0 && levels[len(levels)-1] != corev1.LabelHostname,
			"topology.levels: the last is not %s; want it there", corev1.LabelHostname)
	}
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(wrong...)
}
