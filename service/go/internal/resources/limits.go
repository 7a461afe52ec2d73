package resources

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Limits are what the LimitRanges of a namespace fill in.
type Limits struct {
	Containers, Pods Bounds
}

// Bounds are the defaults of one type of objects.
type Bounds struct {
	DefaultRequests, DefaultLimits corev1.ResourceList
}

// LimitsOf returns what the LimitRanges of one namespace fill in, or nil where there are none. Of
// two defaults that of the LimitRange whose name is first counts.
func LimitsOf(ranges []*corev1.LimitRange) *Limits {
	if len(ranges) == 0 {
		return nil
	}
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, func(a, b *corev1.LimitRange) int { return strings.Compare(a.Name, b.Name) })
	limits := &Limits{
		Containers: Bounds{corev1.ResourceList{}, corev1.ResourceList{}},
		Pods:       Bounds{corev1.ResourceList{}, corev1.ResourceList{}},
	}
	for _, of := range ranges {
		for _, item := range of.Spec.Limits {
			requests, limit := corev1.ResourceList{}, corev1.ResourceList{}
			fill(requests, item.DefaultRequest)
			fill(limit, item.Default)
			bounds := &limits.Pods
			switch item.Type {
			case corev1.LimitTypeContainer:
				bounds = &limits.Containers
				fill(limit, item.Max)
				fill(requests, limit)
				fill(requests, item.Min)
			case corev1.LimitTypePod:
			default:
				continue
			}
			fill(bounds.DefaultLimits, limit)
			fill(bounds.DefaultRequests, requests)
		}
	}
	return limits
}
