package state

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	pb "espalier.dev/espalier/gen/espalier/v1"
	"espalier.dev/espalier/internal/resources"
	"espalier.dev/espalier/internal/wire"
)

// entriesPerChunk keeps the chunks of a load well below the limit of messages.
const entriesPerChunk = 2000

// Load returns the whole state as the chunks of a LoadState. It counts as sent once Acknowledge is
// called; until then, or GiveBack, no other message may be made.
func (s *Store) Load(stateName, kueueConfiguration string) []*pb.LoadStateRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	w := chunkWriter{}
	w.next()
	w.chunk.StateName = stateName
	w.chunk.KueueConfiguration = kueueConfiguration
	w.chunk.ShareUsageBetweenFlavors = proto.Bool(true)
	end := &pb.LoadStateEnd{}
	for _, name := range s.topologies.takeAll(byName) {
		w.add(func(t *wire.Texts) {
			w.chunk.Topologies = append(w.chunk.Topologies, topologyMessage(s.topologies.want[name], t))
		})
	}
	for _, name := range s.flavors.takeAll(byName) {
		w.add(func(t *wire.Texts) {
			w.chunk.Flavors = append(w.chunk.Flavors, flavorMessage(s.flavors.want[name], t))
		})
	}
	for _, name := range s.nodes.takeAll(byName) {
		end.Nodes++
		w.add(func(t *wire.Texts) {
			w.chunk.Nodes = append(w.chunk.Nodes, nodeMessage(s.nodes.want[name], t))
		})
	}
	for _, name := range s.usage.takeAll(byName) {
		end.NonTasUsage++
		w.add(func(t *wire.Texts) {
			w.chunk.NonTasUsage = append(w.chunk.NonTasUsage, usageMessage(name, s.usage.want[name], t))
		})
	}
	for _, key := range s.leaves.takeAll(byLeaf) {
		end.TasUsage++
		w.add(func(t *wire.Texts) {
			w.chunk.TasUsage = append(w.chunk.TasUsage, leafMessage(key, s.leaves.want[key], t))
		})
	}
	for _, key := range s.workloads.takeAll(byKey) {
		end.Workloads++
		w.add(func(t *wire.Texts) {
			w.chunk.Workloads = append(w.chunk.Workloads, workloadMessage(key, s.workloads.want[key], t))
		})
	}
	w.chunk.End = end
	w.finish()
	return w.chunks
}

// Update returns what changed since the last message that arrived, as an UpdateState without its
// base, or nil where nothing did. As with Load it counts as sent once Acknowledge is called.
func (s *Store) Update(stateName string) *pb.UpdateStateRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	t := wire.NewTexts()
	m := &pb.UpdateStateRequest{}

	set, removed := s.nodes.take(byName)
	m.RemoveNodes = t.Refs(removed)
	for _, name := range set {
		m.UpsertNodes = append(m.UpsertNodes, nodeMessage(s.nodes.want[name], t))
	}
	set, removed = s.usage.take(byName)
	for _, name := range append(set, removed...) {
		m.SetNonTasUsage = append(m.SetNonTasUsage, usageMessage(name, s.usage.want[name], t))
	}
	leaves, gone := s.leaves.take(byLeaf)
	for _, key := range append(leaves, gone...) {
		m.SetTasUsage = append(m.SetTasUsage, leafMessage(key, s.leaves.want[key], t))
	}
	set, removed = s.topologies.take(byName)
	m.RemoveTopologies = t.Refs(removed)
	for _, name := range set {
		m.UpsertTopologies = append(m.UpsertTopologies, topologyMessage(s.topologies.want[name], t))
	}
	set, removed = s.flavors.take(byName)
	m.RemoveFlavors = t.Refs(removed)
	for _, name := range set {
		m.UpsertFlavors = append(m.UpsertFlavors, flavorMessage(s.flavors.want[name], t))
	}
	keys, ended := s.workloads.take(byKey)
	for _, key := range append(keys, ended...) {
		m.SetWorkloads = append(m.SetWorkloads, workloadMessage(key, s.workloads.want[key], t))
	}
	if proto.Size(m) == 0 {
		s.acknowledge()
		return nil
	}
	m.Strings = t.Table()
	m.StateName = stateName
	return m
}

// Acknowledge says that the last message arrived.
func (s *Store) Acknowledge() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acknowledge()
}

func (s *Store) acknowledge() {
	s.nodes.acknowledge()
	s.usage.acknowledge()
	s.leaves.acknowledge()
	s.topologies.acknowledge()
	s.flavors.acknowledge()
	s.workloads.acknowledge()
}

// GiveBack says that the last message changed nothing, so that the next one holds it too.
func (s *Store) GiveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes.giveBack()
	s.usage.giveBack()
	s.leaves.giveBack()
	s.topologies.giveBack()
	s.flavors.giveBack()
	s.workloads.giveBack()
}

// chunkWriter cuts entries into chunks.
type chunkWriter struct {
	chunks  []*pb.LoadStateRequest
	chunk   *pb.LoadStateRequest
	texts   *wire.Texts
	entries int
}

func (w *chunkWriter) next() {
	w.chunk, w.texts, w.entries = &pb.LoadStateRequest{}, wire.NewTexts(), 0
}

func (w *chunkWriter) finish() {
	w.chunk.Strings = w.texts.Table()
	w.chunks = append(w.chunks, w.chunk)
}

func (w *chunkWriter) add(write func(*wire.Texts)) {
	if w.entries == entriesPerChunk {
		w.finish()
		w.next()
	}
	write(w.texts)
	w.entries++
}

func nodeMessage(n node, t *wire.Texts) *pb.Node {
	return &pb.Node{
		Name:          t.Ref(n.name),
		Labels:        t.Map(n.labels),
		Taints:        t.Taints(n.taints),
		Unschedulable: n.unschedulable,
		Ready:         proto.Bool(n.ready),
		Allocatable:   t.Amounts(n.allocatable),
	}
}

func topologyMessage(topology topology, t *wire.Texts) *pb.Topology {
	return &pb.Topology{Name: t.Ref(topology.name), Levels: t.Refs(topology.levels)}
}

func flavorMessage(f flavor, t *wire.Texts) *pb.ResourceFlavor {
	return &pb.ResourceFlavor{
		Name:         t.Ref(f.name),
		NodeLabels:   t.Map(f.nodeLabels),
		NodeTaints:   t.Taints(f.nodeTaints),
		Tolerations:  t.Tolerations(f.tolerations),
		TopologyName: t.Ref(f.topology),
	}
}

func usageMessage(node string, usage nodeUsage, t *wire.Texts) *pb.NodeUsage {
	m := &pb.NodeUsage{Node: t.Ref(node), Usage: t.Amounts(usage.usage)}
	if usage.lasting != nil {
		m.Lasting = t.Amounts(usage.lasting)
	}
	return m
}

func leafMessage(key leaf, usage resources.Amounts, t *wire.Texts) *pb.FlavorLeafUsage {
	return &pb.FlavorLeafUsage{Flavor: t.Ref(key.flavor), Leaf: t.Ref(key.name), Usage: t.Amounts(usage)}
}

func workloadMessage(key types.NamespacedName, w workload, t *wire.Texts) *pb.AdmittedWorkload {
	m := &pb.AdmittedWorkload{
		Namespace:       t.Ref(key.Namespace),
		Name:            t.Ref(key.Name),
		Priority:        w.priority,
		QuotaReservedAt: w.quotaReservedAt,
	}
	for _, at := range slices.SortedFunc(maps.Keys(w.usage), byLeaf) {
		m.Usage = append(m.Usage, leafMessage(at, w.usage[at], t))
	}
	return m
}
