package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge/explain"
	"espalier.dev/espalier/internal/resources"
	"espalier.dev/espalier/internal/state"
)

// gang is one that is shown, before the resource that is drawn is known.
type gang struct {
	Gang
	sets    []podSet
	nearest *espalier.NearMiss
	when    string // that is
}

type podSet struct {
	name, flavor, requested string
	pods                    int64
	requests                resources.Amounts // of a pod
	on                      []podsOn          // empty: it is not in a topology
}

// podsOn are pods on a leaf, which the flavor may not have any more.
type podsOn struct {
	leaf string
	pods int64
}

// onLeaf is the same of a leaf that is there.
type onLeaf struct {
	leaf int
	pods int64
}

// gangs returns what the state knows of gangs in the words of their Workloads, and which wait. Whom the state
// gives room is running; where a Workload says something else of that, it has changed since or is one of
// several slices of a job, and the state is right.
func (c *contents) gangs(trees []*tree, workloads []*kueue.Workload, reports Reports) []gang {
	objects := make(map[types.NamespacedName]*kueue.Workload, len(workloads))
	for _, w := range workloads {
		objects[types.NamespacedName{Namespace: w.Namespace, Name: w.Name}] = w
	}
	keys := maps.Clone(c.workloads)
	for key, w := range objects {
		if _, known := keys[key]; !known && (state.HoldsRoom(w) || explain.Waits(w)) {
			keys[key] = nil
		}
	}
	names := map[string]levelNames{}
	for _, t := range trees {
		names[t.name] = t.levels
	}
	var gangs []gang
	for _, key := range slices.SortedFunc(maps.Keys(keys), func(a, b types.NamespacedName) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	}) {
		known, w := keys[key], objects[key]
		switch {
		case known != nil && (w == nil || !state.HoldsRoom(w)):
			g := gang{Gang: Gang{Name: key.String(), State: "running", Status: "running", Priority: strconv.FormatInt(int64(known.priority), 10)}}
			g.sets = known.podSets()
			gangs = append(gangs, g)
		case state.HoldsRoom(w):
			gangs = append(gangs, runningGang(key, w, known, names))
		default:
			gangs = append(gangs, waitingGang(key, w, reports, names))
		}
	}
	return gangs
}

func runningGang(key types.NamespacedName, w *kueue.Workload, known *workload, names map[string]levelNames) gang {
	g := gang{Gang: Gang{
		Name: key.String(), State: "running", Status: "quota reserved", Queue: string(w.Status.Admission.ClusterQueue),
		Priority: priorityOf(w),
	}}
	if meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadAdmitted) {
		g.Status = "running"
	}
	usage := map[leaf]resources.Amounts{}
	for _, assigned := range w.Status.Admission.PodSetAssignments {
		at := slices.IndexFunc(w.Spec.PodSets, func(p kueue.PodSet) bool { return p.Name == assigned.Name })
		if at < 0 {
			continue
		}
		of := &w.Spec.PodSets[at]
		p := podSet{
			name: string(of.Name), requested: "a flavor without a topology",
			pods: int64(ptr.Deref(assigned.Count, of.Count)), requests: resources.OfPod(&of.Template.Spec, resources.Surroundings{}),
		}
		if p.flavor = state.FlavorOf(assigned, func(name string) bool { _, has := names[name]; return has }); p.flavor != "" {
			p.requested = names[p.flavor].requested(of.TopologyRequest)
			if assigned.TopologyAssignment != nil {
				for _, domain := range espalier.Domains(assigned.TopologyAssignment) {
					on := podsOn{strings.Join(domain.Values, ","), int64(domain.Count)}
					p.on = append(p.on, on)
					addTo(usage, leaf{p.flavor, on.leaf}, p.requests.OfPods(on.pods).WithoutZeros())
				}
			}
		}
		g.sets = append(g.sets, p)
	}
	switch {
	case known == nil: // nothing of it is in a topology, or the state counts it under another slice of its job
		for i := range g.sets {
			g.sets[i].on = nil
		}
	case !maps.EqualFunc(usage, known.usage, maps.Equal[resources.Amounts, resources.Amounts]):
		g.sets = known.podSets()
	}
	return g
}

// podSets returns pods that are alike, as far as the usage of leaves tells: what does not divide by them stays
// with what others use.
func (w *workload) podSets() []podSet {
	sets := map[string]*podSet{}
	for at, amounts := range w.usage {
		pods := max(amounts[resources.Pods], 1)
		requests := resources.Amounts{}
		for name, amount := range amounts {
			if name != resources.Pods {
				requests[name] = amount / pods
			}
		}
		key := fmt.Sprint(at.flavor, requests)
		if sets[key] == nil {
			sets[key] = &podSet{name: "pods", flavor: at.flavor, requested: "as the state has them", requests: requests}
		}
		sets[key].pods += pods
		sets[key].on = append(sets[key].on, podsOn{at.id, pods})
	}
	var list []podSet
	for _, key := range slices.Sorted(maps.Keys(sets)) {
		slices.SortFunc(sets[key].on, func(a, b podsOn) int { return strings.Compare(a.leaf, b.leaf) })
		list = append(list, *sets[key])
	}
	return list
}

// waits are short words for verdicts.
var waits = map[espalier.Verdict]string{
	espalier.Fits: "waits, there is room", espalier.NotNow: "no room now", espalier.Undecided: "no room now",
	espalier.Never: "never fits", "": "waits",
}

func waitingGang(key types.NamespacedName, w *kueue.Workload, reports Reports, names map[string]levelNames) gang {
	g := gang{Gang: Gang{Name: key.String(), State: "waiting", Status: waits[""], Priority: priorityOf(w)}}
	flavor := ""
	if reports != nil {
		if report, told := reports.Report(key); told {
			g.Status, g.Queue = waits[report.Verdict], report.ClusterQueue
			at := "when asked at " + report.At.UTC().Format(time.TimeOnly)
			g.Reasons = []string{report.Sentence() + "; " + at}
			if best := report.Best(); best != nil {
				flavor, g.Changes, g.nearest, g.when = best.Flavor, best.Changes, best.Nearest, at
				if best.Reason != "" {
					g.Reasons = append(g.Reasons, best.Reason)
				}
			}
		}
	}
	for i := range w.Spec.PodSets {
		of := &w.Spec.PodSets[i]
		g.sets = append(g.sets, podSet{
			name: string(of.Name), flavor: flavor, requested: names[flavor].requested(of.TopologyRequest),
			pods: int64(of.Count), requests: resources.OfPod(&of.Template.Spec, resources.Surroundings{}),
		})
	}
	return g
}

func priorityOf(w *kueue.Workload) string {
	return strconv.FormatInt(int64(ptr.Deref(w.Spec.Priority, 0)), 10)
}
