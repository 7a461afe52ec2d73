package gate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier/internal/bridge/cluster"
	"espalier.dev/espalier/internal/bridge/config"
	"espalier.dev/espalier/internal/bridge/gate"
)

func TestGangsArePlacedWholeInTheirDomainByRankAndTheRestIsTold(t *testing.T) {
	w := newWorld(t, 2, 4, gate.Options{})
	for _, gang := range []string{"a", "b", "c"} {
		w.createGang(gang, 4)
	}
	w.round()
	if a, want := w.nodesOf("a"), []string{"r0-h0", "r0-h1", "r0-h2", "r0-h3"}; !slices.Equal(a, want) {
		t.Errorf("a is on %v, want %v by rank", a, want)
	}
	if b := w.nodesOf("b"); len(b) != 4 {
		t.Errorf("b is on %v", b)
	}
	if c := w.nodesOf("c"); len(c) != 0 {
		t.Errorf("c is on %v, where there is no room", c)
	}
	told := w.events("TopologyNotPlaced")
	if len(told) != 1 || told[0].InvolvedObject.Name != "c-0" || !strings.Contains(told[0].Message, `topology "default" doesn't allow to fit any of 4 pod(s)`) {
		t.Errorf("%+v", told)
	}
	// Neither before nor after they are bound is their room given away.
	w.round()
	w.bind()
	w.round()
	if c := w.nodesOf("c"); len(c) != 0 {
		t.Errorf("c is on %v, where there is no room", c)
	}
	w.delete("b-0", "b-1", "b-2", "b-3")
	w.round()
	if c := w.nodesOf("c"); len(c) != 4 {
		t.Errorf("c is on %v after b is gone", c)
	}
}

func TestIncompleteGangsWait(t *testing.T) {
	w := newWorld(t, 1, 4, gate.Options{})
	w.create(pod("a", 0, 3, nil), pod("a", 2, 3, nil))
	w.round()
	if a := w.nodesOf("a"); len(a) != 0 {
		t.Errorf("a is on %v although a pod is missing", a)
	}
	w.create(pod("a", 1, 3, nil))
	w.round()
	if a := w.nodesOf("a"); len(a) != 3 {
		t.Errorf("a is on %v", a)
	}
}

func TestABridgeThatStartsAnewGoesOnFromThePods(t *testing.T) {
	const pods = 4
	for failFrom := range 2 * pods {
		t.Run(fmt.Sprint("stopped after write ", failFrom), func(t *testing.T) {
			w := newWorld(t, 2, 4, gate.Options{})
			w.failFrom = failFrom
			w.createGang("a", pods)
			w.round()
			before := w.nodesOf("a")
			if want := max(0, failFrom-pods); len(before) != want {
				t.Fatalf("%v are open after %d writes, want %d", before, failFrom, want)
			}
			// Another gang comes first while the bridge is away.
			w.create(pod("urgent", 0, 4, urgent), pod("urgent", 1, 4, urgent), pod("urgent", 2, 4, urgent), pod("urgent", 3, 4, urgent))
			w.failFrom = -1
			w.restart(gate.Options{})
			w.round()
			w.bind()
			w.round()
			after := w.nodesOf("a")
			if len(after) != pods || !slices.Equal(after[:len(before)], before) {
				t.Errorf("a is on %v, before on %v", after, before)
			}
			if got := w.nodesOf("urgent"); len(got) != 4 {
				t.Errorf("the other gang is on %v", got)
			}
		})
	}
}

func TestAPodThatGoesBeforeTheFirstGateIsOpenedKeepsAllClosed(t *testing.T) {
	w := newWorld(t, 2, 4, gate.Options{})
	w.failFrom = 3 // all of them have a node, and none is open
	w.createGang("a", 3)
	w.round()
	w.failFrom = -1
	w.delete("a-1")
	w.restart(gate.Options{})
	w.round()
	if got := w.nodesOf("a"); len(got) != 0 {
		t.Errorf("%v are open although a pod is missing", got)
	}
	w.create(pod("a", 1, 3, nil))
	w.round()
	if got := w.nodesOf("a"); len(got) != 3 {
		t.Errorf("a is on %v", got)
	}
}

func TestRoomOfAPodIsKeptUntilTheMirrorHearsThatItIsBound(t *testing.T) {
	bound, hear := make(chan struct{}), make(chan struct{})
	w := newWorld(t, 1, 1, gate.Options{})
	w.stop()
	w.beforePod = func(p *corev1.Pod) {
		if p.Name == "a-0" && p.Spec.NodeName != "" {
			close(bound)
			<-hear
			w.beforePod = nil
		}
	}
	w.start(gate.Options{})
	w.createGang("a", 1)
	w.createGang("b", 1)
	w.round()
	if got := w.nodesOf("a"); len(got) != 1 {
		t.Fatalf("a is on %v; want one node", got)
	}
	w.bind()
	<-bound // the gate sees it, and the mirror does not
	if err := w.gate.Round(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.check()
	close(hear)
	w.round()
	if got := w.nodesOf("b"); len(got) != 0 {
		t.Errorf("b is on %v beside a; want it to wait", got)
	}
}

func TestFlavorsOfTheSameNodesDoNotGiveRoomTwice(t *testing.T) {
	w := newWorld(t, 1, 4, gate.Options{})
	_, spare := cluster.WithoutKueue(&config.Topology{})
	spare.Name = "spare"
	w.mirror.Set(spare)
	delete(w.view.known, "*v1beta2.ResourceFlavor spare") // shows counts one flavor
	w.createGang("a", 3)
	w.createGang("b", 3)
	w.round()
	if a, b := w.nodesOf("a"), w.nodesOf("b"); len(a) != 3 || len(b) != 0 {
		t.Errorf("a is on %v and b on %v, want a alone", a, b)
	}
}

func TestAPodOfALostNodeIsReplacedInTheDomainOfTheOthers(t *testing.T) {
	w := newWorld(t, 2, 4, gate.Options{})
	w.createGang("a", 3)
	w.round()
	w.bind()
	w.round()
	lost := w.nodesOf("a")[1]
	if err := w.client.CoreV1().Nodes().Delete(w.ctx, lost, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.delete("a-1")
	w.create(pod("a", 1, 3, nil))
	w.round()
	after := w.nodesOf("a")
	if len(after) != 3 || slices.Contains(after, lost) {
		t.Fatalf("a is on %v after %s was lost", after, lost)
	}
	// Its rack has no host left: it waits, although the other rack is empty.
	w.bind()
	if err := w.client.CoreV1().Nodes().Delete(w.ctx, after[0], metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.delete("a-0")
	w.create(pod("a", 0, 3, nil))
	w.round()
	if got := w.nodesOf("a"); len(got) != 2 || len(w.events("TopologyNotPlaced")) != 1 {
		t.Errorf("a is on %v; events %v", got, w.events("TopologyNotPlaced"))
	}
}

func TestAGangIsRepairedOnceAllPodsOfALostNodeAreGone(t *testing.T) {
	oneHost := func(p *corev1.Pod) {
		p.Annotations[kueue.PodSetRequiredTopologyAnnotation] = corev1.LabelHostname
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("3")}
	}
	w := newWorld(t, 1, 4, gate.Options{})
	w.create(pod("a", 0, 2, oneHost), pod("a", 1, 2, oneHost))
	w.round()
	w.bind()
	w.seen()
	if err := w.client.CoreV1().Nodes().Delete(w.ctx, w.nodesOf("a")[0], metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.delete("a-0")
	w.create(pod("a", 0, 2, oneHost))
	w.round()
	if a := w.nodesOf("a"); len(a) != 1 {
		t.Fatalf("a is on %v while the domain of the other pod is gone", a)
	}
	w.delete("a-1")
	w.create(pod("a", 1, 2, oneHost))
	w.round()
	if a := w.nodesOf("a"); len(a) != 2 || a[0] != a[1] {
		t.Errorf("a is on %v, want one host", a)
	}
}

func TestPodsThatWaitForANodeThatIsGone(t *testing.T) {
	w := newWorld(t, 1, 4, gate.Options{})
	owned := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "a", Controller: ptr.To(true)}}
	}
	w.create(pod("a", 0, 2, owned), pod("a", 1, 2, nil))
	w.round() // both are open and not bound
	for _, node := range w.nodesOf("a") {
		if err := w.client.CoreV1().Nodes().Delete(w.ctx, node, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w.seen()
	if err := w.gate.Round(w.ctx); err != nil {
		t.Fatal(err)
	}
	pods := w.pods()
	if len(pods) != 1 || pods[0].Name != "a-1" {
		t.Errorf("%d pods are left; want a-1, which nobody makes anew", len(pods))
	}
	told := w.events("TopologyNodeGone")
	if len(told) != 1 || !strings.Contains(told[0].Message, "delete the pod to have it placed anew") {
		t.Errorf("%+v", told)
	}
}

func TestWhatIsWrongWithAGangIsToldAndOthersGoOn(t *testing.T) {
	annotate := func(name, value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Annotations[name] = value }
	}
	w := newWorld(t, 1, 4, gate.Options{})
	w.create(
		pod("count", 0, 1, annotate("kueue.x-k8s.io/pod-group-total-count", "many")),
		pod("many", 0, 1, nil), pod("many", 1, 1, nil),
		pod("differ", 0, 2, nil), pod("differ", 1, 3, nil),
		pod("slice", 0, 1, annotate(kueue.PodSetSliceSizeAnnotation, "2")),
		pod("level", 0, 1, annotate(kueue.PodSetRequiredTopologyAnnotation, "row")),
		pod("other", 0, 1, func(p *corev1.Pod) { p.Labels, p.Annotations["scheduling.k8s.io/group-name"] = nil, "train" }),
		pod("good", 0, 1, nil),
	)
	w.round()
	if got := w.nodesOf("good"); len(got) != 1 {
		t.Errorf("the good one is on %v", got)
	}
	for name, want := range map[string]string{
		"count-0":  `total-count is "many"; want the number of pods of its group`,
		"many-0":   "it has 2 pods, and annotation kueue.x-k8s.io/pod-group-total-count says 1",
		"differ-0": "is 2 and 3; want the same",
		"other-0":  "names its group by annotation scheduling.k8s.io/group-name, which is not read here",
	} {
		if !slices.ContainsFunc(w.events("TopologyRequestWrong"), func(e corev1.Event) bool {
			return e.InvolvedObject.Name == name && strings.Contains(e.Message, want)
		}) {
			t.Errorf("%s: no event %q among %v", name, want, w.events("TopologyRequestWrong"))
		}
	}
	for name, want := range map[string]string{"slice-0": "one is missing; want both or none", "level-0": "row"} {
		if !slices.ContainsFunc(w.events("TopologyNotPlaced"), func(e corev1.Event) bool {
			return e.InvolvedObject.Name == name && strings.Contains(e.Message, want)
		}) {
			t.Errorf("%s: no event %q among %v", name, want, w.events("TopologyNotPlaced"))
		}
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	w := newWorld(t, 1, 4, gate.Options{DryRun: true})
	w.createGang("a", 3)
	w.round()
	w.round()
	if len(w.patches) != 0 || len(w.nodesOf("a")) != 0 {
		t.Errorf("%v were written", w.patches)
	}
}

func TestManyGangsAreNeverPartlyPlacedNorTwice(t *testing.T) {
	w := newWorld(t, 6, 5, gate.Options{})
	sizes := map[string]int{}
	for i := range 40 {
		gang := fmt.Sprintf("g%02d", i)
		sizes[gang] = 1 + i%5
		w.createGang(gang, sizes[gang])
	}
	done := map[string]bool{}
	for round := 0; len(done) < len(sizes); round++ {
		if round > 2*len(sizes) {
			t.Fatalf("only %d of %d gangs were placed", len(done), len(sizes))
		}
		w.round()
		w.bind()
		finished := ""
		for gang, size := range sizes {
			if done[gang] {
				continue
			}
			nodes := w.nodesOf(gang)
			if len(nodes) != 0 && len(nodes) != size {
				t.Fatalf("gang %s is on %v of %d", gang, nodes, size)
			}
			if len(nodes) == size && (finished == "" || gang < finished) {
				finished = gang
			}
		}
		if finished == "" {
			t.Fatal("nothing is placed, and nothing more can end")
		}
		for rank := range sizes[finished] {
			w.delete(fmt.Sprintf("%s-%d", finished, rank))
		}
		done[finished] = true
		if round%5 == 0 {
			w.restart(gate.Options{})
		}
	}
}
