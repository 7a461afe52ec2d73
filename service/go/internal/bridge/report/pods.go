package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"espalier.dev/espalier/internal/bridge/gate"
	"espalier.dev/espalier/internal/resources"
)

// gangsOfPods returns the gangs of a gate. Their pods are drawn on nodes of which the state says that at least
// so much is in use; elsewhere it does not know of all of them, or of some no more.
func (c *contents) gangsOfPods(trees []*tree, found []gate.Gang) []gang {
	onNode := map[string]resources.Amounts{}
	for _, g := range found {
		for _, p := range g.Pods {
			if p.Node != "" {
				addTo(onNode, p.Node, p.Requests.OfPods(1))
			}
		}
	}
	isKnown := func(node string) bool {
		for name, amount := range onNode[node] {
			if amount > c.usage[node][name] {
				return false
			}
		}
		return true
	}
	var gangs []gang
	for _, g := range found {
		shown := gang{Gang: Gang{Name: g.Key.String(), State: "waiting", Status: waits[""], Priority: strconv.FormatInt(int64(g.Priority), 10)}}
		sets := map[string]*podSet{}
		for _, p := range g.Pods {
			set := podSet{name: "pods", requests: p.Requests, requested: "what they ask for is wrong"}
			if len(trees) > 0 {
				set.flavor = trees[0].name // until they have a node: it is the first that is tried
			}
			on := podsOn{pods: 1}
			for _, t := range trees {
				if id, there := t.nodes[p.Node]; there {
					set.flavor, on.leaf = t.name, id
					break
				}
			}
			if at := indexOf(trees, set.flavor); at >= 0 && p.Topology != nil {
				set.requested = trees[at].levels.requested(p.Topology)
			}
			key := fmt.Sprint(set.flavor, set.requested, set.requests)
			if sets[key] == nil {
				sets[key] = &set
			}
			sets[key].pods++
			if p.Node != "" {
				shown.State, shown.Status = "running", "has its nodes"
				if on.leaf == "" { // of no tree, and counted as lost
					on.leaf = p.Node
				}
				if isKnown(p.Node) {
					sets[key].on = append(sets[key].on, on)
				}
			}
		}
		if g.Reason != "" {
			shown.Reasons = []string{g.Reason}
			if shown.State == "running" {
				shown.Status = "not complete"
			}
		}
		for _, key := range slices.Sorted(maps.Keys(sets)) {
			sets[key].on = together(sets[key].on)
			shown.sets = append(shown.sets, *sets[key])
		}
		gangs = append(gangs, shown)
	}
	return gangs
}

// together returns pods with an entry for each leaf.
func together(on []podsOn) []podsOn {
	pods := map[string]int64{}
	for _, o := range on {
		pods[o.leaf] += o.pods
	}
	var list []podsOn
	for _, leaf := range slices.Sorted(maps.Keys(pods)) {
		list = append(list, podsOn{leaf, pods[leaf]})
	}
	return list
}
