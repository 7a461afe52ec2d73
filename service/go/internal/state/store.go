// Package state keeps what a server's state is to hold, by the Kubernetes objects that it comes
// from, and makes the messages that tell a server: the whole state, or what changed since.
package state

import (
	"fmt"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier/internal/resources"
)

// Store maps objects to the entries of a state. Its methods may be called at once from several
// goroutines. Objects that were handed in must not change any more.
type Store struct {
	mu sync.Mutex

	nodes      table[string, node]
	usage      table[string, nodeUsage]
	topologies table[string, topology]
	flavors    table[string, flavor]
	workloads  table[types.NamespacedName, workload]
	leaves     table[leaf, resources.Amounts] // of workloads that have no entry of their own

	pods            map[types.NamespacedName]pod
	podsOnNode      map[string]map[types.NamespacedName]struct{}
	podsOfWorkload  map[types.NamespacedName]map[types.NamespacedName]struct{}
	assumed         map[types.NamespacedName]assumption
	assumedOnNode   map[string]map[types.NamespacedName]struct{}
	waitingForClass map[types.NamespacedName]*corev1.Pod // whose overhead their RuntimeClass says

	topologyObjects map[string]*kueue.Topology
	flavorObjects   map[string]*kueue.ResourceFlavor
	workloadObjects map[types.NamespacedName]*kueue.Workload
	usages          map[types.NamespacedName]knownUsage
	limitRanges     map[types.NamespacedName]*corev1.LimitRange
	limits          map[string]*resources.Limits // by namespace, as far as they were asked for
	overheads       map[string]corev1.ResourceList
	podClasses      map[string]int32
	workloadClasses map[string]int32

	nodesToSum     map[string]struct{} // whose usage is to be summed anew
	flavorsStale   bool
	workloadsStale bool
}

// knownUsage is the usage of one version of a workload.
type knownUsage struct {
	of    *kueue.Workload
	usage map[leaf]resources.Amounts
}

// New returns a store without objects.
func New() *Store {
	return &Store{
		nodes:           newTable[string, node](),
		usage:           newTable[string, nodeUsage](),
		topologies:      newTable[string, topology](),
		flavors:         newTable[string, flavor](),
		workloads:       newTable[types.NamespacedName, workload](),
		leaves:          newTable[leaf, resources.Amounts](),
		pods:            map[types.NamespacedName]pod{},
		podsOnNode:      map[string]map[types.NamespacedName]struct{}{},
		podsOfWorkload:  map[types.NamespacedName]map[types.NamespacedName]struct{}{},
		assumed:         map[types.NamespacedName]assumption{},
		assumedOnNode:   map[string]map[types.NamespacedName]struct{}{},
		waitingForClass: map[types.NamespacedName]*corev1.Pod{},
		topologyObjects: map[string]*kueue.Topology{},
		flavorObjects:   map[string]*kueue.ResourceFlavor{},
		workloadObjects: map[types.NamespacedName]*kueue.Workload{},
		usages:          map[types.NamespacedName]knownUsage{},
		limitRanges:     map[types.NamespacedName]*corev1.LimitRange{},
		limits:          map[string]*resources.Limits{},
		overheads:       map[string]corev1.ResourceList{},
		podClasses:      map[string]int32{},
		workloadClasses: map[string]int32{},
		nodesToSum:      map[string]struct{}{},
	}
}

// Set takes an object in, in the place of the one of its kind and name. Errors: a kind that no
// state depends on.
func (s *Store) Set(object any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch o := object.(type) {
	case *corev1.Node:
		s.nodes.set(o.Name, nodeOf(o))
	case *corev1.Pod:
		s.setPod(o)
	case *kueue.Topology:
		s.topologyObjects[o.Name] = o
		s.flavorsStale = true
	case *kueue.ResourceFlavor:
		s.flavorObjects[o.Name] = o
		s.flavorsStale = true
	case *kueue.Workload:
		s.setWorkload(keyOf(o), o)
	case *nodev1.RuntimeClass:
		var overhead corev1.ResourceList
		if o.Overhead != nil {
			overhead = o.Overhead.PodFixed
		}
		s.setRuntimeClass(o.Name, overhead)
	case *corev1.LimitRange:
		s.limitRanges[keyOf(o)] = o
		s.forgetSurroundings()
	case *schedulingv1.PriorityClass:
		s.podClasses[o.Name] = o.Value
		s.workloadsStale = true
	case *kueue.WorkloadPriorityClass:
		s.workloadClasses[o.Name] = o.Value
		s.workloadsStale = true
	default:
		return fmt.Errorf("an object of type %T is no part of a state", object)
	}
	return nil
}

// Delete forgets an object, by its kind and name. Errors as those of Set.
func (s *Store) Delete(object any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch o := object.(type) {
	case *corev1.Node:
		s.nodes.remove(o.Name)
	case *corev1.Pod:
		key := keyOf(o)
		s.dropPod(key)
		s.forgetPod(o)
	case *kueue.Topology:
		delete(s.topologyObjects, o.Name)
		s.flavorsStale = true
	case *kueue.ResourceFlavor:
		delete(s.flavorObjects, o.Name)
		s.flavorsStale = true
	case *kueue.Workload:
		s.setWorkload(keyOf(o), nil)
	case *nodev1.RuntimeClass:
		s.setRuntimeClass(o.Name, nil)
	case *corev1.LimitRange:
		delete(s.limitRanges, keyOf(o))
		s.forgetSurroundings()
	case *schedulingv1.PriorityClass:
		delete(s.podClasses, o.Name)
		s.workloadsStale = true
	case *kueue.WorkloadPriorityClass:
		delete(s.workloadClasses, o.Name)
		s.workloadsStale = true
	default:
		return fmt.Errorf("an object of type %T is no part of a state", object)
	}
	return nil
}

func (s *Store) setWorkload(key types.NamespacedName, object *kueue.Workload) {
	before := s.workloadObjects[key]
	if object == nil {
		delete(s.workloadObjects, key)
		delete(s.usages, key)
	} else {
		s.workloadObjects[key] = object
	}
	// One that uses nothing changes nothing, unless it ties slices together.
	matters := func(w *kueue.Workload) bool { return w != nil && (HoldsRoom(w) || isSlice(w)) }
	if matters(before) || matters(object) {
		s.workloadsStale = true
	}
	if (before == nil) != (object == nil) {
		s.countPodsOf(key)
	}
}

func (s *Store) setRuntimeClass(name string, overhead corev1.ResourceList) {
	if overhead == nil {
		delete(s.overheads, name)
	} else {
		s.overheads[name] = overhead
	}
	waiting := maps.Clone(s.waitingForClass)
	for _, object := range waiting {
		if *object.Spec.RuntimeClassName == name {
			s.setPod(object)
		}
	}
	s.forgetSurroundings()
}

// forgetSurroundings lets what workloads request be computed anew.
func (s *Store) forgetSurroundings() {
	clear(s.usages)
	clear(s.limits)
	s.workloadsStale = true
}

func (s *Store) limitsOf(namespace string) *resources.Limits {
	limits, known := s.limits[namespace]
	if !known {
		var ranges []*corev1.LimitRange
		for key, object := range s.limitRanges {
			if key.Namespace == namespace {
				ranges = append(ranges, object)
			}
		}
		limits = resources.LimitsOf(ranges)
		s.limits[namespace] = limits
	}
	return limits
}

// refresh brings the entries up to the objects.
func (s *Store) refresh() {
	if s.flavorsStale {
		topologies := make(map[string]topology, len(s.topologyObjects))
		for name, object := range s.topologyObjects {
			topologies[name] = topologyOf(object)
		}
		flavors := make(map[string]flavor, len(s.flavorObjects))
		for name, object := range s.flavorObjects {
			f := flavorOf(object)
			// Nothing is placed on a flavor without a topology, but queues of questions name it. One
			// whose topology is not there is left out: no state is built for it.
			if _, there := topologies[f.topology]; there || f.topology == "" {
				flavors[name] = f
			}
		}
		changed := s.topologies.replace(topologies)
		if s.flavors.replace(flavors) || changed {
			s.forgetSurroundings()
		}
		s.flavorsStale = false
	}
	if s.workloadsStale {
		s.refreshWorkloads()
		s.workloadsStale = false
	}
	s.sumNodes()
}

// Counts are the numbers of what a state holds.
type Counts struct {
	Nodes, Pods, Workloads, Flavors int
}

// Counts returns how much the state holds of each kind.
func (s *Store) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Counts{len(s.nodes.want), len(s.pods), len(s.workloads.want), len(s.flavors.want)}
}

// controllerKind returns the kind of the object that controls another one, or an empty text.
func controllerKind(object metav1.Object) string {
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		return owner.Kind
	}
	return ""
}
