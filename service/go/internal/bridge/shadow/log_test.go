package shadow

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kueuefake "sigs.k8s.io/kueue/client-go/clientset/versioned/fake"
	"sigs.k8s.io/kueue/client-go/informers/externalversions"

	"espalier.dev/espalier"
)

func appendTo(t *testing.T, l *Log, workload string) {
	t.Helper()
	if err := l.write(&entry{Workload: workload, Verdict: "different"}); err != nil {
		t.Fatal(err)
	}
}

// workloads returns those that a file names, by line; "?" where a line is none of the log.
func workloads(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		_, after, found := strings.Cut(line, `"workload":"`)
		name, _, _ := strings.Cut(after, `"`)
		if !found || !strings.HasSuffix(line, "}\n") {
			name = "?"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestALogGoesOnAfterARestartAndWhereItWasCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for _, name := range []string{"a", "b"} {
		l, err := OpenLog(path)
		if err != nil {
			t.Fatal(err)
		}
		appendTo(t, l, name)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-7); err != nil { // as where the disk was full
		t.Fatal(err)
	}
	l, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	appendTo(t, l, "c")
	if got := workloads(t, path); got != "a ? c" {
		t.Errorf("%q, want a and c whole", got)
	}
}

func TestALogThatWasMovedAwayIsMadeAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	appendTo(t, l, "a")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	appendTo(t, l, "b")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	appendTo(t, l, "c")
	if old, now := workloads(t, path+".1"), workloads(t, path); old != "a" || now != "c" {
		t.Errorf("%q was moved away and %q is there, want a and c", old, now)
	}
}

func TestWhatCannotBeLoggedIsCountedAndLaterLinesAreWritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	if _, err := OpenLog(filepath.Join(folder, "log")); err == nil || !strings.Contains(err.Error(), folder) {
		t.Fatalf("%v, want an error that names the file", err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := OpenLog(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := New(nil, nil, externalversions.NewSharedInformerFactory(kueuefake.NewSimpleClientset(), 0), Options{
		Clock: testclock.NewFakePassiveClock(time.Unix(0, 0)), Logger: slog.New(slog.DiscardHandler), Log: l,
	})
	differ := func(name string) {
		w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
		s.compare(w, espalier.Position{}, &espalier.Decision{Assignments: []*kueue.TopologyAssignment{{}}},
			&espalier.Answer{PodSets: []espalier.PodSetAnswer{{Name: "main"}}})
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	differ("lost")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	differ("kept")
	registry := prometheus.NewRegistry()
	registry.MustRegister(s.logFailed)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if failed := families[0].GetMetric()[0].GetCounter().GetValue(); failed != 1 {
		t.Errorf("%v lines count as lost, want 1", failed)
	}
	if got := workloads(t, l.path); got != "team/kept" {
		t.Errorf("%q", got)
	}
}
