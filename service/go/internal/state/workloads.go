package state

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier/internal/resources"
)

// mostAdmitted is the most of a resource that a state takes for one workload on one leaf.
const mostAdmitted = 1 << 53

const (
	elasticJobAnnotation = "kueue.x-k8s.io/elastic-job"
	sliceReplacementOf   = "kueue.x-k8s.io/workload-slice-replacement-for"
	podPriorityClass     = "PriorityClass"
)

func keyOf(object interface {
	GetNamespace() string
	GetName() string
}) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// HoldsRoom returns whether a workload holds quota and capacity. An evicted one does so until its
// reservation is withdrawn; a finished one does not although it keeps its admission.
func HoldsRoom(object *kueue.Workload) bool {
	return object.Status.Admission != nil &&
		meta.IsStatusConditionTrue(object.Status.Conditions, kueue.WorkloadQuotaReserved) &&
		!meta.IsStatusConditionTrue(object.Status.Conditions, kueue.WorkloadFinished)
}

// Domain is a domain of an assignment: its values, coarsest first, and the pods in it.
type Domain struct {
	Values []string
	Count  int32
}

// Domains returns the domains of an assignment in its order. What of a slice does not belong
// together (fewer values than domains) is left out.
func Domains(assignment *kueue.TopologyAssignment) []Domain {
	var domains []Domain
	for _, slice := range assignment.Slices {
		for i := range int(slice.DomainCount) {
			domain := Domain{}
			for _, level := range slice.ValuesPerLevel {
				value, there := valueAt(level, i)
				if !there {
					break
				}
				domain.Values = append(domain.Values, value)
			}
			switch counts := slice.PodCounts; {
			case counts.Universal != nil:
				domain.Count = *counts.Universal
			case i < len(counts.Individual):
				domain.Count = counts.Individual[i]
			}
			if len(domain.Values) == len(assignment.Levels) {
				domains = append(domains, domain)
			}
		}
	}
	return domains
}

func valueAt(values kueue.TopologyAssignmentSliceLevelValues, i int) (string, bool) {
	if values.Universal != nil {
		return *values.Universal, true
	}
	if values.Individual == nil || i >= len(values.Individual.Roots) {
		return "", false
	}
	value := values.Individual.Roots[i]
	if values.Individual.Prefix != nil {
		value = *values.Individual.Prefix + value
	}
	if values.Individual.Suffix != nil {
		value += *values.Individual.Suffix
	}
	return value, true
}

// inOrderOf puts the values of domains in the order of a topology's levels, where the assignment
// has the same levels in another one.
func inOrderOf(levels, assigned []string, domains []Domain) []Domain {
	if slices.Equal(levels, assigned) || len(levels) != len(assigned) {
		return domains
	}
	from := make([]int, 0, len(levels))
	for _, level := range levels {
		at := slices.Index(assigned, level)
		if at < 0 {
			return domains
		}
		from = append(from, at)
	}
	for d := range domains {
		values := make([]string, 0, len(from))
		for _, at := range from {
			values = append(values, domains[d].Values[at])
		}
		domains[d].Values = values
	}
	return domains
}

// usageOf returns what a workload uses on leaves.
func (s *Store) usageOf(object *kueue.Workload) map[leaf]resources.Amounts {
	key := keyOf(object)
	if known := s.usages[key]; known.of == object {
		return known.usage
	}
	usage := s.computeUsage(object)
	s.usages[key] = knownUsage{object, usage}
	return usage
}

func (s *Store) computeUsage(object *kueue.Workload) map[leaf]resources.Amounts {
	usage := map[leaf]resources.Amounts{}
	for _, assigned := range object.Status.Admission.PodSetAssignments {
		at := slices.IndexFunc(object.Spec.PodSets, func(podSet kueue.PodSet) bool {
			return podSet.Name == assigned.Name
		})
		flavor, there := s.topologyFlavor(assigned)
		if at < 0 || !there || assigned.TopologyAssignment == nil {
			continue
		}
		requests := resources.OfPod(&object.Spec.PodSets[at].Template.Spec, resources.Surroundings{
			Overheads: s.overheads,
			Limits:    s.limitsOf(object.Namespace),
		})
		domains := inOrderOf(s.topologies.want[flavor.topology].levels,
			assigned.TopologyAssignment.Levels, Domains(assigned.TopologyAssignment))
		for _, domain := range domains {
			key := leaf{flavor.name, strings.Join(domain.Values, ",")}
			if usage[key] == nil {
				usage[key] = resources.Amounts{}
			}
			usage[key].Add(requests.OfPods(int64(domain.Count)))
		}
	}
	for key, amounts := range usage {
		if usage[key] = amounts.WithoutZeros(); len(usage[key]) == 0 {
			delete(usage, key)
		}
	}
	return usage
}

// FlavorOf returns the flavor of an assignment that has a topology, or an empty text; of several that
// of the resource whose name is first.
func FlavorOf(assigned kueue.PodSetAssignment, hasTopology func(flavor string) bool) string {
	for _, resource := range slices.Sorted(maps.Keys(assigned.Flavors)) {
		if name := string(assigned.Flavors[resource]); hasTopology(name) {
			return name
		}
	}
	return ""
}

func (s *Store) topologyFlavor(assigned kueue.PodSetAssignment) (flavor, bool) {
	f, there := s.flavors.want[FlavorOf(assigned, func(name string) bool {
		return s.flavors.want[name].topology != ""
	})]
	return f, there
}

func quotaReservedAt(object *kueue.Workload) int64 {
	condition := meta.FindStatusCondition(object.Status.Conditions, kueue.WorkloadQuotaReserved)
	if condition == nil || condition.LastTransitionTime.IsZero() {
		return 0
	}
	return condition.LastTransitionTime.Unix()
}

// priorityOf returns the priority that Kueue wrote into a workload, else that of its class.
func (s *Store) priorityOf(object *kueue.Workload) int32 {
	if object.Spec.Priority != nil {
		return *object.Spec.Priority
	}
	ref := object.Spec.PriorityClassRef
	if ref == nil {
		return 0
	}
	if string(ref.Kind) == podPriorityClass {
		return s.podClasses[ref.Name]
	}
	return s.workloadClasses[ref.Name]
}

// isSlice returns whether a workload may be one of several slices of a job.
func isSlice(object *kueue.Workload) bool {
	annotations := object.Annotations
	return annotations[kueue.WorkloadSliceNameAnnotation] != "" || annotations[sliceReplacementOf] != "" ||
		annotations[elasticJobAnnotation] == "true" || parentOf(object) != ""
}

func parentOf(object *kueue.Workload) string {
	for _, owner := range object.OwnerReferences {
		if owner.Kind == "Workload" {
			return owner.Name
		}
	}
	return ""
}

// jobs returns the workloads that belong together: slices of one job, else each one alone.
func (s *Store) jobs() [][]*kueue.Workload {
	// Sets that grow together; each text stands for a workload, a chain of slices or a job.
	root := map[string]string{}
	var find func(string) string
	find = func(text string) string {
		above, there := root[text]
		if !there || above == text {
			return text
		}
		root[text] = find(above)
		return root[text]
	}
	join := func(a, b string) { root[find(a)] = find(b) }
	for key, object := range s.workloadObjects {
		if !isSlice(object) {
			continue
		}
		own := key.String()
		if name := object.Annotations[kueue.WorkloadSliceNameAnnotation]; name != "" {
			join(own, types.NamespacedName{Namespace: key.Namespace, Name: name}.String())
		}
		if replaced := object.Annotations[sliceReplacementOf]; strings.HasPrefix(replaced, key.Namespace+"/") {
			join(own, replaced)
		}
		parent := parentOf(object)
		if parent != "" {
			join(own, types.NamespacedName{Namespace: key.Namespace, Name: parent}.String())
		} else if object.Annotations[elasticJobAnnotation] == "true" && len(object.OwnerReferences) > 0 {
			owner := object.OwnerReferences[0]
			join(own, strings.Join([]string{"job", key.Namespace, owner.Kind, owner.Name, string(owner.UID)}, "\n"))
		}
	}
	bySet := map[string][]*kueue.Workload{}
	for key, object := range s.workloadObjects {
		set := find(key.String())
		bySet[set] = append(bySet[set], object)
	}
	jobs := make([][]*kueue.Workload, 0, len(bySet))
	for _, job := range bySet {
		slices.SortFunc(job, func(a, b *kueue.Workload) int {
			return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), byKey(keyOf(a), keyOf(b)))
		})
		jobs = append(jobs, job)
	}
	return jobs
}

// admitted returns the entry of a job, under the key of its newest slice, or false where none of
// its slices uses anything.
func (s *Store) admitted(job []*kueue.Workload) (types.NamespacedName, workload, bool) {
	var newest *kueue.Workload
	entry := workload{usage: map[leaf]resources.Amounts{}}
	for _, slice := range job {
		if !HoldsRoom(slice) {
			continue
		}
		newest = slice
		for key, amounts := range s.usageOf(slice) {
			if entry.usage[key] == nil {
				entry.usage[key] = resources.Amounts{}
			}
			entry.usage[key].Add(amounts)
		}
	}
	if newest == nil || len(entry.usage) == 0 {
		return types.NamespacedName{}, workload{}, false
	}
	entry.priority = s.priorityOf(newest)
	entry.quotaReservedAt = quotaReservedAt(newest)
	return keyOf(newest), entry, true
}

// isSound returns whether a state takes the entry by key.
func (w workload) isSound() bool {
	for _, amounts := range w.usage {
		for _, amount := range amounts {
			if amount < 0 || amount > mostAdmitted {
				return false
			}
		}
	}
	return true
}

// refreshWorkloads makes the entries of workloads those of their objects.
func (s *Store) refreshWorkloads() {
	entries := make(map[types.NamespacedName]workload, len(s.workloads.want))
	leaves := map[leaf]resources.Amounts{} // of those that no key can stand for
	for _, job := range s.jobs() {
		key, entry, uses := s.admitted(job)
		switch {
		case !uses:
		case entry.isSound():
			entries[key] = entry
		default:
			for at, amounts := range entry.usage {
				if leaves[at] == nil {
					leaves[at] = resources.Amounts{}
				}
				leaves[at].Add(amounts)
			}
		}
	}
	s.workloads.replace(entries)
	s.leaves.replace(leaves)
}
