package report

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/types"

	"espalier.dev/espalier"
	pb "espalier.dev/espalier/gen/espalier/v1"
	"espalier.dev/espalier/internal/resources"
	"espalier.dev/espalier/internal/wire"
)

// contents are what a server's state holds at one position, as far as the page shows it.
type contents struct {
	state      *pb.StatePosition
	topologies map[string][]string // levels, coarsest first, by name
	flavors    []flavor
	nodes      []node
	usage      map[string]resources.Amounts // of pods of no workload, by node
	leaves     map[leaf]resources.Amounts   // of workloads that have no entry, and of holds
	workloads  map[types.NamespacedName]*workload
	shared     bool // flavors whose leaves are hosts see each other's usage
}

type flavor struct {
	name, topology string
	nodeLabels     map[string]string
}

type node struct {
	name        string
	inService   bool
	labels      map[string]string
	allocatable resources.Amounts
}

// leaf names a leaf of a flavor, by its hostname or by all its values with commas between.
type leaf struct{ flavor, id string }

// workload is what the state knows of one that is admitted.
type workload struct {
	priority int32
	usage    map[leaf]resources.Amounts
}

func addTo[K comparable](usage map[K]resources.Amounts, key K, amounts resources.Amounts) {
	if usage[key] == nil {
		usage[key] = resources.Amounts{}
	}
	usage[key].Add(amounts)
}

// read returns what the server's state holds now.
func read(ctx context.Context, client *espalier.Client) (*contents, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream where it is not read to its end
	stream, err := pb.NewClusterStateClient(client.Conn()).ReadState(ctx, &pb.ReadStateRequest{StateName: client.StateName()})
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	c := &contents{
		topologies: map[string][]string{}, usage: map[string]resources.Amounts{},
		leaves: map[leaf]resources.Amounts{}, workloads: map[types.NamespacedName]*workload{}, shared: true,
	}
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the state: %w", err)
		}
		c.state = message.GetState()
		c.add(message)
	}
}

func (c *contents) add(message *pb.ReadStateResponse) {
	chunk := message.GetChunk()
	r := wire.Reader(chunk.GetStrings())
	for _, t := range chunk.GetTopologies() {
		c.topologies[r.Text(t.GetName())] = r.Texts(t.GetLevels())
	}
	for _, f := range chunk.GetFlavors() {
		c.flavors = append(c.flavors, flavor{r.Text(f.GetName()), r.Text(f.GetTopologyName()), r.Map(f.GetNodeLabels())})
	}
	for _, n := range chunk.GetNodes() {
		c.nodes = append(c.nodes, node{
			r.Text(n.GetName()), n.GetReady() && !n.GetUnschedulable(), r.Map(n.GetLabels()), r.Amounts(n.GetAllocatable()),
		})
	}
	for _, u := range chunk.GetNonTasUsage() {
		addTo(c.usage, r.Text(u.GetNode()), r.Amounts(u.GetUsage()))
	}
	leafOf := func(u *pb.FlavorLeafUsage) leaf { return leaf{r.Text(u.GetFlavor()), r.Text(u.GetLeaf())} }
	for _, list := range [][]*pb.FlavorLeafUsage{chunk.GetTasUsage(), message.GetHeldUsage()} {
		for _, u := range list {
			addTo(c.leaves, leafOf(u), r.Amounts(u.GetUsage()))
		}
	}
	for _, w := range chunk.GetWorkloads() {
		known := &workload{w.GetPriority(), map[leaf]resources.Amounts{}}
		for _, u := range w.GetUsage() {
			addTo(known.usage, leafOf(u), r.Amounts(u.GetUsage()))
		}
		c.workloads[types.NamespacedName{Namespace: r.Text(w.GetNamespace()), Name: r.Text(w.GetName())}] = known
	}
	if chunk.ShareUsageBetweenFlavors != nil {
		c.shared = chunk.GetShareUsageBetweenFlavors()
	}
}
