package state

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier/internal/resources"
)

// What the lists of a state hold, as in proto/espalier/v1/cluster_state.proto.

type node struct {
	name          string
	labels        map[string]string
	taints        []corev1.Taint
	unschedulable bool
	ready         bool
	allocatable   resources.Amounts
}

type topology struct {
	name   string
	levels []string
}

type flavor struct {
	name        string
	nodeLabels  map[string]string
	nodeTaints  []corev1.Taint
	tolerations []corev1.Toleration
	topology    string
}

// nodeUsage is what pods that no topology-aware workload accounts for use on a node.
type nodeUsage struct {
	usage   resources.Amounts
	lasting resources.Amounts // nil: none of them stays for ever
}

// leaf names a leaf of a flavor.
type leaf struct {
	flavor, name string
}

func byLeaf(a, b leaf) int {
	return cmp.Or(strings.Compare(a.flavor, b.flavor), strings.Compare(a.name, b.name))
}

// workload is what an admitted workload uses.
type workload struct {
	priority        int32
	quotaReservedAt int64
	usage           map[leaf]resources.Amounts
}

func byKey(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// nodeOf returns what a placement sees of a node.
func nodeOf(object *corev1.Node) node {
	n := node{
		name:          object.Name,
		labels:        object.Labels,
		unschedulable: object.Spec.Unschedulable,
		allocatable:   resources.OfList(object.Status.Allocatable),
	}
	for _, taint := range object.Spec.Taints {
		// When a taint was added tells nothing here.
		n.taints = append(n.taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: taint.Effect})
	}
	for _, condition := range object.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			n.ready = condition.Status == corev1.ConditionTrue
			break
		}
	}
	return n
}

func topologyOf(object *kueue.Topology) topology {
	t := topology{name: object.Name}
	for _, level := range object.Spec.Levels {
		t.levels = append(t.levels, level.NodeLabel)
	}
	return t
}

func flavorOf(object *kueue.ResourceFlavor) flavor {
	f := flavor{
		name:        object.Name,
		nodeLabels:  object.Spec.NodeLabels,
		nodeTaints:  object.Spec.NodeTaints,
		tolerations: object.Spec.Tolerations,
	}
	if object.Spec.TopologyName != nil {
		f.topology = string(*object.Spec.TopologyName)
	}
	return f
}
