package gate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"espalier.dev/espalier/internal/bridge/gate"
)

var (
	upstream = schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1alpha1", Resource: "workloads"}
	kai      = schema.GroupVersionResource{Group: "scheduling.run.ai", Version: "v2alpha2", Resource: "podgroups"}
)

// object returns an object of a text.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	json, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = o.UnmarshalJSON(json) // whole numbers as the API server sends them
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// newWorldOfGroups returns a world whose API server has groups of other APIs.
func newWorldOfGroups(t *testing.T, racks, hosts int, objects ...string) *world {
	t.Helper()
	w := newWorld(t, racks, hosts, gate.Options{})
	for _, kind := range []schema.GroupVersionResource{upstream, kai} {
		w.client.Resources = append(w.client.Resources, &metav1.APIResourceList{
			GroupVersion: kind.GroupVersion().String(), APIResources: []metav1.APIResource{{Name: kind.Resource}},
		})
	}
	var all []runtime.Object
	for _, text := range objects {
		all = append(all, object(t, text))
	}
	w.dynamic = fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{upstream: "WorkloadList", kai: "PodGroupList"}, all...)
	w.restart(gate.Options{})
	return w
}

// of returns a pod of a group that its reference names.
func of(name string, rank int, group string) *corev1.Pod {
	return pod(name, rank, 1, func(p *corev1.Pod) {
		delete(p.Labels, "kueue.x-k8s.io/pod-group-name")
		delete(p.Annotations, "kueue.x-k8s.io/pod-group-total-count")
		if workload, member, is := strings.Cut(group, "/"); is {
			p.Spec.WorkloadRef = &corev1.WorkloadReference{Name: workload, PodGroup: member}
		} else {
			delete(p.Annotations, kueue.PodSetRequiredTopologyAnnotation)
			p.Annotations["pod-group-name"] = group
		}
	})
}

// hosts returns where the open pods are whose names begin so.
func (w *world) hosts(prefix string) []string {
	w.t.Helper()
	var hosts []string
	for _, p := range w.pods() {
		if strings.HasPrefix(p.Name, prefix) && isOpen(&p) {
			hosts = append(hosts, p.Spec.NodeSelector[corev1.LabelHostname])
		}
	}
	return hosts
}

const (
	gangOfThree = `{apiVersion: scheduling.k8s.io/v1alpha1, kind: Workload, metadata: {namespace: team, name: train},
  spec: {podGroups: [{name: workers, policy: {gang: {minCount: 3}}}, {name: drivers, policy: {basic: {}}}]}}`
	podGroup = `{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {namespace: team, name: train},
  spec: {minMember: 3, topologyConstraint: {requiredTopologyLevel: rack}}}`
)

func TestGroupsOfOtherAPIsArePlacedOnceTheirMinimumIsThereAndTheOthersJoinThem(t *testing.T) {
	for name, group := range map[string]string{"scheduling.k8s.io": "train/workers", "KAI": "train"} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOfGroups(t, 2, 4, gangOfThree, podGroup)
			w.create(of("w", 0, group), of("w", 1, group))
			w.round()
			if at := w.hosts("w"); len(at) != 0 {
				t.Fatalf("%v, where the minimum is 3", at)
			}
			w.create(of("w", 2, group), of("w", 3, group), of("w", 4, group))
			w.round()
			if at := w.hosts("w"); len(at) != 3 {
				t.Fatalf("%v, want 3 that are placed together", at)
			}
			w.round()
			w.round()
			at := w.hosts("w")
			if len(at) != 4 {
				t.Errorf("%v, want all four hosts of the rack, and one that waits", at)
			}
			racks := map[string]bool{}
			for _, host := range at {
				racks[strings.Split(host, "-")[0]] = true
			}
			if len(racks) != 1 {
				t.Errorf("%v is more than a rack", at)
			}
			told := w.events("TopologyNotPlaced")
			if len(told) != 1 || told[0].InvolvedObject.Name != "w-4" {
				t.Errorf("%+v", told)
			}
			// What is lost is made up for in the same rack, or waits.
			lost := at[1]
			if err := w.client.CoreV1().Nodes().Delete(w.ctx, lost, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			w.delete("w-1")
			w.create(of("w", 1, group))
			w.round()
			if at := w.hosts("w"); len(at) != 3 || slices.Contains(at, lost) {
				t.Errorf("%v after %s was lost", at, lost)
			}
		})
	}
}

func TestABridgeThatStartsAnewFinishesAGroupThatHasAMinimum(t *testing.T) {
	const minimum = 3
	for failFrom := range 2 * minimum {
		t.Run(fmt.Sprint("stopped after write ", failFrom), func(t *testing.T) {
			w := newWorldOfGroups(t, 2, 4, podGroup)
			w.failFrom = failFrom
			for rank := 1; rank <= minimum; rank++ {
				w.create(of("w", rank, "train"))
			}
			w.round()
			before := w.hosts("w")
			w.create(of("w", 0, "train")) // by rank it comes first
			w.failFrom = -1
			w.restart(gate.Options{})
			w.round()
			w.round()
			after := w.hosts("w")
			racks := map[string]bool{}
			for _, host := range after {
				racks[strings.Split(host, "-")[0]] = true
			}
			if len(after) != minimum+1 || len(racks) != 1 {
				t.Errorf("%v, before %v", after, before)
			}
			for _, host := range before {
				if !slices.Contains(after, host) {
					t.Errorf("%v, before %v", after, before)
				}
			}
		})
	}
}

func TestPodsOfABasicGroupNeedNoOthers(t *testing.T) {
	w := newWorldOfGroups(t, 1, 4, gangOfThree)
	w.create(of("d", 0, "train/drivers"))
	w.round()
	if at := w.hosts("d"); len(at) != 1 {
		t.Errorf("%v", at)
	}
}

func TestWhatIsNotKnownOfAGroupIsToldAndItWaits(t *testing.T) {
	const wrong = `{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {namespace: team, name: %s}, spec: %s}`
	w := newWorldOfGroups(t, 1, 4, gangOfThree,
		fmt.Sprintf(wrong, "tree", "{minMember: 1, subGroups: [{name: a, minMember: 1}]}"),
		fmt.Sprintf(wrong, "none", "{minMember: 0}"),
		fmt.Sprintf(wrong, "both", "{minMember: 1, topologyConstraint: {requiredTopologyLevel: rack, preferredTopologyLevel: rack}}"))
	w.create(of("tree", 0, "tree"), of("none", 0, "none"), of("both", 0, "both"), of("later", 0, "later"), of("other", 0, "train/nobody"))
	w.round()
	for name, want := range map[string]string{
		"tree-0": "has subGroups", "none-0": "spec.minMember: is 0; want 1 to", "both-0": "a required and a preferred level",
		"later-0": "PodGroup later is not there; its pods wait for it", "other-0": "Workload train has no pod group nobody",
	} {
		events := append(w.events("TopologyRequestWrong"), w.events("TopologyNotPlaced")...)
		if !slices.ContainsFunc(events, func(e corev1.Event) bool {
			return e.InvolvedObject.Name == name && strings.Contains(e.Message, want)
		}) {
			t.Errorf("%s: no event %q among %v", name, want, events)
		}
		if at := w.hosts(strings.TrimSuffix(name, "0")); len(at) != 0 {
			t.Errorf("%s is on %v", name, at)
		}
	}
	// Once the object is there, its pods are placed.
	_, err := w.dynamic.Resource(kai).Namespace("team").Create(context.Background(),
		object(t, fmt.Sprintf(wrong, "later", "{minMember: 1}")), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for len(w.hosts("later")) == 0 {
		select {
		case <-w.gate.Changed():
			w.round()
		case <-w.ctx.Done():
			t.Fatal("the group that came later is not placed")
		}
	}
}
