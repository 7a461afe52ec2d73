package explain_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	testclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kueuefake "sigs.k8s.io/kueue/client-go/clientset/versioned/fake"
	"sigs.k8s.io/kueue/client-go/informers/externalversions"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge/events"
	"espalier.dev/espalier/internal/bridge/explain"
	"espalier.dev/espalier/internal/servertest"
)

var quiet = slog.New(slog.DiscardHandler)

var clock = testclock.NewFakeClock(time.Unix(1, 0))

// start returns an explainer of Kueue's objects, whose informers have listed them.
func start(t *testing.T, asker explain.Asker, client *fake.Clientset, objects ...runtime.Object) *explain.Explainer {
	t.Helper()
	factory := externalversions.NewSharedInformerFactory(kueuefake.NewSimpleClientset(objects...), 0)
	e := explain.New(asker, factory, events.New(client, 6000, false, quiet), clock, quiet)
	factory.Start(t.Context().Done())
	for kind, synced := range factory.WaitForCacheSync(t.Context().Done()) {
		if !synced {
			t.Fatalf("%v: not listed", kind)
		}
	}
	return e
}

func eventsOf(t *testing.T, client *fake.Clientset, namespace, name string) []corev1.Event {
	t.Helper()
	list, err := client.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var of []corev1.Event
	for _, event := range list.Items {
		if event.InvolvedObject.Name == name {
			of = append(of, event)
		}
	}
	return of
}

func TestWaitingWorkloadsOfARealClusterAreExplained(t *testing.T) {
	server := servertest.Start(t)
	client, err := espalier.Dial(server.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	mirror, err := espalier.NewMirror(client, espalier.Informers{}, espalier.MirrorOptions{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = mirror.Run(t.Context()) }()
	dumps := filepath.Join(servertest.Repository(t), "tests", "data", "dumps")
	var ofKueue []runtime.Object
	waiting := 0
	for _, object := range servertest.Objects(t, filepath.Join(dumps, "before.json.gz"), filepath.Join(dumps, "extra.json")) {
		switch o := object.(type) {
		case *kueue.ClusterQueue, *kueue.LocalQueue:
		case *kueue.Workload:
			mirror.Set(o)
			if explain.Waits(o) {
				waiting++
			}
		default:
			mirror.Set(o)
		}
		if o, is := object.(runtime.Object); is && strings.HasPrefix(o.GetObjectKind().GroupVersionKind().Group, "kueue") {
			ofKueue = append(ofKueue, o)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := mirror.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	kubernetes := fake.NewClientset()
	e := start(t, client, kubernetes, ofKueue...)
	for range 2 { // the second round says nothing new
		if err := e.Round(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(e.Reports()); got != waiting || waiting < 60 {
		t.Errorf("%d reports of %d waiting workloads", got, waiting)
	}
	for _, c := range []struct {
		namespace, name string
		verdict         espalier.Verdict
		kind, says      string
	}{
		{"team-vision", "job-diffusion-04-fa10c", espalier.Never, corev1.EventTypeWarning, "never: the nodes could not hold it"},
		{"team-nlp", "job-moe-01-1c846", espalier.Fits, corev1.EventTypeNormal, "it waits for quota"},
	} {
		report, waits := e.Report(types.NamespacedName{Namespace: c.namespace, Name: c.name})
		if !waits || report.Verdict != c.verdict || !strings.Contains(report.Message, c.says) {
			t.Errorf("%s: %+v", c.name, report)
		}
		of := eventsOf(t, kubernetes, c.namespace, c.name)
		if len(of) != 1 {
			t.Fatalf("%s: %d events, want 1", c.name, len(of))
		}
		if of[0].Type != c.kind || of[0].Reason != "Topology"+string(c.verdict) || !strings.Contains(of[0].Message, c.says) {
			t.Errorf("%s: %+v", c.name, of[0])
		}
	}
}

// answers gives each flavor a verdict.
type answers map[string]espalier.Explanation

func (a answers) Explain(_ context.Context, _ espalier.PlaceOptions, gangs ...espalier.Gang) ([]espalier.Explanation, error) {
	var all []espalier.Explanation
	for _, gang := range gangs {
		all = append(all, a[gang.PodSets[0].Flavor])
	}
	return all, nil
}

func workload(name string, change func(*kueue.Workload)) *kueue.Workload {
	w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID(name)}}
	w.Spec.QueueName = "main"
	w.Spec.PodSets = []kueue.PodSet{{Name: "main", Count: 2, TopologyRequest: &kueue.PodSetTopologyRequest{Required: ptr.To("rack")}}}
	if change != nil {
		change(w)
	}
	return w
}

func queues() []runtime.Object {
	flavor := func(name string, topology *kueue.TopologyReference) *kueue.ResourceFlavor {
		f := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: name}}
		f.Spec.TopologyName = topology
		return f
	}
	topology := ptr.To(kueue.TopologyReference("default"))
	queue := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	queue.Spec.ResourceGroups = []kueue.ResourceGroup{{Flavors: []kueue.FlavorQuotas{{Name: "new"}, {Name: "plain"}, {Name: "old"}}}}
	local := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main"}}
	local.Spec.ClusterQueue = "all"
	return []runtime.Object{
		flavor("new", topology), flavor("old", topology), flavor("plain", nil),
		&kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, queue, local,
	}
}

func TestReportsAreAboutTheFlavorThatTellsMost(t *testing.T) {
	asker := answers{"new": {Verdict: espalier.Never}, "old": {Verdict: espalier.NotNow, Changes: []string{"at most 1 pods"}}}
	client := fake.NewClientset()
	e := start(t, asker, client, append(queues(),
		workload("waits", nil),
		workload("plain", func(w *kueue.Workload) { w.Spec.PodSets[0].TopologyRequest = nil }),
		workload("lost", func(w *kueue.Workload) { w.Spec.QueueName = "nowhere" }),
		workload("stopped", func(w *kueue.Workload) { w.Spec.Active = ptr.To(false) }),
		workload("runs", func(w *kueue.Workload) {
			w.Status.Conditions = []metav1.Condition{{Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionTrue}}
		}),
	)...)
	if err := e.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		verdict espalier.Verdict
		says    string
	}{
		"waits": {espalier.NotNow, "(flavor old). It would fit with any of: at most 1 pods"},
		"plain": {"", "nothing of it needs a topology"},
		"lost":  {"", `there is no LocalQueue "nowhere" in namespace team`},
	} {
		report, waits := e.Report(types.NamespacedName{Namespace: "team", Name: name})
		if !waits || report.Verdict != want.verdict || !strings.Contains(report.Message, want.says) {
			t.Errorf("%s: %+v, want %+v", name, report, want)
		}
		if got := len(eventsOf(t, client, "team", name)); got != 1 {
			t.Errorf("%s: %d events", name, got)
		}
	}
	for _, name := range []string{"stopped", "runs"} {
		if report, waits := e.Report(types.NamespacedName{Namespace: "team", Name: name}); waits {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

func TestOfManyThatWaitAllAreExplainedInTurn(t *testing.T) {
	const many = 600
	objects := queues()
	for i := range many {
		objects = append(objects, workload(fmt.Sprintf("w%03d", i), nil))
	}
	asker := &counting{answers: answers{"new": {Verdict: espalier.Never}, "old": {Verdict: espalier.Never}}}
	e := start(t, asker, fake.NewClientset(), objects...)
	for round, want := range []int{256, 512, many, many} {
		if err := e.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		clock.Step(time.Minute)
		if got := len(e.Reports()); got != want {
			t.Errorf("round %d: %d reports, want %d", round+1, got, want)
		}
	}
	for name, asked := range asker.asked {
		if asked < 1 || asked > 2 {
			t.Errorf("%s was asked about %d times in 4 rounds", name, asked)
		}
	}
}

// counting counts how often workloads are asked about.
type counting struct {
	answers
	asked map[string]int
}

func (c *counting) Explain(ctx context.Context, options espalier.PlaceOptions, gangs ...espalier.Gang) ([]espalier.Explanation, error) {
	if c.asked == nil {
		c.asked = map[string]int{}
	}
	for _, gang := range gangs {
		if gang.PodSets[0].Flavor == "old" {
			c.asked[gang.Name]++
		}
	}
	return c.answers.Explain(ctx, options, gangs...)
}

func TestAnotherVerdictIsAnotherEvent(t *testing.T) {
	asker := answers{"new": {Verdict: espalier.Never}, "old": {Verdict: espalier.Never}}
	client := fake.NewClientset()
	e := start(t, asker, client, append(queues(), workload("waits", nil))...)
	for _, verdict := range []espalier.Verdict{espalier.Never, espalier.Never, espalier.NotNow, espalier.Fits} {
		asker["old"] = espalier.Explanation{Verdict: verdict}
		if err := e.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var reasons []string
	for _, event := range eventsOf(t, client, "team", "waits") {
		reasons = append(reasons, event.Reason)
	}
	if len(reasons) != 3 {
		t.Errorf("%v, want one each of never, not now and fits", reasons)
	}
}
