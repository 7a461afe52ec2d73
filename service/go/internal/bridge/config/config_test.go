package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bridge.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFlagsWinOverTheFileAndTheFileOverDefaults(t *testing.T) {
	file := write(t, `
server: file:1
state: of-file
explain: {enabled: true, interval: 5s}
topology: {levels: [rack, kubernetes.io/hostname]}
`)
	c, err := Read([]string{"--config", file, "--state", "of-flag"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Server != "file:1" || c.State != "of-flag" || !c.Explain.Enabled || c.Gate.Enabled ||
		c.Explain.Interval.Duration != 5*time.Second || c.Explain.EventsPerMinute != 60 ||
		len(c.Topology.Levels) != 2 || c.LeaderElection.Enabled {
		t.Errorf("%+v", c)
	}
	c, err = Read([]string{"--config", file, "--modes", "mirror,gate"})
	if err != nil || c.Explain.Enabled || !c.Gate.Enabled || !c.LeaderElection.Enabled {
		t.Errorf("%+v, %v: want gate alone, with a leader", c, err)
	}
	file = write(t, "tls: {ca: ca.crt, cert: a, key: b}")
	c, err = Read([]string{"--config", file, "--tls-key", "other", "--tls-server-name", "s"})
	if want := (TLS{CA: "ca.crt", Cert: "a", Key: "other", ServerName: "s"}); err != nil || c.TLS != want {
		t.Errorf("%+v, %v: want %+v", c.TLS, err, want)
	}
	c, err = Read([]string{"--config", write(t, "shadow: {enabled: true, log: of-file}"), "--shadow-log", "of-flag", "--kueue-metrics", "http://kueue/metrics"})
	if err != nil || c.Shadow.Log != "of-flag" || c.Shadow.KueueMetrics.URL != "http://kueue/metrics" {
		t.Errorf("%+v, %v: want log and URL of the flags", c.Shadow, err)
	}
	c, err = Read([]string{"--modes", "gate", "--dry-run"})
	if err != nil || c.LeaderElection.Enabled {
		t.Errorf("%+v, %v: who writes nothing needs no lease", c, err)
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	for _, c := range []struct {
		arguments []string
		file      string
		want      []string
	}{
		{[]string{"--modes", "mirror,shade"}, "", []string{`--modes: "shade": want mirror`}},
		{[]string{"--config", "/nowhere/x"}, "", []string{"--config: open /nowhere/x"}},
		{[]string{"now"}, "", []string{`argument "now"`}},
		{nil, "serve: x", []string{"bridge.yaml", `unknown field "serve"`}},
		{nil, "server: ''\nexplain: {interval: -1s, eventsPerMinute: 0}", []string{
			"server: is empty", "explain.interval: is -1s", "explain.eventsPerMinute: is 0",
		}},
		{[]string{"--tls-cert", "c", "--tls-server-name", "s"}, "", []string{"tls.ca: is empty", "tls: has one of cert and key"}},
		{[]string{"--shadow-log", "d.jsonl"}, "", []string{`shadow.log: is "d.jsonl", and shadow is off`}},
		{[]string{"--kueue-metrics", "kueue:8443"}, "", []string{"shadow.kueueMetrics: is set, and shadow is off", `shadow.kueueMetrics.url: is "kueue:8443"; want http`}},
		{[]string{"--modes", "shadow"}, "shadow: {kueueMetrics: {tokenFile: t}}", []string{`shadow.kueueMetrics.url: is ""`}},
		{nil, "topology: {levels: [a, a]}", []string{`topology.levels[1]: "a" is there already`, "the last is not kubernetes.io/hostname"}},
		{nil, "topology: {levels: []}", []string{"topology.levels: has 0 entries; want 1 to 16"}},
	} {
		arguments := c.arguments
		if c.file != "" {
			arguments = append(arguments, "--config", write(t, c.file))
		}
		_, err := Read(arguments)
		if err == nil {
			t.Errorf("%v %q: no error", c.arguments, c.file)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v %q: %q, want %q", c.arguments, c.file, err, want)
			}
		}
	}
}

func TestTheVersionIsAskedForWhateverElseIsWrong(t *testing.T) {
	if _, err := Read([]string{"--version", "--modes", "shade"}); !errors.Is(err, ErrVersion) {
		t.Errorf("%v, want %v", err, ErrVersion)
	}
}
