package espalier

import (
	"context"
	"fmt"
	"io"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	pb "espalier.dev/espalier/gen/espalier/v1"
	"espalier.dev/espalier/internal/state"
	"espalier.dev/espalier/internal/wire"
)

// Decision is what a scheduler decided about a gang.
type Decision struct {
	Gang
	Assignments []*kueue.TopologyAssignment // by pod set
}

// DecisionOf returns what an admitted workload was given on flavors with a topology, with the counts
// of its admission, or false where it was given nothing there.
func DecisionOf(workload *kueue.Workload, hasTopology func(flavor string) bool) (Decision, bool) {
	d := Decision{Gang: Gang{Namespace: workload.Namespace, Name: workload.Name}}
	if !state.HoldsRoom(workload) {
		return d, false
	}
	for _, podSet := range workload.Spec.PodSets {
		for _, given := range workload.Status.Admission.PodSetAssignments {
			if given.Name != podSet.Name || given.TopologyAssignment == nil {
				continue
			}
			flavor := state.FlavorOf(given, hasTopology)
			if flavor == "" {
				continue
			}
			if given.Count != nil {
				podSet.Count = *given.Count
			}
			d.PodSets = append(d.PodSets, PodSet{PodSet: podSet, Flavor: flavor})
			d.Assignments = append(d.Assignments, given.TopologyAssignment)
		}
	}
	return d, len(d.PodSets) > 0
}

// Replay answers what would have been decided in the place of each decision, one after the other: on
// what is free at its turn, after which what was decided counts as used. What the state knows of these
// gangs counts as free at the start, so that it may be the one before or after.
func (c *Client) Replay(ctx context.Context, options PlaceOptions, decisions ...Decision) ([]Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := wire.NewTexts()
	request := &pb.ReplayRequest{
		State: options.State.message(), FeatureGates: options.FeatureGates,
		DomainNaming: pb.DomainNaming_DOMAIN_NAMING_NAME, StateName: c.stateName,
	}
	gangs := make([]Gang, 0, len(decisions))
	for i := range decisions {
		gangs = append(gangs, decisions[i].Gang)
		chosen := &pb.ChosenPlace{Workload: uint32(i)}
		for p, assignment := range decisions[i].Assignments {
			podSet := &decisions[i].PodSets[p]
			for _, domain := range Domains(assignment) {
				chosen.Usage = append(chosen.Usage, &pb.FlavorLeafUsage{
					Flavor: t.Ref(podSet.Flavor),
					Leaf:   t.Ref(strings.Join(domain.Values, ",")),
					Usage:  t.Amounts(podSet.requests().OfPods(int64(domain.Count))),
				})
			}
		}
		request.Chosen = append(request.Chosen, chosen)
	}
	request.Workloads, request.Strings = batch(gangs), t.Table()
	stream, err := c.questions.Replay(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	var answers []Answer
	for {
		reply, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		if len(answers) == len(gangs) {
			return nil, fmt.Errorf("replay: more answers than the %d decisions", len(gangs))
		}
		decoded, err := decode(gangs[len(answers):len(answers)+1], reply.GetAnswers())
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		answers = append(answers, decoded[0])
	}
	if len(answers) != len(gangs) {
		return nil, fmt.Errorf("replay: %d answers to %d decisions", len(answers), len(gangs))
	}
	return answers, nil
}
