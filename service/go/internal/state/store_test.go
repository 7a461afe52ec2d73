package state

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	pb "espalier.dev/espalier/gen/espalier/v1"
)

func set(t *testing.T, s *Store, objects ...any) {
	t.Helper()
	for _, object := range objects {
		if err := s.Set(object); err != nil {
			t.Fatal(err)
		}
	}
}

func drop(t *testing.T, s *Store, objects ...any) {
	t.Helper()
	for _, object := range objects {
		if err := s.Delete(object); err != nil {
			t.Fatal(err)
		}
	}
}

// told returns what a store has to tell, a line each, and lets it arrive.
func told(s *Store) []string {
	m := s.Update("")
	s.Acknowledge()
	return lines(m)
}

func lines(m *pb.UpdateStateRequest) []string {
	var all []string
	text := func(ref uint32) string {
		if ref == 0 {
			return ""
		}
		return m.GetStrings()[ref-1]
	}
	amounts := func(v *pb.ResourceVector) string {
		var parts []string
		for i, name := range v.GetNames() {
			parts = append(parts, fmt.Sprintf("%s=%d", text(name), v.GetAmounts()[i]))
		}
		return strings.Join(parts, " ")
	}
	for _, node := range m.GetRemoveNodes() {
		all = append(all, "-node "+text(node))
	}
	for _, node := range m.GetUpsertNodes() {
		all = append(all, "node "+text(node.GetName()))
	}
	for _, usage := range m.GetSetNonTasUsage() {
		line := "usage " + text(usage.GetNode()) + ": " + amounts(usage.GetUsage())
		if usage.GetLasting() != nil {
			line += ", lasting " + amounts(usage.GetLasting())
		}
		all = append(all, line)
	}
	for _, usage := range m.GetSetTasUsage() {
		all = append(all, "leaf "+text(usage.GetFlavor())+" "+text(usage.GetLeaf())+": "+amounts(usage.GetUsage()))
	}
	for _, name := range m.GetRemoveTopologies() {
		all = append(all, "-topology "+text(name))
	}
	for _, topology := range m.GetUpsertTopologies() {
		all = append(all, "topology "+text(topology.GetName()))
	}
	for _, name := range m.GetRemoveFlavors() {
		all = append(all, "-flavor "+text(name))
	}
	for _, flavor := range m.GetUpsertFlavors() {
		all = append(all, "flavor "+text(flavor.GetName()))
	}
	for _, w := range m.GetSetWorkloads() {
		line := fmt.Sprintf("workload %s/%s %d:", text(w.GetNamespace()), text(w.GetName()), w.GetPriority())
		for _, usage := range w.GetUsage() {
			line += " " + text(usage.GetFlavor()) + " " + text(usage.GetLeaf()) + " " + amounts(usage.GetUsage())
		}
		all = append(all, line)
	}
	return all
}

func expect(t *testing.T, s *Store, what string, want ...string) {
	t.Helper()
	if got := told(s); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func pod1(name, node string, change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	p.Spec.NodeName = node
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{"cpu": resource.MustParse("2")},
	}}}
	if change != nil {
		change(p)
	}
	return p
}

func TestPodsUseTheirNodes(t *testing.T) {
	s := New()
	daemon := pod1("daemon", "a", func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Node"}, {Kind: "DaemonSet", Controller: ptr.To(true)}}
	})
	set(t, s, pod1("one", "a", nil), daemon, pod1("waits", "", nil))
	expect(t, s, "bound pods", "usage a: cpu=4000 pods=2, lasting cpu=2000 pods=1")
	set(t, s, pod1("one", "a", nil))
	expect(t, s, "the same again")
	set(t, s, pod1("one", "b", nil))
	expect(t, s, "a pod of the same name elsewhere",
		"usage a: cpu=2000 pods=1, lasting cpu=2000 pods=1", "usage b: cpu=2000 pods=1")
	set(t, s, pod1("one", "b", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }))
	expect(t, s, "a pod that has ended", "usage b: ")
	drop(t, s, daemon, pod1("one", "b", nil), pod1("never", "c", nil))
	expect(t, s, "deleted pods", "usage a: ")
}

func TestPodsOfAWorkloadAreAccountedForByItWhileItIsThere(t *testing.T) {
	s := New()
	of := pod1("one", "a", func(p *corev1.Pod) {
		p.Annotations = map[string]string{kueue.PodSetRequiredTopologyAnnotation: "rack", kueue.WorkloadAnnotation: "w"}
	})
	w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "w"}}
	set(t, s, of)
	expect(t, s, "without the workload", "usage a: cpu=2000 pods=1")
	set(t, s, w)
	expect(t, s, "with it", "usage a: ")
	drop(t, s, w)
	expect(t, s, "without it again", "usage a: cpu=2000 pods=1")
}

func TestAssumedPodsUseTheirNodeUntilTheyAreBound(t *testing.T) {
	key := types.NamespacedName{Namespace: "ns", Name: "one"}
	uses := func(node string) string { return "usage " + node + ": cpu=2000 pods=1" }
	for _, c := range []struct {
		name string
		do   func(*Store)
		want []string
	}{
		{"known", func(s *Store) { set(t, s, pod1("one", "", nil)); s.Assume(pod1("one", "", nil), "a") }, []string{uses("a")}},
		{"not known yet", func(s *Store) { s.Assume(pod1("one", "", nil), "a") }, []string{uses("a")}},
		{"twice", func(s *Store) { s.Assume(pod1("one", "", nil), "a"); s.Assume(pod1("one", "", nil), "a") }, []string{uses("a")}},
		{"elsewhere", func(s *Store) { s.Assume(pod1("one", "", nil), "a"); s.Assume(pod1("one", "", nil), "b") }, []string{uses("b")}},
		{"changed, not bound", func(s *Store) { s.Assume(pod1("one", "", nil), "a"); set(t, s, pod1("one", "", nil)) }, []string{uses("a")}},
		{"bound where it was assumed", func(s *Store) { s.Assume(pod1("one", "", nil), "a"); set(t, s, pod1("one", "a", nil)) }, []string{uses("a")}},
		{"bound elsewhere", func(s *Store) { s.Assume(pod1("one", "", nil), "a"); set(t, s, pod1("one", "b", nil)) }, []string{uses("b")}},
		{"bound before", func(s *Store) { set(t, s, pod1("one", "b", nil)); s.Assume(pod1("one", "", nil), "a") }, []string{uses("b")}},
		{"another one of the name that was bound before", func(s *Store) {
			before := pod1("one", "b", func(p *corev1.Pod) { p.UID = "before" })
			set(t, s, before)
			s.Assume(pod1("one", "", nil), "a")
			set(t, s, before)
			drop(t, s, before)
			set(t, s, pod1("one", "", nil))
		}, []string{uses("a")}},
		{"another one of the name on the same node", func(s *Store) {
			set(t, s, pod1("one", "a", func(p *corev1.Pod) { p.UID = "before" }))
			s.Assume(pod1("one", "", nil), "a")
		}, []string{"usage a: cpu=4000 pods=2"}},
		{"forgotten", func(s *Store) { s.Assume(pod1("one", "", nil), "a"); s.Forget(key) }, nil},
		{"deleted", func(s *Store) {
			set(t, s, pod1("one", "", nil))
			s.Assume(pod1("one", "", nil), "a")
			drop(t, s, pod1("one", "", nil))
		}, nil},
		{"ended", func(s *Store) {
			s.Assume(pod1("one", "", nil), "a")
			set(t, s, pod1("one", "", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }))
		}, nil},
	} {
		s := New()
		c.do(s)
		expect(t, s, c.name, c.want...)
	}
}

func TestADeltaThatDidNotArriveIsToldAgain(t *testing.T) {
	s := New()
	a, b := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
	set(t, s, a)
	s.Update("")
	s.GiveBack()
	set(t, s, b)
	expect(t, s, "both", "node a", "node b")
	drop(t, s, a)
	s.Update("")
	set(t, s, a) // back while the removal is on its way
	s.GiveBack()
	expect(t, s, "there all the time", "node a")
	drop(t, s, a)
	s.Update("")
	set(t, s, a)
	s.Acknowledge()
	expect(t, s, "back after the removal arrived", "node a")
	c := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	set(t, s, c)
	drop(t, s, c)
	expect(t, s, "come and gone")
	drop(t, s, a, b)
	expect(t, s, "gone", "-node a", "-node b")
	expect(t, s, "once")
}

func TestLoadsAreCutIntoChunksThatSayHowMuchThereIs(t *testing.T) {
	s := New()
	for i := range 2*entriesPerChunk + 1 {
		set(t, s, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%05d", i)}})
	}
	chunks := s.Load("east", "kind: Configuration")
	s.Acknowledge()
	nodes := 0
	for i, chunk := range chunks {
		nodes += len(chunk.GetNodes())
		if (chunk.GetEnd() != nil) != (i == len(chunks)-1) || (chunk.GetStateName() == "east") != (i == 0) {
			t.Errorf("chunk %d: end %v, state %q", i, chunk.GetEnd(), chunk.GetStateName())
		}
	}
	if len(chunks) != 3 || nodes != 2*entriesPerChunk+1 || chunks[2].GetEnd().GetNodes() != int64(nodes) {
		t.Errorf("%d chunks with %d nodes; the end says %v", len(chunks), nodes, chunks[len(chunks)-1].GetEnd())
	}
	expect(t, s, "after the load")
}

func flavors() []any {
	topology := &kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	topology.Spec.Levels = []kueue.TopologyLevel{{NodeLabel: "rack"}, {NodeLabel: corev1.LabelHostname}}
	f := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}
	f.Spec.TopologyName = ptr.To(kueue.TopologyReference("default"))
	return []any{topology, f}
}

// admitted holds pods on a host.
func admitted(name string, count int32, change func(*kueue.Workload)) *kueue.Workload {
	w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	w.Spec.Priority = ptr.To(int32(7))
	w.Spec.PodSets = []kueue.PodSet{{Name: "main", Count: count, Template: corev1.PodTemplateSpec{Spec: pod1("", "", nil).Spec}}}
	w.Status.Conditions = []metav1.Condition{{Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionTrue}}
	w.Status.Admission = &kueue.Admission{PodSetAssignments: []kueue.PodSetAssignment{{
		Name:    "main",
		Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{"cpu": "gpu"},
		TopologyAssignment: &kueue.TopologyAssignment{
			Levels: []string{corev1.LabelHostname},
			Slices: []kueue.TopologyAssignmentSlice{{
				DomainCount:    1,
				ValuesPerLevel: []kueue.TopologyAssignmentSliceLevelValues{{Universal: ptr.To("h")}},
				PodCounts:      kueue.TopologyAssignmentSlicePodCounts{Universal: ptr.To(count)},
			}},
		},
	}}}
	if change != nil {
		change(w)
	}
	return w
}

func TestAdmittedWorkloadsUseTheirLeavesOnFlavorsWithATopology(t *testing.T) {
	s := New()
	set(t, s, admitted("w", 2, nil))
	expect(t, s, "no flavor")
	set(t, s, flavors()...)
	expect(t, s, "with the flavor", "topology default", "flavor gpu", "workload ns/w 7: gpu h cpu=4000 pods=2")
	set(t, s, admitted("w", 3, nil))
	expect(t, s, "more pods", "workload ns/w 7: gpu h cpu=6000 pods=3")
	set(t, s, admitted("w", 3, func(w *kueue.Workload) {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kueue.WorkloadFinished, Status: metav1.ConditionTrue})
	}))
	expect(t, s, "finished", "workload ns/w 0:")
	set(t, s, admitted("w", 1, nil))
	told(s)
	drop(t, s, flavors()[0])
	expect(t, s, "without the topology", "-topology default", "-flavor gpu", "workload ns/w 0:")
}

// Queues of later questions name flavors that nothing is placed on.
func TestFlavorsWithoutATopologyAreSentAndHoldNothing(t *testing.T) {
	s := New()
	plain := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "a-plain"}}
	foreign := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}}
	foreign.Spec.TopologyName = ptr.To(kueue.TopologyReference("nowhere"))
	set(t, s, append(flavors(), plain, foreign, admitted("w", 2, func(w *kueue.Workload) {
		w.Status.Admission.PodSetAssignments[0].Flavors["a-first"] = "a-plain"
	}))...)
	expect(t, s, "both flavors", "topology default", "flavor a-plain", "flavor gpu", "workload ns/w 7: gpu h cpu=4000 pods=2")
}

func TestSlicesOfAJobAreOneEntryUnderTheNewest(t *testing.T) {
	s := New()
	set(t, s, flavors()...)
	told(s)
	at := func(seconds int64) metav1.Time { return metav1.NewTime(time.Unix(seconds, 0)) }
	old := admitted("b-old", 2, func(w *kueue.Workload) { w.CreationTimestamp = at(1) })
	slice := admitted("a-new", 3, func(w *kueue.Workload) {
		w.CreationTimestamp = at(2)
		w.Annotations = map[string]string{kueue.WorkloadSliceNameAnnotation: "b-old", sliceReplacementOf: "ns/b-old"}
	})
	set(t, s, old, slice, admitted("other", 1, nil))
	expect(t, s, "both", "workload ns/a-new 7: gpu h cpu=10000 pods=5", "workload ns/other 7: gpu h cpu=2000 pods=1")
	drop(t, s, old)
	expect(t, s, "the new one", "workload ns/a-new 7: gpu h cpu=6000 pods=3")
	set(t, s, old)
	told(s)
	drop(t, s, slice)
	expect(t, s, "the old one", "workload ns/b-old 7: gpu h cpu=4000 pods=2", "workload ns/a-new 0:")
}

func TestWhatIsTooMuchForAKeyCountsByLeaf(t *testing.T) {
	s := New()
	set(t, s, flavors()...)
	told(s)
	huge := admitted("huge", 2, func(w *kueue.Workload) {
		w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("1e15")
	})
	set(t, s, huge)
	expect(t, s, "huge", "leaf gpu h: cpu=2000000000000000000 pods=2")
	drop(t, s, huge)
	expect(t, s, "gone", "leaf gpu h: ")
}

func TestObjectsThatNoStateDependsOnAreRefused(t *testing.T) {
	if err := New().Set(&corev1.ConfigMap{}); err == nil || !strings.Contains(err.Error(), "ConfigMap") {
		t.Errorf("%v", err)
	}
	if err := New().Delete("text"); err == nil {
		t.Error("no error")
	}
}

func TestCounts(t *testing.T) {
	s := New()
	set(t, s, append(flavors(), pod1("one", "a", nil), admitted("w", 1, nil), &corev1.Node{})...)
	told(s)
	if got, want := s.Counts(), (Counts{Nodes: 1, Pods: 1, Workloads: 1, Flavors: 1}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
