package gate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier"
)

const (
	// Name is the scheduling gate of pods that wait for their nodes.
	Name = "espalier.dev/topology"
	// NodeAnnotation names the node that a pod was given. It is written into all pods of a gang before
	// the first of them loses its gate, so that whoever goes on knows where each of them goes.
	NodeAnnotation = "espalier.dev/assigned-node"
	// DecisionAnnotation tells decisions apart: pods of a gang whose nodes are of several go nowhere.
	DecisionAnnotation = "espalier.dev/decision"

	groupLabel           = "kueue.x-k8s.io/pod-group-name"
	groupCountAnnotation = "kueue.x-k8s.io/pod-group-total-count"
	podSetGroupName      = "kueue.x-k8s.io/podset-group-name"
	completionIndexLabel = "batch.kubernetes.io/job-completion-index"
)

// member is a pod of a gang, with what was written and the informer does not show yet.
type member struct {
	*corev1.Pod
	given
	gated bool
	group group
}

// given is what the annotations of a pod say.
type given struct {
	node     string // empty: none
	decision string // of which the node is
}

func (m *member) key() types.NamespacedName {
	return types.NamespacedName{Namespace: m.Namespace, Name: m.Name}
}

// gang are pods that are placed together or not at all.
type gang struct {
	key       types.NamespacedName
	fixed     bool // it has total pods; else those are the fewest that are placed together
	total     int
	succeeded int
	members   []member // that have not ended, by rank
	problem   string   // why it cannot be placed, whatever is free
	missing   string   // what it waits for beside its pods
}

// isMember returns whether a pod waits for its node here, or was given one.
func isMember(p *corev1.Pod) bool {
	_, given := p.Annotations[NodeAnnotation]
	return given || hasGate(p)
}

func hasGate(p *corev1.Pod) bool {
	return slices.Contains(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: Name})
}

// gangsOf returns the gangs of pods, in the order in which they get their room: by priority, then by
// age.
func gangsOf(members []member) []*gang {
	byKey := map[types.NamespacedName]*gang{}
	for _, m := range members {
		g := byKey[m.group.key]
		if g == nil {
			g = &gang{key: m.group.key, fixed: m.group.fixed, total: m.group.minimum, problem: m.group.problem, missing: m.group.missing}
			byKey[m.group.key] = g
		}
		switch {
		case m.Status.Phase == corev1.PodSucceeded:
			g.succeeded++
		case m.Status.Phase == corev1.PodFailed || m.DeletionTimestamp != nil:
		default:
			g.members = append(g.members, m)
		}
	}
	gangs := slices.Collect(maps.Values(byKey))
	gangs = slices.DeleteFunc(gangs, func(g *gang) bool { return len(g.members) == 0 })
	for _, g := range gangs {
		slices.SortFunc(g.members, byRank)
		g.readTotal()
	}
	slices.SortFunc(gangs, func(a, b *gang) int {
		return cmp.Or(
			cmp.Compare(b.priority(), a.priority()),
			a.members[0].CreationTimestamp.Compare(b.members[0].CreationTimestamp.Time),
			cmp.Compare(a.key.Namespace, b.key.Namespace), cmp.Compare(a.key.Name, b.key.Name))
	})
	return gangs
}

func (g *gang) priority() int32 { return ptr.Deref(g.members[0].Spec.Priority, 0) }

// readTotal reads how many pods the gang is to have.
func (g *gang) readTotal() {
	if !g.fixed {
		return
	}
	first := &g.members[0]
	for i := range g.members {
		m := &g.members[i]
		text := m.Annotations[groupCountAnnotation]
		total, err := strconv.ParseInt(text, 10, 32)
		switch {
		case err != nil || total < 1:
			g.problem = fmt.Sprintf("pod %s: annotation %s is %q; want the number of pods of its group, 1 or more", m.Name, groupCountAnnotation, text)
		case i > 0 && int(total) != g.total:
			g.problem = fmt.Sprintf("pods %s and %s: annotation %s is %d and %d; want the same", first.Name, m.Name, groupCountAnnotation, g.total, total)
		default:
			g.total = int(total)
		}
		if g.problem != "" {
			return
		}
	}
	if present := len(g.members) + g.succeeded; present > g.total {
		g.problem = fmt.Sprintf("it has %d pods, and annotation %s says %d", present, groupCountAnnotation, g.total)
	}
}

// complete returns whether all pods are there that are placed together.
func (g *gang) complete() bool { return g.missing == "" && len(g.members)+g.succeeded >= g.total }

// byRank orders pods by their index, where both have one, then by name.
func byRank(a, b member) int {
	rankA, hasA := rank(a.Pod)
	rankB, hasB := rank(b.Pod)
	if hasA && hasB {
		return cmp.Or(cmp.Compare(rankA, rankB), cmp.Compare(a.Name, b.Name))
	}
	return cmp.Or(-cmp.Compare(boolToInt(hasA), boolToInt(hasB)), cmp.Compare(a.Name, b.Name))
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func rank(p *corev1.Pod) (int64, bool) {
	for _, label := range []string{p.Annotations[kueue.PodGroupPodIndexLabelAnnotation], kueue.PodGroupPodIndexLabel, completionIndexLabel} {
		if label == "" {
			continue
		}
		if index, err := strconv.ParseInt(p.Labels[label], 10, 64); err == nil {
			return index, true
		}
	}
	return 0, false
}

// topologyRequest returns what the group of a pod asks for, else what its annotations do. Errors: what is
// wrong with them, naming the pod.
func topologyRequest(p *member) (*kueue.PodSetTopologyRequest, error) {
	if p.group.request != nil {
		return p.group.request, nil
	}
	r := &kueue.PodSetTopologyRequest{}
	text := func(name string) *string {
		if value := p.Annotations[name]; value != "" {
			return &value
		}
		return nil
	}
	r.Required = text(kueue.PodSetRequiredTopologyAnnotation)
	r.Preferred = text(kueue.PodSetPreferredTopologyAnnotation)
	r.PodSetSliceRequiredTopology = text(kueue.PodSetSliceRequiredTopologyAnnotation)
	r.PodSetGroupName = text(podSetGroupName)
	if size := p.Annotations[kueue.PodSetSliceSizeAnnotation]; size != "" {
		pods, err := strconv.ParseInt(size, 10, 32)
		if err != nil || pods < 1 {
			return nil, fmt.Errorf("pod %s: annotation %s is %q; want a number of pods, 1 or more", p.Name, kueue.PodSetSliceSizeAnnotation, size)
		}
		r.PodSetSliceSize = ptr.To(int32(pods))
	}
	if p.Annotations[kueue.PodSetSliceRequiredTopologyConstraintsAnnotation] != "" {
		return nil, fmt.Errorf("pod %s: annotation %s is not read here; want one layer of slices, by %s", p.Name,
			kueue.PodSetSliceRequiredTopologyConstraintsAnnotation, kueue.PodSetSliceRequiredTopologyAnnotation)
	}
	if (r.PodSetSliceRequiredTopology == nil) != (r.PodSetSliceSize == nil) {
		return nil, fmt.Errorf("pod %s: of the annotations %s and %s one is missing; want both or none", p.Name,
			kueue.PodSetSliceRequiredTopologyAnnotation, kueue.PodSetSliceSizeAnnotation)
	}
	if r.Required == nil && r.Preferred == nil && r.PodSetSliceRequiredTopology == nil {
		r.Unconstrained = ptr.To(true)
	}
	return r, nil
}

// podSet are pods that are alike.
type podSet struct {
	espalier.PodSet
	members []member
}

// podSetsOf groups pods that are alike, in the order of their ranks; all may only use nodes with the
// labels of within. Errors: as topologyRequest.
func podSetsOf(members []member, within map[string]string) ([]podSet, error) {
	var sets []podSet
	at := map[string]int{}
	for _, m := range members {
		request, err := topologyRequest(&m)
		if err != nil {
			return nil, err
		}
		template := corev1.PodSpec{
			Containers: m.Spec.Containers, InitContainers: m.Spec.InitContainers, Resources: m.Spec.Resources,
			Overhead: m.Spec.Overhead, Tolerations: m.Spec.Tolerations, Affinity: m.Spec.Affinity,
			NodeSelector: maps.Clone(m.Spec.NodeSelector),
		}
		if template.NodeSelector == nil {
			template.NodeSelector = map[string]string{}
		}
		maps.Copy(template.NodeSelector, within)
		shape, err := json.Marshal([]any{resourcesOf(&template), template.NodeSelector, template.Tolerations, template.Affinity, request})
		if err != nil {
			return nil, fmt.Errorf("pod %s: %w", m.Name, err)
		}
		i, known := at[string(shape)]
		if !known {
			i = len(sets)
			at[string(shape)] = i
			sets = append(sets, podSet{PodSet: espalier.PodSet{PodSet: kueue.PodSet{
				Name:            kueue.PodSetReference(fmt.Sprintf("pods-%d", i)),
				Template:        corev1.PodTemplateSpec{Spec: template},
				TopologyRequest: request,
			}}})
		}
		sets[i].Count++
		sets[i].members = append(sets[i].members, m)
	}
	return sets, nil
}
