package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	listers "sigs.k8s.io/kueue/client-go/listers/kueue/v1beta2"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge/explain"
	"espalier.dev/espalier/internal/bridge/gate"
	"espalier.dev/espalier/internal/bridge/report"
	"espalier.dev/espalier/internal/reportpage"
	"espalier.dev/espalier/internal/resources"
	"espalier.dev/espalier/internal/servertest"
)

// fixture is a report of a real server's state, which holds objects.
type fixture struct {
	*report.Live
	t         *testing.T
	client    *espalier.Client
	mirror    *espalier.Mirror
	workloads cache.Indexer
	reports   reports
	gate      pods
}

type pods []gate.Gang

func (p *pods) Gangs() []gate.Gang { return *p }
func (p *pods) Rounds() uint64     { return uint64(len(*p)) }

type reports struct {
	of     map[types.NamespacedName]explain.Report
	rounds uint64
}

func (r *reports) Report(key types.NamespacedName) (explain.Report, bool) {
	report, told := r.of[key]
	return report, told
}
func (r *reports) Rounds() uint64 { return r.rounds }

func show(t *testing.T, objects ...any) *fixture {
	t.Helper()
	client, err := espalier.Dial(servertest.Start(t).Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	f := &fixture{t: t, client: client, workloads: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		reports: reports{of: map[types.NamespacedName]explain.Report{}}}
	f.mirror, err = espalier.NewMirror(client, espalier.Informers{}, espalier.MirrorOptions{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = f.mirror.Run(t.Context()) }()
	f.Live = report.New(report.Options{
		Client: client, Workloads: listers.NewWorkloadLister(f.workloads), Reports: &f.reports, Gate: &f.gate,
		Links: [][2]string{{"Waiting", "/workloads"}},
		Clock: clocktesting.NewFakePassiveClock(time.Date(2026, 11, 27, 20, 41, 4, 0, time.UTC)),
	})
	f.set(objects...)
	return f
}

func (f *fixture) set(objects ...any) {
	f.t.Helper()
	for _, object := range objects {
		switch o := object.(type) {
		case *kueue.ClusterQueue, *kueue.LocalQueue:
			continue
		case *kueue.Workload:
			if err := f.workloads.Update(o); err != nil {
				f.t.Fatal(err)
			}
		}
		f.mirror.Set(object)
		f.Notify(object)
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := f.mirror.Flush(ctx); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) document(about, remark string) report.Document {
	f.t.Helper()
	text, err := f.Document(f.t.Context(), about, remark)
	if err != nil {
		f.t.Fatal(err)
	}
	return parse(f.t, text)
}

func parse(t *testing.T, text []byte) report.Document {
	t.Helper()
	d := report.Document{}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatalf("%v: %.500s", err, text)
	}
	return d
}

const gpu = "example.com/gpu"

func topology() []any {
	return []any{
		&kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: kueue.TopologySpec{
			Levels: []kueue.TopologyLevel{{NodeLabel: "rack"}, {NodeLabel: corev1.LabelHostname}}}},
		&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "tas"}, Spec: kueue.ResourceFlavorSpec{
			TopologyName: ptr.To(kueue.TopologyReference("default"))}},
	}
}

func host(name, rack string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, "rack": rack}}}
	n.Status.Allocatable = corev1.ResourceList{gpu: resource.MustParse("8"), "cpu": resource.MustParse("16"), "pods": resource.MustParse("110")}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return n
}

func pod(name, node, gpus string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{NodeName: node, Containers: containers(gpus)}}
}

func containers(gpus string) []corev1.Container {
	return []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{gpu: resource.MustParse(gpus)}}}}
}

// gang returns a waiting workload of pods of 4 devices.
func gang(name string, pods int32) *kueue.Workload {
	w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
	w.Spec.Priority = ptr.To(int32(7))
	w.Spec.PodSets = []kueue.PodSet{{
		Name: "main", Count: pods, TopologyRequest: &kueue.PodSetTopologyRequest{Required: ptr.To("rack")},
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: containers("4")}},
	}}
	return w
}

// running returns a workload that runs on hosts, a pod on each.
func running(name string, hosts ...string) *kueue.Workload {
	w := gang(name, int32(len(hosts)))
	var domains []espalier.Domain
	for _, host := range hosts {
		domains = append(domains, espalier.Domain{Values: []string{host}, Count: 1})
	}
	w.Status.Admission = &kueue.Admission{ClusterQueue: "queue", PodSetAssignments: []kueue.PodSetAssignment{{
		Name: "main", Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{gpu: "tas"}, Count: ptr.To(int32(len(hosts))),
		TopologyAssignment: espalier.NewTopologyAssignment([]string{corev1.LabelHostname}, domains),
	}}}
	for _, kind := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted} {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue})
	}
	return w
}

func TestTheTopologyAndItsGangsAreInTheDocument(t *testing.T) {
	f := show(t, append(topology(), host("a", "r1"), host("b", "r2"), host("c", "r2"), pod("lone", "b", "3"),
		running("train", "c", "gone"), gang("big", 5))...)
	f.reports.of[types.NamespacedName{Namespace: "team", Name: "big"}] = explain.Report{
		Namespace: "team", Name: "big", ClusterQueue: "queue", Verdict: espalier.Never, At: time.Date(2026, 11, 27, 20, 40, 0, 0, time.UTC),
		Flavors: []explain.OfFlavor{{Flavor: "tas", Verdict: espalier.Never, Reason: "only 4 of 5", Changes: []string{"at most 4 pods"},
			Nearest: &espalier.NearMiss{Flavor: "tas", Level: "rack", Values: []string{"r2"}, Fit: 4, Pods: 5, Binding: []string{gpu}}}},
	}
	got := f.document("team/big", "a remark")
	position, err := f.mirror.Position()
	if err != nil {
		t.Fatal(err)
	}
	if want := "State " + position.String() + ", current at 2026-11-27 20:41:04 UTC\n3 of 3 nodes take part\na remark"; got.Facts != want {
		t.Errorf("facts: %s, want %s", got.Facts, want)
	}
	got.Facts = ""
	at := "when asked at 20:40:00"
	want := report.Document{
		Head: report.Head{Command: "espalier-bridge", About: "team/big", Links: [][2]string{{"Waiting", "/workloads"}}},
		Body: report.Body{
			Flavors: []report.Flavor{{
				Name: "tas", Resource: gpu, Accelerator: true, Levels: []string{"rack", "host"},
				Names: [][]string{{"r1", "r2"}, {"a", "b", "c"}}, Children: [][]int{{0, 1, 3}},
				Capacity: []int64{8, 8, 8}, Others: []int64{1, 3},
			}},
			Gangs: []report.Gang{
				{
					Name: "team/big", State: "waiting", Status: "never fits", Queue: "queue", Priority: "7",
					PodSets: []report.PodSet{{Name: "main", Requested: "required rack", Pods: 5, Each: 4, Leaves: []int64{}}},
					Reasons: []string{"never: the nodes could not hold it, were they all empty (flavor tas); " + at, "only 4 of 5"},
					Changes: []string{"at most 4 pods"},
					Nearest: &report.Nearest{When: at, Text: "rack r2: 4 of 5 pods fit", Binding: []string{"short of " + gpu}, Index: 1},
				},
				{
					Name: "team/train", State: "running", Status: "running", Queue: "queue", Priority: "7",
					PodSets: []report.PodSet{{Name: "main", Requested: "required rack", Pods: 2, Each: 4, Lines: []string{"r2/c: 1 host x 1"}, Leaves: []int64{2, 1}, Lost: 1}},
				},
			},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestTheStateIsRightWhereAWorkloadSaysSomethingElse(t *testing.T) {
	f := show(t, append(topology(), host("a", "r1"), host("b", "r1"), running("train", "a"))...)
	for what, object := range map[string]*kueue.Workload{"moved": running("train", "b"), "ended": gang("train", 1)} {
		if err := f.workloads.Update(object); err != nil {
			t.Fatal(err)
		}
		f.Notify(object)
		got := f.document("", "").Gangs
		if len(got) != 1 || got[0].State != "running" || !reflect.DeepEqual(got[0].PodSets[0].Leaves, []int64{0, 1}) || got[0].PodSets[0].Each != 4 {
			t.Errorf("%s: %+v", what, got)
		}
	}
	// The other way round it is told of, and has no room that is not its own.
	other := running("other", "b")
	if err := f.workloads.Update(other); err != nil {
		t.Fatal(err)
	}
	f.Notify(other)
	if got := f.document("", "").Gangs; len(got) != 2 || len(got[0].PodSets[0].Leaves) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestItIsMadeAnewOnlyWhereSomethingChanged(t *testing.T) {
	f := show(t, append(topology(), host("a", "r1"))...)
	if got := f.document("", ""); len(got.Gangs) != 0 || len(got.Flavors[0].Names[1]) != 1 {
		t.Fatalf("%+v", got)
	}
	if err := f.workloads.Add(gang("unheard", 1)); err != nil { // without Notify
		t.Fatal(err)
	}
	if got := f.document("", ""); len(got.Gangs) != 0 {
		t.Errorf("it is made anew each time: %+v", got)
	}
	f.reports.rounds++
	if got := f.document("", ""); len(got.Gangs) != 1 {
		t.Errorf("not made anew after a round of explanations: %+v", got)
	}
	f.set(host("b", "r1"))
	if got := f.document("", ""); len(got.Flavors[0].Names[1]) != 2 {
		t.Errorf("not made anew with the state: %+v", got)
	}
	f.set(gang("later", 1))
	if got := f.document("", ""); len(got.Gangs) != 2 {
		t.Errorf("not made anew with a Workload: %+v", got)
	}
}

func TestGangsOfPodsAreWhereTheStateHasThem(t *testing.T) {
	f := show(t, append(topology(), host("a", "r1"), host("b", "r2"), pod("p0", "a", "3"), pod("p1", "a", "3"))...)
	of := func(nodes ...string) (pods []gate.Pod) {
		for _, node := range nodes {
			pods = append(pods, gate.Pod{Node: node, Requests: resources.Amounts{gpu: 3}, Topology: &kueue.PodSetTopologyRequest{Preferred: ptr.To("rack")}})
		}
		return pods
	}
	f.gate = pods{
		{Key: types.NamespacedName{Namespace: "team", Name: "placed"}, Priority: 5, Pods: of("a", "a")},
		{Key: types.NamespacedName{Namespace: "team", Name: "early"}, Pods: of("b")}, // the state does not have it yet
		{Key: types.NamespacedName{Namespace: "team", Name: "late"}, Pods: of("", ""), Reason: "2 of 3 pods are there"},
	}
	got := f.document("", "")
	set := report.PodSet{Name: "pods", Requested: "preferred rack", Pods: 2, Each: 3, Leaves: []int64{}}
	placed, early := set, set
	placed.Lines, placed.Leaves, early.Pods = []string{"r1/a: 1 host x 2"}, []int64{0, 2}, 1
	want := []report.Gang{
		{Name: "team/placed", State: "running", Status: "has its nodes", Priority: "5", PodSets: []report.PodSet{placed}},
		{Name: "team/early", State: "running", Status: "has its nodes", Priority: "0", PodSets: []report.PodSet{early}},
		{Name: "team/late", State: "waiting", Status: "waits", Priority: "0", PodSets: []report.PodSet{set}, Reasons: []string{"2 of 3 pods are there"}},
	}
	if !reflect.DeepEqual(got.Gangs, want) || len(got.Flavors[0].Others) != 0 {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestNoNameEndsTheElement(t *testing.T) {
	evil := "</script><script>alert(1)</script><!--\u2028\"\\"
	f := show(t, append(topology(), host("a", "r1"), gang("evil", 1))...)
	f.reports.of[types.NamespacedName{Namespace: "team", Name: "evil"}] = explain.Report{Message: evil, ClusterQueue: evil}
	text, err := f.Document(t.Context(), evil, evil)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsAny(text, "<\u2028") {
		t.Errorf("%s", text)
	}
	if got := parse(t, text); got.About != evil || got.Gangs[0].Queue != evil {
		t.Errorf("%+v", got)
	}
}

func TestHoldsAreInUseByOthers(t *testing.T) {
	f := show(t, append(topology(), host("a", "r1"))...)
	err := f.mirror.Change(t.Context(), func(ctx context.Context, _ *espalier.Summary) (espalier.Position, error) {
		placed, err := f.client.Place(ctx, espalier.PlaceOptions{Sequential: true, Hold: time.Minute}, espalier.GangOf(gang("held", 1), "tas"))
		if err != nil {
			return espalier.Position{}, err
		}
		return placed.Committed, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.document("", "").Flavors[0].Others; !reflect.DeepEqual(got, []int64{0, 4}) {
		t.Errorf("%v", got)
	}
}

func TestWhatNobodySeesIsShown(t *testing.T) {
	f := show(t, append(topology(), host("a", "r1"))...)
	f.gate = pods{{Key: types.NamespacedName{Namespace: "team", Name: "Z\u00fcrich-\u202egnorw"}}}
	got := f.document("\u202e", "")
	if got.Gangs[0].Name != "team/Z\u00fcrich-\\xe2\\x80\\xaegnorw" || got.About != "\\xe2\\x80\\xae" {
		t.Errorf("%+v", got)
	}
}

func TestTheFlavorsOfOneHostSeeEachOther(t *testing.T) {
	other := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	other.Spec.TopologyName = ptr.To(kueue.TopologyReference("default"))
	f := show(t, append(topology(), other, host("a", "r1"), running("train", "a"))...)
	flavors := f.document("", "").Flavors
	if len(flavors) != 2 || !reflect.DeepEqual(flavors[0].Others, []int64{0, 4}) || len(flavors[1].Others) != 0 {
		t.Errorf("%+v", flavors)
	}
}

// written returns the page that the real binary writes of a file, and its data.
func written(t *testing.T, args ...string) (page string, of report.Document) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	command := exec.Command(servertest.Binary(t), append(args, "--report", file)...)
	if output, err := command.CombinedOutput(); err != nil && command.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %s", err, output)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = `<script type="application/json" id="data">` + "\n", "</script>"
	_, rest, _ := strings.Cut(string(text), begin)
	data, _, _ := strings.Cut(rest, end)
	return string(text), parse(t, []byte(data))
}

func TestItIsWhatTheCommandWritesOfTheSameCluster(t *testing.T) {
	dump := filepath.Join(servertest.Repository(t), "tests", "data", "dumps", "after.json.gz")
	page, want := written(t, "place", dump)
	f := show(t, servertest.Objects(t, dump)...)
	got := f.document("", "")
	if !reflect.DeepEqual(got.Flavors, want.Flavors) {
		t.Errorf("flavors %.3000s\nwant %.3000s", fmt.Sprintf("%+v", got.Flavors), fmt.Sprintf("%+v", want.Flavors))
	}
	gangs := map[string]report.Gang{}
	for _, g := range got.Gangs {
		gangs[g.Name] = g
	}
	ran := 0
	for _, w := range want.Gangs {
		if w.State != "running" { // by the command: placed or not
			continue
		}
		ran++
		g, there := gangs[w.Name]
		if !there || len(g.PodSets) != len(w.PodSets) {
			t.Errorf("%+v\nwant %+v", g, w)
			continue
		}
		for i := range w.PodSets { // texts, of which the command's have more in one line
			w.PodSets[i].Lines, g.PodSets[i].Lines = nil, nil
		}
		if !reflect.DeepEqual(g, w) {
			t.Errorf("%+v\nwant %+v", g, w)
		}
	}
	if ran < 10 {
		t.Errorf("only %d gangs run", ran)
	}
	if !strings.HasPrefix(page, reportpage.Before) || !strings.HasSuffix(page, reportpage.Behind) {
		t.Error("the page is another one than that of the command; was it built since the page was changed?")
	}
	if !strings.Contains(page, reportpage.ContentSecurityPolicy) {
		t.Error("the header says something else than the page")
	}
}
