package espalier

import (
	"context"
	"fmt"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	pb "espalier.dev/espalier/gen/espalier/v1"
)

// ObjectsOptions say how the workloads of objects are placed; with the zero value each on its own, on
// the current state, as Kueue places.
type ObjectsOptions struct {
	State        Position        // as of PlaceOptions
	Sequential   bool            // as of PlaceOptions
	FeatureGates map[string]bool // as of PlaceOptions
	// GuessFlavor lets a workload whose queue is not among the objects go to the only flavor with a topology.
	GuessFlavor bool
	// Strict lets one object that is wrong fail the call; without it that object is left out alone.
	Strict bool
	// Profile says whether groups inside groups are honoured; unspecified: Kueue's.
	Profile pb.PlacementProfile
	// Commit books all that is placed as usage. It needs Sequential. CommitToken lets a call that is
	// repeated book once.
	Commit      bool
	CommitToken string
}

// ObjectsPlacement holds what became of the workloads of objects, in the order of the queue.
type ObjectsPlacement struct {
	State     Position // it was computed on
	Committed Position // the state with what was placed; zero: nothing was booked
	Workloads []ObjectWorkload
	Warnings  []string // about the objects, a line each
	Notes     []string // what of the objects is not honoured, a sentence each
}

// ObjectOutcome tells what became of a workload of objects.
type ObjectOutcome string

// What becomes of workloads of objects.
const (
	ObjectPlaced    ObjectOutcome = "Placed"
	ObjectNotPlaced ObjectOutcome = "NotPlaced"
	NothingToPlace  ObjectOutcome = "NothingToPlace" // nothing of it needs a topology, or it has no pods
	ObjectWaiting   ObjectOutcome = "Waiting"        // not asked about: the reason says what is missing of it
)

// ObjectWorkload says what became of a workload that objects describe.
type ObjectWorkload struct {
	Namespace, Name string
	Outcome         ObjectOutcome
	Reason          string  // why it was not placed, or not all of it; empty when it was
	Verdict         Verdict // of one that was not placed; empty where it is not known
	// PodSets say where a flat one goes, each with its flavor; of a tree, and of one that was not asked
	// about, there are none.
	PodSets []ObjectPodSet
	Tree    []GroupAnswer // of one that is a tree of groups: every copy of every group, parents first
	// NotHonoured are the requirements that it is placed against, a sentence each.
	NotHonoured []string
}

// ObjectPodSet says where a pod set of so many pods goes.
type ObjectPodSet struct {
	PodSetAnswer
	Pods int32
}

// GroupAnswer says where a group of a tree goes.
type GroupAnswer struct {
	Path   string // from below the root, as replica[2]/workers; empty: the root
	Placed bool
	Whole  bool     // placed, and not only what is required of it
	Level  string   // key of the label of the domain that holds it; empty: anywhere, or it has no pods
	Values []string // of that domain, coarsest first
	// Assignment of a group of pods that is placed, in the order of ranks.
	Assignment *kueue.TopologyAssignment
}

// PlaceObjects answers where the workloads go that objects describe: of all kinds that `espalier place`
// reads from files, as JSON or YAML, one object, a List, or several one after the other. Queues are those
// of the objects; nodes, topologies, flavors and usage are those of the server's state. Errors: what of
// the objects cannot be read, naming object, field and value.
func (c *Client) PlaceObjects(ctx context.Context, options ObjectsOptions, objects []byte) (*ObjectsPlacement, error) {
	mode := pb.PlacementMode_PLACEMENT_MODE_NOMINATE
	if options.Sequential {
		mode = pb.PlacementMode_PLACEMENT_MODE_SEQUENTIAL
	}
	reply, err := pb.NewWorkloadsClient(c.conn).PlaceObjects(ctx, &pb.PlaceObjectsRequest{
		State:        options.State.message(),
		Mode:         mode,
		FeatureGates: options.FeatureGates,
		Objects:      objects,
		GuessFlavor:  options.GuessFlavor,
		Strict:       options.Strict,
		Profile:      options.Profile,
		StateName:    c.stateName,
		Commit:       options.Commit,
		CommitToken:  options.CommitToken,
	})
	if err != nil {
		return nil, fmt.Errorf("place objects: %w", err)
	}
	workloads, err := objectWorkloads(reply)
	if err != nil {
		return nil, fmt.Errorf("place objects: %w", err)
	}
	return &ObjectsPlacement{
		State: positionOf(reply.GetState()), Committed: positionOf(reply.GetCommitted()), Workloads: workloads,
		Warnings: reply.GetWarnings(), Notes: reply.GetNotes(),
	}, nil
}

var objectOutcomes = map[pb.ObjectOutcome]ObjectOutcome{
	pb.ObjectOutcome_OBJECT_OUTCOME_PLACED:           ObjectPlaced,
	pb.ObjectOutcome_OBJECT_OUTCOME_NOT_PLACED:       ObjectNotPlaced,
	pb.ObjectOutcome_OBJECT_OUTCOME_NOTHING_TO_PLACE: NothingToPlace,
	pb.ObjectOutcome_OBJECT_OUTCOME_WAITING:          ObjectWaiting,
}

var verdicts = map[pb.NestedStatus]Verdict{
	pb.NestedStatus_NESTED_STATUS_NOT_NOW:   NotNow,
	pb.NestedStatus_NESTED_STATUS_NEVER:     Never,
	pb.NestedStatus_NESTED_STATUS_UNDECIDED: Undecided,
}

// objectWorkloads reads what became of workloads. Errors: the answer is broken.
func objectWorkloads(reply *pb.PlaceObjectsResponse) ([]ObjectWorkload, error) {
	d := decoder{message: reply.GetAnswers()}
	trees := treeDecoder{decoder{message: &pb.AnswerBatch{Strings: reply.GetNested().GetStrings()}}}
	row, tree := 0, 0
	var workloads []ObjectWorkload
	for _, message := range reply.GetWorkloads() {
		outcome, known := objectOutcomes[message.GetOutcome()]
		if !known {
			d.fail(fmt.Sprintf("the outcome of %s/%s is %v", message.GetNamespace(), message.GetName(), message.GetOutcome()))
		}
		w := ObjectWorkload{
			Namespace: message.GetNamespace(), Name: message.GetName(), Outcome: outcome, Reason: message.GetReason(),
			Verdict: verdicts[message.GetVerdict()], NotHonoured: message.GetNotHonoured(),
		}
		for _, podSet := range message.GetPodSets() {
			asked := PodSet{PodSet: kueue.PodSet{Name: kueue.PodSetReference(podSet.GetName())}, Flavor: podSet.GetFlavor()}
			w.PodSets = append(w.PodSets, ObjectPodSet{PodSetAnswer: d.podSet(&asked, row), Pods: podSet.GetCount()})
			row++
		}
		if message.GetIsNested() {
			for _, group := range at(&trees.decoder, reply.GetNested().GetWorkloads(), tree, "nested").GetGroups() {
				w.Tree = append(w.Tree, trees.group(group))
			}
			tree++
		}
		workloads = append(workloads, w)
	}
	if d.err == nil {
		d.err = trees.err
	}
	return workloads, d.err
}

// treeDecoder reads the groups of trees, whose references point into a table of their own.
type treeDecoder struct{ decoder }

func (d *treeDecoder) group(message *pb.NestedGroupAnswer) GroupAnswer {
	status := message.GetStatus()
	g := GroupAnswer{
		Path: d.text(message.GetPath()), Level: d.text(message.GetLevel()), Values: d.texts(message.GetValues()),
		Whole: status == pb.NestedStatus_NESTED_STATUS_PLACED,
	}
	g.Placed = g.Whole || status == pb.NestedStatus_NESTED_STATUS_PLACED_IN_PART
	assigned := message.GetAssignment()
	if assigned == nil {
		return g
	}
	levels, values := d.texts(assigned.GetLevels()), d.texts(assigned.GetValues())
	if len(values) != len(levels)*len(assigned.GetCounts()) {
		d.fail(fmt.Sprintf("%d domains of %d levels have %d values", len(assigned.GetCounts()), len(levels), len(values)))
		return g
	}
	var domains []Domain
	for i, count := range assigned.GetCounts() {
		domains = append(domains, Domain{Values: values[i*len(levels) : (i+1)*len(levels)], Count: count})
	}
	g.Assignment = NewTopologyAssignment(levels, domains)
	return g
}
