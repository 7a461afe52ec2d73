package espalier

import (
	"strings"

	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier/internal/state"
)

// Domain is a domain of an assignment: the values of its levels, coarsest first, and its pods.
type Domain = state.Domain

// Domains returns the domains of an assignment in its order, which is that of the pods' ranks.
func Domains(assignment *kueue.TopologyAssignment) []Domain { return state.Domains(assignment) }

// domainsPerSlice is the most that the API takes in one slice.
const domainsPerSlice = 100_000

// NewTopologyAssignment returns domains in the form of Kueue's API: what all values of a level have
// in common at their ends stands once.
func NewTopologyAssignment(levels []string, domains []Domain) *kueue.TopologyAssignment {
	assignment := &kueue.TopologyAssignment{Levels: levels}
	for len(domains) > 0 {
		slice := domains[:min(len(domains), domainsPerSlice)]
		domains = domains[len(slice):]
		assignment.Slices = append(assignment.Slices, encodeSlice(len(levels), slice))
	}
	return assignment
}

func encodeSlice(levels int, domains []Domain) kueue.TopologyAssignmentSlice {
	slice := kueue.TopologyAssignmentSlice{DomainCount: int32(len(domains))}
	for level := range levels {
		slice.ValuesPerLevel = append(slice.ValuesPerLevel, encodeLevel(domains, level))
	}
	equal := true
	for _, domain := range domains {
		equal = equal && domain.Count == domains[0].Count
	}
	if equal {
		slice.PodCounts.Universal = ptr.To(domains[0].Count)
		return slice
	}
	for _, domain := range domains {
		slice.PodCounts.Individual = append(slice.PodCounts.Individual, domain.Count)
	}
	return slice
}

func encodeLevel(domains []Domain, level int) kueue.TopologyAssignmentSliceLevelValues {
	first := domains[0].Values[level]
	prefix, suffix, shortest, equal := first, first, len(first), true
	for _, domain := range domains {
		value := domain.Values[level]
		for !strings.HasPrefix(value, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
		for !strings.HasSuffix(value, suffix) {
			suffix = suffix[1:]
		}
		shortest = min(shortest, len(value))
		equal = equal && value == first
	}
	if equal {
		return kueue.TopologyAssignmentSliceLevelValues{Universal: ptr.To(first)}
	}
	prefix = prefix[:min(len(prefix), shortest-len(suffix))] // the suffix is kept whole
	individual := &kueue.TopologyAssignmentSliceLevelIndividualValues{}
	if prefix != "" {
		individual.Prefix = ptr.To(prefix)
	}
	if suffix != "" {
		individual.Suffix = ptr.To(suffix)
	}
	for _, domain := range domains {
		value := domain.Values[level]
		individual.Roots = append(individual.Roots, value[len(prefix):len(value)-len(suffix)])
	}
	return kueue.TopologyAssignmentSliceLevelValues{Individual: individual}
}
