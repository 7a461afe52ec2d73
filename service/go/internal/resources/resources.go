// Package resources computes amounts of resources as the server counts them: cpu in thousandths of
// a core, every other resource in whole units.
package resources

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Pods is the resource under which the slots of pods are counted.
const Pods = "pods"

// Amounts maps names of resources to amounts. A name that is not there reads as 0.
type Amounts map[string]int64

// Add adds amounts to a; sums stay at the limits of an int64.
func (a Amounts) Add(amounts Amounts) {
	for name, amount := range amounts {
		a[name] = add(a[name], amount)
	}
}

// OfPods returns what count pods use that request a each, with their slots under Pods.
func (a Amounts) OfPods(count int64) Amounts {
	usage := make(Amounts, len(a)+1)
	for name, amount := range a {
		usage[name] = Multiply(amount, count)
	}
	usage[Pods] = add(usage[Pods], count)
	return usage
}

// WithoutZeros returns the amounts that are not 0.
func (a Amounts) WithoutZeros() Amounts {
	kept := make(Amounts, len(a))
	for name, amount := range a {
		if amount != 0 {
			kept[name] = amount
		}
	}
	return kept
}

// Names returns the names in byte-wise order.
func (a Amounts) Names() []string {
	names := make([]string, 0, len(a))
	for name := range a {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func add(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// Multiply returns the product, at the limits of an int64 where it is beyond them.
func Multiply(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	product := a * b
	if product/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64) {
		return product
	}
	if (a < 0) != (b < 0) {
		return math.MinInt64
	}
	return math.MaxInt64
}

// Amount returns the amount of a quantity, rounded away from 0 and kept within an int64.
func Amount(name string, quantity resource.Quantity) int64 {
	// Quantity itself answers 0 for what does not fit.
	most := *resource.NewQuantity(math.MaxInt64, resource.DecimalSI)
	least := *resource.NewQuantity(math.MinInt64, resource.DecimalSI)
	amount := (*resource.Quantity).Value
	if name == string(corev1.ResourceCPU) {
		most = *resource.NewMilliQuantity(math.MaxInt64, resource.DecimalSI)
		least = *resource.NewMilliQuantity(math.MinInt64, resource.DecimalSI)
		amount = (*resource.Quantity).MilliValue
	}
	switch {
	case quantity.Cmp(most) >= 0:
		return math.MaxInt64
	case quantity.Cmp(least) <= 0:
		return math.MinInt64
	}
	return amount(&quantity)
}

// OfList returns the amounts of a list of quantities.
func OfList(list corev1.ResourceList) Amounts {
	amounts := make(Amounts, len(list))
	for name, quantity := range list {
		amounts[string(name)] = Amount(string(name), quantity)
	}
	return amounts
}

// Surroundings are what requests of pods depend on beside the pods.
type Surroundings struct {
	// Overheads are those of RuntimeClasses, by name.
	Overheads map[string]corev1.ResourceList
	// Limits are those of the pod's namespace; of a pod that the API server has completed none.
	Limits *Limits
}

// OfPod returns what a pod requests: its containers, init containers, what it says for all of them
// together, and overhead.
func OfPod(spec *corev1.PodSpec, around Surroundings) Amounts {
	var containers, pods *Bounds
	if around.Limits != nil {
		containers, pods = &around.Limits.Containers, &around.Limits.Pods
	}
	total := corev1.ResourceList{}
	for i := range spec.Containers {
		sum(total, completed(&spec.Containers[i].Resources, containers))
	}
	side := corev1.ResourceList{} // containers that keep running beside those after them
	highest := corev1.ResourceList{}
	for i := range spec.InitContainers {
		init := &spec.InitContainers[i]
		requests := completed(&init.Resources, containers)
		if init.RestartPolicy != nil && *init.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sum(total, requests)
			sum(side, requests)
			raise(highest, side)
		} else {
			sum(requests, side)
			raise(highest, requests)
		}
	}
	raise(total, highest)
	if spec.Resources != nil {
		for name, quantity := range completed(spec.Resources, pods) {
			if hasPodLevel(string(name)) {
				total[name] = quantity
			}
		}
	}
	switch {
	case spec.Overhead != nil:
		sum(total, spec.Overhead)
	case spec.RuntimeClassName != nil:
		sum(total, around.Overheads[*spec.RuntimeClassName])
	}
	return OfList(total)
}

func hasPodLevel(name string) bool {
	return name == string(corev1.ResourceCPU) || name == string(corev1.ResourceMemory) ||
		strings.HasPrefix(name, corev1.ResourceHugePagesPrefix)
}

// completed returns a copy of the requests, with those that are missing filled in from limits and
// defaults.
func completed(of *corev1.ResourceRequirements, defaults *Bounds) corev1.ResourceList {
	requests := corev1.ResourceList{}
	fill(requests, of.Requests)
	fill(requests, of.Limits)
	if defaults != nil {
		fill(requests, defaults.DefaultRequests)
		fill(requests, defaults.DefaultLimits)
	}
	return requests
}

func fill(list, defaults corev1.ResourceList) {
	for name, quantity := range defaults {
		if _, there := list[name]; !there {
			list[name] = quantity.DeepCopy()
		}
	}
}

func sum(total, more corev1.ResourceList) {
	for name, quantity := range more {
		slot := total[name].DeepCopy()
		slot.Add(quantity)
		total[name] = slot
	}
}

func raise(highest, list corev1.ResourceList) {
	for name, quantity := range list {
		if slot, there := highest[name]; !there || quantity.Cmp(slot) > 0 {
			highest[name] = quantity.DeepCopy()
		}
	}
}
