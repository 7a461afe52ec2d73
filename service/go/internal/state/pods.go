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
	uid     types.UID
	node    string // empty: it is not bound
	usage   resources.Amounts
	lasting bool // it stays as long as its node does
	// The Workload that accounts for it, where there is one of the name.
	workload types.NamespacedName
}

// setPod takes in a pod. One that is not bound uses nothing, unless it is assumed to.
func (s *Store) setPod(object *corev1.Pod) {
	key := keyOf(object)
	s.dropPod(key)
	ended := object.Status.Phase == corev1.PodSucceeded || object.Status.Phase == corev1.PodFailed
	if ended || object.Spec.NodeName != "" {
		s.forgetPod(object)
	}
	if ended {
		return
	}
	kind := controllerKind(object)
	p := pod{
		uid:     object.UID,
		node:    object.Spec.NodeName,
		usage:   s.usageOfPod(object),
		lasting: kind == "DaemonSet" || kind == "Node",
	}
	if name := object.Annotations[kueue.WorkloadAnnotation]; name != "" && asksForTopology(object) {
		p.workload = types.NamespacedName{Namespace: key.Namespace, Name: name}
		addTo(s.podsOfWorkload, p.workload, key)
	}
	if object.Spec.RuntimeClassName != nil && object.Spec.Overhead == nil {
		s.waitingForClass[key] = object
	}
	s.pods[key] = p
	if p.node != "" {
		addTo(s.podsOnNode, p.node, key)
		s.nodesToSum[p.node] = struct{}{}
	}
}

func (s *Store) usageOfPod(object *corev1.Pod) resources.Amounts {
	return resources.OfPod(&object.Spec, resources.Surroundings{Overheads: s.overheads}).OfPods(1)
}

func asksForTopology(object *corev1.Pod) bool {
	for _, name := range topologyAnnotations {
		if _, there := object.Annotations[name]; there {
			return true
		}
	}
	return false
}

// dropPod forgets a pod, but not what is assumed of it.
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

// countPodsOf lets the pods of a workload that came or went be counted anew.
func (s *Store) countPodsOf(workload types.NamespacedName) {
	for key := range s.podsOfWorkload[workload] {
		if node := s.pods[key].node; node != "" {
			s.nodesToSum[node] = struct{}{}
		}
	}
}

// assumption is where a pod is to go that is not bound yet, and what it uses there.
type assumption struct {
	uid   types.UID // of the pod: its name may be that of another one before
	node  string
	usage resources.Amounts
}

// Assume lets a pod use a node until it is bound, ends or is deleted, or Forget; also one that Set
// was not told of yet. One that is bound stays where it is.
func (s *Store) Assume(object *corev1.Pod, node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(object)
	if p := s.pods[key]; p.node != "" && p.uid == object.UID {
		return
	}
	if of := s.assumed[key]; of.node == node && of.uid == object.UID {
		return
	}
	s.forget(key)
	s.assumed[key] = assumption{object.UID, node, s.usageOfPod(object)}
	addTo(s.assumedOnNode, node, key)
	s.nodesToSum[node] = struct{}{}
}

// Forget takes back what Assume said of a pod.
func (s *Store) Forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(key)
}

// forgetPod takes back what is assumed of this pod, and not of another one of its name.
func (s *Store) forgetPod(object *corev1.Pod) {
	if key := keyOf(object); s.assumed[key].uid == object.UID {
		s.forget(key)
	}
}

func (s *Store) forget(key types.NamespacedName) {
	assumed, there := s.assumed[key]
	if !there {
		return
	}
	delete(s.assumed, key)
	removeFrom(s.assumedOnNode, assumed.node, key)
	s.nodesToSum[assumed.node] = struct{}{}
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
		for key := range s.assumedOnNode[name] {
			sum.usage.Add(s.assumed[key].usage)
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
