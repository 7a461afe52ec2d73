package gate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier/internal/resources"
)

// Gang is what the last round found and did of a gang, for those who show it.
type Gang struct {
	Key      types.NamespacedName
	Priority int32
	Pods     []Pod  // that have not ended, by rank
	Reason   string // why it, or a part of it, waits; empty: all pods have their nodes
}

// Pod is a pod of a gang.
type Pod struct {
	Node     string // empty: none yet
	Requests resources.Amounts
	Topology *kueue.PodSetTopologyRequest // nil: what it asks for is wrong
}

// Gangs returns the gangs of the last round, in the order in which they get their room.
func (g *Gate) Gangs() []Gang {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shown
}

// Rounds returns how often the gangs have been found anew.
func (g *Gate) Rounds() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rounds
}

// show lets Gangs return what became of plans.
func (g *Gate) show(plans []*plan) {
	gangs := make([]Gang, 0, len(plans))
	for _, p := range plans {
		gang := Gang{Key: p.gang.key, Priority: p.gang.priority(), Reason: p.reason}
		for i := range p.gang.members {
			m := &p.gang.members[i]
			pod := Pod{Node: m.nodeName(), Requests: resourcesOf(&m.Spec)}
			if node, given := p.nodes[m.key()]; given {
				pod.Node = node
			}
			if request, err := topologyRequest(m); err == nil {
				pod.Topology = request
			}
			gang.Pods = append(gang.Pods, pod)
		}
		gangs = append(gangs, gang)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shown = gangs
	g.rounds++
}

// whyIncomplete says what a gang waits for whose pods are not all there.
func (p *plan) whyIncomplete() string {
	if p.away {
		return "pods of it are still on a node that is gone"
	}
	return fmt.Sprintf("%d of %d pods are there", len(p.gang.members)+p.gang.succeeded, p.gang.total)
}
