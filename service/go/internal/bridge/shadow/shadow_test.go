package shadow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kueuefake "sigs.k8s.io/kueue/client-go/clientset/versioned/fake"
	"sigs.k8s.io/kueue/client-go/informers/externalversions"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge/shadow"
	"espalier.dev/espalier/internal/servertest"
)

// results returns how many decisions had each result.
func results(t *testing.T, s *shadow.Shadow) map[string]int {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(s.Collectors()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, family := range families {
		if family.GetName() != "espalier_shadow_decisions_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			counts[metric.GetLabel()[0].GetValue()] = int(metric.GetCounter().GetValue())
		}
	}
	return counts
}

// world is a mirror of a real cluster before Kueue decided, with a shadow of it.
type world struct {
	t      *testing.T
	ctx    context.Context
	mirror *espalier.Mirror
	shadow *shadow.Shadow
	log    *bytes.Buffer
	clock  *testclock.FakePassiveClock
	file   string            // of differences
	after  []*kueue.Workload // as Kueue decided
}

func newWorld(t *testing.T) *world {
	t.Helper()
	client, err := espalier.Dial(servertest.Start(t).Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	w := &world{t: t, log: &bytes.Buffer{}, clock: testclock.NewFakePassiveClock(time.Unix(0, 0))}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	w.ctx = ctx
	quiet := slog.New(slog.DiscardHandler)
	w.mirror, err = espalier.NewMirror(client, espalier.Informers{}, espalier.MirrorOptions{
		Logger: quiet, Notify: func(object any, deleted bool) { w.shadow.Notify(object, deleted) },
	})
	if err != nil {
		t.Fatal(err)
	}
	dumps := filepath.Join(servertest.Repository(t), "tests", "data", "dumps")
	before := servertest.Objects(t, filepath.Join(dumps, "before.json.gz"), filepath.Join(dumps, "extra.json"))
	var flavors []runtime.Object
	for _, object := range before {
		switch o := object.(type) {
		case *kueue.ResourceFlavor:
			flavors = append(flavors, o)
		case *kueue.Topology:
			flavors = append(flavors, o)
		}
	}
	w.file = filepath.Join(t.TempDir(), "differences.jsonl")
	differences, err := shadow.OpenLog(w.file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = differences.Close() })
	factory := externalversions.NewSharedInformerFactory(kueuefake.NewSimpleClientset(flavors...), 0)
	w.shadow = shadow.New(client, w.mirror, factory, shadow.Options{
		Clock: w.clock, Logger: slog.New(slog.NewTextHandler(w.log, nil)), Log: differences,
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for _, object := range before {
		switch object.(type) {
		case *kueue.ClusterQueue, *kueue.LocalQueue:
		default:
			w.mirror.Set(object)
		}
	}
	go func() { _ = w.mirror.Run(ctx) }()
	if _, err := w.mirror.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	for _, object := range servertest.Objects(t, filepath.Join(dumps, "after.json.gz")) {
		if workload, is := object.(*kueue.Workload); is {
			if _, decided := espalier.DecisionOf(workload, func(string) bool { return true }); decided {
				w.after = append(w.after, workload)
			}
		}
	}
	if len(w.after) < 40 {
		t.Fatalf("only %d workloads were decided", len(w.after))
	}
	w.shadow.Begin()
	return w
}

// decide lets Kueue's decisions become known and compares them.
func (w *world) decide(workloads ...*kueue.Workload) map[string]int {
	for _, workload := range workloads {
		w.mirror.Set(workload)
	}
	w.shadow.Round(w.ctx)
	return results(w.t, w.shadow)
}

// difference is a line of the log, as its readers know it.
type difference struct {
	Time, ReservedAt  time.Time
	Workload, Verdict string
	Generation        uint64
	Chosen, Here      struct {
		Fits    bool
		PodSets []struct {
			Name, Flavor, Reason string
			TopologyAssignment   kueue.TopologyAssignment
		}
	}
}

// logged returns the lines of the log of differences.
func (w *world) logged() []difference {
	w.t.Helper()
	text, err := os.ReadFile(w.file)
	if err != nil {
		w.t.Fatal(err)
	}
	var lines []difference
	for line := range strings.Lines(string(text)) {
		var one difference
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&one); err != nil || !strings.HasSuffix(line, "\n") {
			w.t.Fatalf("%s: %v", line, err)
		}
		lines = append(lines, one)
	}
	return lines
}

// The decisions of a real Kueue, of which `espalier audit` says that all are as here.
func TestTheDecisionsOfARealKueueAreEqual(t *testing.T) {
	w := newWorld(t)
	got := w.decide(w.after...)
	if got["equal"] != len(w.after) || len(got) != 1 {
		t.Errorf("%v, want %d equal; %s", got, len(w.after), w.log)
	}
	if got := w.decide(w.after...); got["equal"] != len(w.after) {
		t.Errorf("%v after the same was told again", got)
	}
	if lines := w.logged(); len(lines) != 0 {
		t.Errorf("%+v: nothing differs", lines)
	}
}

func TestAnotherDecisionIsDifferentAndLogged(t *testing.T) {
	w := newWorld(t)
	moved := w.after[0].DeepCopy()
	assignment := moved.Status.Admission.PodSetAssignments[0].TopologyAssignment
	domains := espalier.Domains(assignment)
	used := map[string]bool{}
	for _, other := range w.after {
		for _, given := range other.Status.Admission.PodSetAssignments {
			if given.TopologyAssignment != nil {
				for _, domain := range espalier.Domains(given.TopologyAssignment) {
					used[domain.Values[0]] = true
				}
			}
		}
	}
	// The pods of its first host go to a host that Kueue used for another workload.
	for host := range used {
		if !strings.HasPrefix(host, domains[0].Values[0]) {
			domains[0].Values = []string{host}
			break
		}
	}
	moved.Status.Admission.PodSetAssignments[0].TopologyAssignment = espalier.NewTopologyAssignment(assignment.Levels, domains)
	for i, c := range moved.Status.Conditions {
		if c.Type == kueue.WorkloadQuotaReserved {
			moved.Status.Conditions[i].LastTransitionTime = metav1.NewTime(w.clock.Now())
		}
	}
	if got := w.decide(moved); got["different"] != 1 {
		t.Errorf("%v, want one different", got)
	}
	if said := w.log.String(); !strings.Contains(said, "decided otherwise than Kueue") || !strings.Contains(said, moved.Name) || !strings.Contains(said, "here=") {
		t.Errorf("%s", said)
	}
	// Decided anew, and told long after.
	w.mirror.Delete(moved)
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	if got := w.decide(moved); got["late"] != 1 || got["different"] != 1 {
		t.Errorf("%v, want one late", got)
	}
	lines := w.logged()
	if len(lines) != 2 || lines[0].Verdict != "different" || lines[1].Verdict != "late" {
		t.Fatalf("%+v, want one that is different and one that is late", lines)
	}
	for _, line := range lines {
		if line.Workload != moved.Namespace+"/"+moved.Name || line.Generation == 0 || line.Time.Before(line.ReservedAt) ||
			!line.Chosen.Fits || !line.Here.Fits || len(line.Chosen.PodSets) != 1 || len(line.Here.PodSets) != 1 {
			t.Fatalf("%+v", line)
		}
		chosen, here := line.Chosen.PodSets[0], line.Here.PodSets[0]
		if chosen.Flavor == "" || chosen.Flavor != here.Flavor || !reflect.DeepEqual(espalier.Domains(&chosen.TopologyAssignment), domains) ||
			len(espalier.Domains(&here.TopologyAssignment)) == 0 || reflect.DeepEqual(chosen.TopologyAssignment, here.TopologyAssignment) {
			t.Errorf("chosen %+v, here %+v, want %v and another one", chosen, here, domains)
		}
	}
	// As espalier audit reads it.
	audit := exec.Command(servertest.Binary(t), "audit", "--shadow-log", w.file)
	output, err := audit.Output()
	if audit.ProcessState == nil || audit.ProcessState.ExitCode() != 1 || !strings.HasSuffix(string(output), "\n2 differences: 1 different, 1 late\n") {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestWhatWasDecidedBeforeItLookedIsNotCompared(t *testing.T) {
	w := newWorld(t)
	known := w.after[0]
	fresh := w.after[1]
	notBegun := shadow.New(nil, nil, externalversions.NewSharedInformerFactory(kueuefake.NewSimpleClientset(), 0), shadow.Options{Clock: w.clock, Logger: slog.New(slog.DiscardHandler)})
	notBegun.Notify(known, false)
	notBegun.Begin()
	notBegun.Notify(known.DeepCopy(), false) // as any change of it
	if got := results(t, notBegun); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := w.decide(fresh); got["equal"]+got["late"]+got["different"] != 1 {
		t.Errorf("%v, want one decision", got)
	}
}
