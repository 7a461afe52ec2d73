package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/resources"
)

// Holds are of an owner, and expire after a time in which a round is surely over: it ends them.
const (
	holdOwner = "espalier-bridge"
	holdTime  = 10 * time.Minute
)

// place asks where gangs go, on one flavor after the other, and holds their room. Errors: the server
// did not answer, or its state changed meanwhile.
func (g *Gate) place(ctx context.Context, plans []*plan) (placed, waiting []*plan, err error) {
	if len(plans) == 0 {
		return nil, nil, nil
	}
	waiting = plans
	err = g.books.Change(ctx, func(ctx context.Context, summary *espalier.Summary) (espalier.Position, error) {
		position := summary.Position
		var reasons []string
		for _, flavor := range summary.Flavors {
			if len(waiting) == 0 {
				break
			}
			if flavor.Levels[len(flavor.Levels)-1] != corev1.LabelHostname {
				reasons = append(reasons, fmt.Sprintf("flavor %s: the lowest level of its topology is not %s", flavor.Name, corev1.LabelHostname))
				continue
			}
			after, err := g.placeOn(ctx, flavor, position, waiting)
			if err != nil {
				return position, err
			}
			if after != (espalier.Position{}) {
				position = after
			}
			waiting = slices.DeleteFunc(slices.Clone(waiting), func(p *plan) bool { return p.nodes != nil })
		}
		for _, p := range waiting {
			if p.reason == "" {
				p.reason = strings.Join(append(reasons, "the state has no flavor with a topology that ends with hosts"), "; ")
			}
		}
		return position, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return slices.DeleteFunc(slices.Clone(plans), func(p *plan) bool { return p.nodes == nil }), waiting, nil
}

// placeOn asks where gangs go on a flavor: those that fit are given nodes and hold their room. It
// returns the position of the state with the holds; the zero one where there are none. Errors: as place.
func (g *Gate) placeOn(ctx context.Context, flavor espalier.Flavor, position espalier.Position, plans []*plan) (espalier.Position, error) {
	var asked []*plan
	var sets [][]podSet
	var gangs []espalier.Gang
	for _, p := range plans {
		of, err := g.gangOf(p, flavor)
		if err != nil {
			p.reason = err.Error()
			continue
		}
		gang := espalier.Gang{Namespace: p.gang.key.Namespace, Name: holdName(p.gang.key.Name)}
		for i := range of {
			of[i].Flavor = flavor.Name
			gang.PodSets = append(gang.PodSets, of[i].PodSet)
		}
		asked, sets, gangs = append(asked, p), append(sets, of), append(gangs, gang)
	}
	if len(asked) == 0 {
		return espalier.Position{}, nil
	}
	options := espalier.PlaceOptions{State: position, Sequential: true}
	if !g.options.DryRun {
		options.Hold, options.HoldOwner = holdTime, holdOwner
		g.holds = true // whatever becomes of the call
	}
	answers, err := g.placer.Place(ctx, options, gangs...)
	if err != nil {
		return espalier.Position{}, err
	}
	for i, p := range asked {
		if !answers.Answers[i].Fits() {
			p.reason = strings.TrimPrefix(p.reason+"; ", "; ") + fmt.Sprintf("flavor %s: %s", flavor.Name, answers.Answers[i].Reason())
			continue
		}
		if p.nodes, err = g.nodesOf(sets[i], &answers.Answers[i]); err != nil {
			p.reason, p.nodes = err.Error(), nil
		} else if len(answers.Holds) > 0 {
			p.hold = answers.Holds[i]
		}
	}
	return answers.Committed, nil
}

// holdName returns a name for the hold of a gang, which is no longer than the server takes.
func holdName(name string) string {
	const most = 253
	if len(name) <= most {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:most-17] + "-" + hex.EncodeToString(sum[:8])
}

// endHolds ends all holds of this owner: those of gangs whose pods say their nodes are confirmed, as the
// mirror has reported these pods as usage; the others are released. Errors: the server did not answer.
func (g *Gate) endHolds(ctx context.Context, written map[string]struct{}) error {
	if !g.holds {
		return nil
	}
	err := g.books.Change(ctx, func(ctx context.Context, summary *espalier.Summary) (espalier.Position, error) {
		position := summary.Position
		// Asked, as a server that was started anew has none, and one of a bridge that ended may have some.
		holds, err := g.placer.Holds(ctx)
		if err != nil {
			return position, err
		}
		var confirmed, released []string
		for _, hold := range holds {
			if _, is := written[hold.ID]; is {
				confirmed = append(confirmed, hold.ID)
			} else if hold.Owner == holdOwner {
				released = append(released, hold.ID)
			}
		}
		if len(confirmed) > 0 {
			after, err := g.placer.ConfirmHolds(ctx, nil, confirmed...)
			if err != nil {
				return position, err
			}
			position = after
		}
		if len(released) > 0 {
			after, err := g.placer.ReleaseHolds(ctx, released...)
			if err != nil {
				return position, err
			}
			position = after
		}
		return position, nil
	})
	g.holds = err != nil
	return err
}

// gangOf returns the pods that are to be placed, next to those of the gang that have their nodes.
func (g *Gate) gangOf(p *plan, flavor espalier.Flavor) ([]podSet, error) {
	p.within = map[string]string{}
	for _, survivor := range p.keep {
		request, err := topologyRequest(&survivor)
		if err != nil {
			return nil, err
		}
		if request.PodSetSliceRequiredTopology != nil {
			return nil, fmt.Errorf("pods of a gang of slices are not replaced while others of it run: delete all of them to have the gang placed anew")
		}
		node, err := g.nodes.Get(survivor.nodeName())
		if err != nil || request.Required == nil {
			continue
		}
		level := slices.Index(flavor.Levels, *request.Required)
		for i := 0; i <= level; i++ {
			p.within[flavor.Levels[i]] = node.Labels[flavor.Levels[i]]
		}
		break
	}
	return podSetsOf(p.place, p.within)
}

func (m *member) nodeName() string {
	if m.Spec.NodeName != "" {
		return m.Spec.NodeName
	}
	return m.node
}

// nodesOf gives the pods of each set, by rank, the nodes of its assignment in order. Errors: a node
// is no longer there.
func (g *Gate) nodesOf(sets []podSet, answer *espalier.Answer) (map[types.NamespacedName]string, error) {
	nodes := map[types.NamespacedName]string{}
	for i, set := range sets {
		members := set.members
		for _, domain := range espalier.Domains(answer.PodSets[i].Assignment) {
			host := domain.Values[len(domain.Values)-1]
			node, err := g.nodeOf(host)
			if err != nil {
				return nil, err
			}
			for range domain.Count {
				if len(members) == 0 {
					return nil, fmt.Errorf("the assignment has more places than pods")
				}
				nodes[members[0].key()] = node
				members = members[1:]
			}
		}
		if len(members) > 0 {
			return nil, fmt.Errorf("the assignment has no place for %d pods", len(members))
		}
	}
	return nodes, nil
}

// nodeOf returns the name of the node with a hostname, which mostly are the same.
func (g *Gate) nodeOf(host string) (string, error) {
	if node, err := g.nodes.Get(host); err == nil && node.Labels[corev1.LabelHostname] == host {
		return host, nil
	}
	nodes, err := g.nodes.List(labels.SelectorFromSet(labels.Set{corev1.LabelHostname: host}))
	if err != nil || len(nodes) != 1 {
		return "", fmt.Errorf("%d nodes have the label %s=%s; want one", len(nodes), corev1.LabelHostname, host)
	}
	return nodes[0].Name, nil
}

func resourcesOf(spec *corev1.PodSpec) resources.Amounts {
	return resources.OfPod(spec, resources.Surroundings{})
}
