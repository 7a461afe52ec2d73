package espalier

import (
	"google.golang.org/protobuf/proto"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	pb "espalier.dev/espalier/gen/espalier/v1"
	"espalier.dev/espalier/internal/resources"
	"espalier.dev/espalier/internal/wire"
)

// Gang is a workload to place: all its pod sets or nothing.
type Gang struct {
	Namespace, Name string // for messages of the server only
	PodSets         []PodSet
}

// PodSet is a number of pods that are alike, on one flavor.
type PodSet struct {
	kueue.PodSet
	Flavor string // with a topology, of the server's state
	// Requests of a pod, in canonical units: cpu in thousandths of a core, all else in whole units.
	// nil: those of the template.
	Requests map[string]int64
}

// GangOf returns a workload with all its pod sets on one flavor.
func GangOf(workload *kueue.Workload, flavor string) Gang {
	gang := Gang{Namespace: workload.Namespace, Name: workload.Name}
	for _, podSet := range workload.Spec.PodSets {
		gang.PodSets = append(gang.PodSets, PodSet{PodSet: podSet, Flavor: flavor})
	}
	return gang
}

// requests returns what a pod of the set requests, in canonical units.
func (p *PodSet) requests() resources.Amounts {
	if p.Requests != nil {
		return p.Requests
	}
	return resources.OfPod(&p.Template.Spec, resources.Surroundings{})
}

// batch returns gangs as the server takes them.
func batch(gangs []Gang) *pb.WorkloadBatch {
	t := wire.NewTexts()
	b := &pb.WorkloadBatch{}
	vectors, requests, constraints := rows{}, rows{}, rows{}
	if len(gangs) > 0 {
		b.PodSetOffsets = append(b.PodSetOffsets, 0)
	}
	for _, gang := range gangs {
		b.Namespaces = append(b.Namespaces, t.Ref(gang.Namespace))
		b.Names = append(b.Names, t.Ref(gang.Name))
		for i := range gang.PodSets {
			podSet := &gang.PodSets[i]
			b.PodSetNames = append(b.PodSetNames, t.Ref(string(podSet.Name)))
			b.PodSetFlavors = append(b.PodSetFlavors, t.Ref(podSet.Flavor))
			b.PodSetCounts = append(b.PodSetCounts, podSet.Count)
			vector := t.Amounts(podSet.requests())
			b.PodSetRequests = append(b.PodSetRequests, vectors.ref(vector, func() { b.Resources = append(b.Resources, vector) }))
			asked, group, row := podSet.TopologyRequest, uint32(0), uint32(0)
			if asked != nil {
				request := topologyRequest(asked, t)
				row = requests.ref(request, func() { b.TopologyRequests = append(b.TopologyRequests, request) })
				group = t.RefTo(asked.PodSetGroupName)
			}
			b.PodSetTopologyRequests = append(b.PodSetTopologyRequests, row)
			b.PodSetGroups = append(b.PodSetGroups, group)
			b.PodSetImplied = append(b.PodSetImplied, !podSet.AsksForTopology())
			row = 0
			if on := t.Constraints(&podSet.Template.Spec); on != nil {
				row = constraints.ref(on, func() { b.NodeConstraints = append(b.NodeConstraints, on) })
			}
			b.PodSetNodeConstraints = append(b.PodSetNodeConstraints, row)
		}
		b.PodSetOffsets = append(b.PodSetOffsets, uint32(len(b.PodSetNames)))
	}
	b.Strings = t.Table()
	return b
}

// AsksForTopology returns whether a pod set asks for topology-aware scheduling itself. Others are
// only placed where all flavors of their queue have a topology.
func (p *PodSet) AsksForTopology() bool {
	request := p.TopologyRequest
	return request != nil && (request.Required != nil || request.Preferred != nil ||
		request.Unconstrained != nil || request.PodSetSliceRequiredTopology != nil ||
		request.PodSetSliceSize != nil ||
		len(request.PodsetSliceRequiredTopologyConstraints) > 0)
}

func topologyRequest(request *kueue.PodSetTopologyRequest, t *wire.Texts) *pb.TopologyRequest {
	message := &pb.TopologyRequest{
		Required:           t.RefTo(request.Required),
		Preferred:          t.RefTo(request.Preferred),
		Unconstrained:      request.Unconstrained,
		SliceTopology:      t.RefTo(request.PodSetSliceRequiredTopology),
		SliceSize:          request.PodSetSliceSize,
		PodSetGroupName:    t.RefTo(request.PodSetGroupName),
		PodIndexLabel:      t.RefTo(request.PodIndexLabel),
		SubGroupIndexLabel: t.RefTo(request.SubGroupIndexLabel),
		SubGroupCount:      request.SubGroupCount,
	}
	for _, slice := range request.PodsetSliceRequiredTopologyConstraints {
		message.SliceConstraints = append(message.SliceConstraints, &pb.SliceConstraint{
			Topology: t.Ref(slice.Topology), Size: slice.Size,
		})
	}
	return message
}

// rows finds rows of a table that are there already.
type rows map[string]uint32

// ref returns the reference to a row, which add puts into the table where it is new.
func (r rows) ref(row proto.Message, add func()) uint32 {
	// What cannot be marshalled, as a text that is not UTF-8, fails with the call.
	bytes, _ := proto.MarshalOptions{Deterministic: true}.Marshal(row)
	ref, known := r[string(bytes)]
	if !known {
		add()
		ref = uint32(len(r) + 1)
		r[string(bytes)] = ref
	}
	return ref
}
