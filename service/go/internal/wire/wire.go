// Package wire fills messages of espalier.v1, in which each text stands once and is referred to by
// number (proto/espalier/v1/types.proto).
package wire

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	pb "espalier.dev/espalier/gen/espalier/v1"
	"espalier.dev/espalier/internal/resources"
)

// Texts is the table of the texts of one message.
type Texts struct {
	table []string
	refs  map[string]uint32
}

// NewTexts returns an empty table.
func NewTexts() *Texts { return &Texts{refs: map[string]uint32{}} }

// Table returns the texts in the order of their references.
func (t *Texts) Table() []string { return t.table }

// Ref returns the reference to a text; 0 stands for the empty one.
func (t *Texts) Ref(text string) uint32 {
	if text == "" {
		return 0
	}
	ref, known := t.refs[text]
	if !known {
		t.table = append(t.table, text)
		ref = uint32(len(t.table))
		t.refs[text] = ref
	}
	return ref
}

// RefTo returns the reference to a text that may be missing.
func (t *Texts) RefTo(text *string) uint32 {
	if text == nil {
		return 0
	}
	return t.Ref(*text)
}

// Refs returns the references to texts.
func (t *Texts) Refs(texts []string) []uint32 {
	refs := make([]uint32, 0, len(texts))
	for _, text := range texts {
		refs = append(refs, t.Ref(text))
	}
	return refs
}

// Map returns a map of texts, by its keys in order.
func (t *Texts) Map(values map[string]string) *pb.StringMap {
	if len(values) == 0 {
		return nil
	}
	message := &pb.StringMap{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		message.Keys = append(message.Keys, t.Ref(key))
		message.Values = append(message.Values, t.Ref(values[key]))
	}
	return message
}

// Amounts returns a vector of resources, never nil.
func (t *Texts) Amounts(amounts resources.Amounts) *pb.ResourceVector {
	message := &pb.ResourceVector{}
	for _, name := range amounts.Names() {
		message.Names = append(message.Names, t.Ref(name))
		message.Amounts = append(message.Amounts, amounts[name])
	}
	return message
}

// Taints returns taints in their order.
func (t *Texts) Taints(taints []corev1.Taint) []*pb.Taint {
	var messages []*pb.Taint
	for _, taint := range taints {
		messages = append(messages, &pb.Taint{
			Key: t.Ref(taint.Key), Value: t.Ref(taint.Value), Effect: t.Ref(string(taint.Effect)),
		})
	}
	return messages
}

// Tolerations returns tolerations in their order.
func (t *Texts) Tolerations(tolerations []corev1.Toleration) []*pb.Toleration {
	var messages []*pb.Toleration
	for _, toleration := range tolerations {
		messages = append(messages, &pb.Toleration{
			Key: t.Ref(toleration.Key), Operation: t.Ref(string(toleration.Operator)),
			Value: t.Ref(toleration.Value), Effect: t.Ref(string(toleration.Effect)),
		})
	}
	return messages
}

// Constraints returns which nodes pods of a template may use, or nil where they may use all.
func (t *Texts) Constraints(spec *corev1.PodSpec) *pb.NodeConstraints {
	var affinity *corev1.NodeAffinity
	if spec.Affinity != nil {
		affinity = spec.Affinity.NodeAffinity
	}
	if len(spec.NodeSelector) == 0 && len(spec.Tolerations) == 0 && affinity == nil {
		return nil
	}
	message := &pb.NodeConstraints{
		NodeSelector: t.Map(spec.NodeSelector),
		Tolerations:  t.Tolerations(spec.Tolerations),
	}
	if affinity == nil {
		return message
	}
	if required := affinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		message.RequiredAffinity = &pb.NodeSelector{}
		for i := range required.NodeSelectorTerms {
			message.RequiredAffinity.Terms = append(message.RequiredAffinity.Terms, t.term(&required.NodeSelectorTerms[i]))
		}
	}
	for i := range affinity.PreferredDuringSchedulingIgnoredDuringExecution {
		preferred := &affinity.PreferredDuringSchedulingIgnoredDuringExecution[i]
		message.PreferredAffinity = append(message.PreferredAffinity, &pb.PreferredSchedulingTerm{
			Weight: preferred.Weight, Preference: t.term(&preferred.Preference),
		})
	}
	return message
}

func (t *Texts) term(term *corev1.NodeSelectorTerm) *pb.NodeSelectorTerm {
	return &pb.NodeSelectorTerm{
		MatchExpressions: t.requirements(term.MatchExpressions),
		MatchFields:      t.requirements(term.MatchFields),
	}
}

func (t *Texts) requirements(requirements []corev1.NodeSelectorRequirement) []*pb.NodeSelectorRequirement {
	var messages []*pb.NodeSelectorRequirement
	for _, requirement := range requirements {
		messages = append(messages, &pb.NodeSelectorRequirement{
			Key: t.Ref(requirement.Key), Operation: t.Ref(string(requirement.Operator)),
			Values: t.Refs(requirement.Values),
		})
	}
	return messages
}
