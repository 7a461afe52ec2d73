package state

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier/internal/resources"
)

// topologyAnnotations are those by which a pod asks for topology-aware scheduling.
var topologyAnnotations = []string{
	kueue.PodSetRequiredTopologyAnnotation,
	kueue.PodSetPreferredTopologyAnnotation,
	kueue.PodSetUnconstrainedTopologyAnnotation,
	kueue.PodSetSliceRequiredTopologyAnnotation,
	kueue.PodSetSliceRequiredTopologyConstraintsAnnotation,
}

// pod is what a state depends on of a pod that has not ended.
type pod struct {
	node    string // empty: neither bound nor assumed
	usage   resources.Amounts
	lasting bool // it stays as long as its node does
	// The Workload that accounts for it, where there is one of the name.
	workload types.NamespacedName
}

// setPod takes in a pod. A pod that no node has, and that is not assumed on one, uses nothing.
func (s *Store) setPod(object *corev1.Pod) {
	key := keyOf(object)
	s.dropPod(key)
	if object.Status.Phase == corev1.PodSucceeded || object.Status.Phase == corev1.PodFailed {
		delete(s.assumed, key)
		return
	}
	if object.Spec.NodeName != "" {
		delete(s.assumed, key)
	}
	kind := controllerKind(object)
	p := pod{
		node:    object.Spec.NodeName,
		usage:   resources.OfPod(&object.Spec, resources.Surroundings{Overheads: s.overheads}).OfPods(1),
		lasting: kind == "DaemonSet" || kind == "Node",
	}
	if p.node == "" {
		p.node = s.assumed[key]
	}
	if name := object.Annotations[kueue.WorkloadAnnotation]; name != "" && asksForTopology(object) {
		p.workload = types.NamespacedName{Namespace: key.Namespace, Name: name}
		addTo(s.podsOfWorkload, p.workload, key)
	}
	if object.Spec.RuntimeClassName != nil && object.Spec.Overhead == nil {
		s.waitingForClass[key] = object
	}
	s.pods[key] = p
	s.putOn(p.node, key)
}

func asksForTopology(object *corev1.Pod) bool {
	for _, name := range topologyAnnotations {
		if _, there := object.Annotations[name]; there {
			return true
		}
	}
	return false
}

// dropPod forgets a pod, but not where it is assumed.
func (s *Store) dropPod(key types.NamespacedName) {
	p, there := s.pods[key]
	if !there {
		return
	}
	delete(s.pods, key)
	delete(s.waitingForClass, key)
	removeFrom(s.podsOfWorkload, p.workload, key)
	if p.node != "" {
		removeFrom(s.podsOnNode, p.node, key)
		s.nodesToSum[p.node] = struct{}{}
	}
}

func (s *Store) putOn(node string, key types.NamespacedName) {
	if node == "" {
		return
	}
	addTo(s.podsOnNode, node, key)
	s.nodesToSum[node] = struct{}{}
}

// countPodsOf lets the pods of a workload that came or went be counted anew.
func (s *Store) countPodsOf(workload types.NamespacedName) {
	for key := range s.podsOfWorkload[workload] {
		if node := s.pods[key].node; node != "" {
			s.nodesToSum[node] = struct{}{}
		}
	}
}

// Assume lets a pod that has no node yet count on one until it is bound, it ends, or Forget. An
// unknown pod counts once it is known.
func (s *Store) Assume(key types.NamespacedName, node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.assume(key, node)
}

// Forget takes back what Assume said of a pod.
func (s *Store) Forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.assume(key, "")
}

func (s *Store) assume(key types.NamespacedName, node string) {
	before := s.assumed[key]
	p, there := s.pods[key]
	if there && p.node != before {
		return // it is bound
	}
	if node == "" {
		delete(s.assumed, key)
	} else {
		s.assumed[key] = node
	}
	if !there || before == node {
		return
	}
	if p.node != "" {
		removeFrom(s.podsOnNode, p.node, key)
		s.nodesToSum[p.node] = struct{}{}
	}
	p.node = node
	s.pods[key] = p
	s.putOn(node, key)
}

// sumNodes brings the usage of nodes up to their pods.
func (s *Store) sumNodes() {
	for name := range s.nodesToSum {
		sum := nodeUsage{usage: resources.Amounts{}}
		for key := range s.podsOnNode[name] {
			p := s.pods[key]
			if _, accountedFor := s.workloadObjects[p.workload]; accountedFor {
				continue
			}
			sum.usage.Add(p.usage)
			if p.lasting {
				if sum.lasting == nil {
					sum.lasting = resources.Amounts{}
				}
				sum.lasting.Add(p.usage)
			}
		}
		if len(sum.usage) == 0 {
			s.usage.remove(name)
		} else {
			s.usage.set(name, sum)
		}
	}
	clear(s.nodesToSum)
}

func addTo[K comparable](sets map[K]map[types.NamespacedName]struct{}, set K, key types.NamespacedName) {
	if sets[set] == nil {
		sets[set] = map[types.NamespacedName]struct{}{}
	}
	sets[set][key] = struct{}{}
}

func removeFrom[K comparable](sets map[K]map[types.NamespacedName]struct{}, set K, key types.NamespacedName) {
	delete(sets[set], key)
	if len(sets[set]) == 0 {
		delete(sets, set)
	}
}
