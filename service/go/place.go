package espalier

import (
	"context"
	"fmt"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	pb "espalier.dev/espalier/gen/espalier/v1"
)

// PlaceOptions say how gangs are placed; with the zero value each on its own, on the current state.
type PlaceOptions struct {
	// State to answer on; StaleState tells of an error whether it is no longer the current one. Zero:
	// the current one.
	State Position
	// Sequential lets each gang find gone what those before it took.
	Sequential bool
	// FeatureGates of Kueue by name; those not named are as the server was started with.
	FeatureGates map[string]bool
	// Hold, in whole seconds from 1 to 86,400, books each gang that is placed as a hold, which counts
	// as usage until it is confirmed, released or expires. It needs Sequential. 0: nothing is booked.
	Hold time.Duration
	// HoldOwner says who holds, for people; empty: the address of this client.
	HoldOwner string
}

// Placement holds the answers to gangs, in their order.
type Placement struct {
	State   Position // they were computed on
	Answers []Answer
	// Holds are the ids of what is held, by gang, with PlaceOptions.Hold; empty where a gang is not
	// placed.
	Holds []string
	// Committed is the state with the holds. Zero: nothing was booked.
	Committed Position
}

// Answer says where a gang goes, or why it does not.
type Answer struct {
	PodSets []PodSetAnswer // in the gang's order
}

// PodSetAnswer says where a pod set goes. With neither an assignment nor a failure it was not
// looked at, as another one of the gang had failed.
type PodSetAnswer struct {
	Name, Flavor string
	Assignment   *kueue.TopologyAssignment
	Failure      *Failure
}

// Failure says why a pod set was not placed.
type Failure struct {
	Reason     string // Kueue's own text
	Fit, Total int64  // pods or slices that would fit, and that were asked for; 0 of a wrong request
}

// Fits returns whether the whole gang is placed.
func (a *Answer) Fits() bool {
	for i := range a.PodSets {
		if a.PodSets[i].Assignment == nil {
			return false
		}
	}
	return len(a.PodSets) > 0
}

// Reason returns why the gang is not placed, in Kueue's words, or an empty text.
func (a *Answer) Reason() string {
	for i := range a.PodSets {
		if a.PodSets[i].Failure != nil {
			return a.PodSets[i].Failure.Reason
		}
	}
	return ""
}

// Place answers where gangs go. A gang that does not fit is an answer. Nothing is booked but with
// PlaceOptions.Hold.
func (c *Client) Place(ctx context.Context, options PlaceOptions, gangs ...Gang) (*Placement, error) {
	mode := pb.PlacementMode_PLACEMENT_MODE_NOMINATE
	if options.Sequential {
		mode = pb.PlacementMode_PLACEMENT_MODE_SEQUENTIAL
	}
	hold, err := wholeSeconds(options.Hold)
	if err != nil {
		return nil, fmt.Errorf("place: %w", err)
	}
	reply, err := c.placement.Place(ctx, &pb.PlaceRequest{
		Commit:       hold != 0,
		HoldSeconds:  hold,
		HoldOwner:    options.HoldOwner,
		State:        options.State.message(),
		Mode:         mode,
		DomainNaming: pb.DomainNaming_DOMAIN_NAMING_NAME,
		FeatureGates: options.FeatureGates,
		Workloads:    batch(gangs),
		StateName:    c.stateName,
	})
	if err != nil {
		return nil, fmt.Errorf("place: %w", err)
	}
	answers, err := decode(gangs, reply.GetAnswers())
	if err != nil {
		return nil, fmt.Errorf("place: %w", err)
	}
	return &Placement{
		State: positionOf(reply.GetState()), Answers: answers,
		Holds: reply.GetHoldIds(), Committed: positionOf(reply.GetCommitted()),
	}, nil
}

// decode reads the answers to gangs. Errors: they are not the answers to these.
func decode(gangs []Gang, message *pb.AnswerBatch) ([]Answer, error) {
	d := decoder{message: message}
	answers := make([]Answer, 0, len(gangs))
	row := 0
	for _, gang := range gangs {
		answer := Answer{}
		for i := range gang.PodSets {
			answer.PodSets = append(answer.PodSets, d.podSet(&gang.PodSets[i], row))
			row++
		}
		answers = append(answers, answer)
	}
	if d.err == nil && row != len(message.GetOutcomes()) {
		d.err = fmt.Errorf("answers to %d pod sets, want %d", len(message.GetOutcomes()), row)
	}
	return answers, d.err
}

// decoder reads an AnswerBatch. The first thing that is wrong stays in err.
type decoder struct {
	message *pb.AnswerBatch
	err     error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("the server's answer is broken: %s", what)
	}
}

// at returns an entry of a list, or the zero value where there is none.
func at[V any, I int | int32 | uint32](d *decoder, list []V, i I, what string) V {
	if i < 0 || int64(i) >= int64(len(list)) {
		d.fail(fmt.Sprintf("%s has no entry %d", what, i))
		var none V
		return none
	}
	return list[i]
}

// text returns the text of a reference.
func (d *decoder) text(ref uint32) string {
	if ref == 0 {
		return ""
	}
	return at(d, d.message.GetStrings(), ref-1, "strings")
}

func (d *decoder) texts(refs []uint32) []string {
	texts := make([]string, 0, len(refs))
	for _, ref := range refs {
		texts = append(texts, d.text(ref))
	}
	return texts
}

func (d *decoder) podSet(asked *PodSet, row int) PodSetAnswer {
	answer := PodSetAnswer{Name: string(asked.Name), Flavor: asked.Flavor}
	switch at(d, d.message.GetOutcomes(), row, "outcomes") {
	case pb.PodSetOutcome_POD_SET_OUTCOME_PLACED:
		answer.Assignment = d.assignment(row)
	case pb.PodSetOutcome_POD_SET_OUTCOME_FAILED:
		failure := at(d, d.message.GetFailureTable(), at(d, d.message.GetFailures(), row, "failures")-1, "failure_table")
		answer.Failure = &Failure{
			Reason: d.text(failure.GetReason()),
			Fit:    failure.GetShortfall().GetFit(),
			Total:  failure.GetShortfall().GetTotal(),
		}
	}
	return answer
}

func (d *decoder) assignment(row int) *kueue.TopologyAssignment {
	levels := d.texts(at(d, d.message.GetLevelLists(), at(d, d.message.GetLevels(), row, "levels")-1, "level_lists").GetLevels())
	first := at(d, d.message.GetDomainOffsets(), row, "domain_offsets")
	end := at(d, d.message.GetDomainOffsets(), row+1, "domain_offsets")
	var domains []Domain
	for i := first; i < end && d.err == nil; i++ {
		named := at(d, d.message.GetNamedDomains(), -1-at(d, d.message.GetDomains(), i, "domains"), "named_domains")
		domain := Domain{Values: d.texts(named.GetValues()), Count: at(d, d.message.GetCounts(), i, "counts")}
		if len(domain.Values) != len(levels) {
			d.fail(fmt.Sprintf("a domain has %d values of %d levels", len(domain.Values), len(levels)))
		}
		domains = append(domains, domain)
	}
	return NewTopologyAssignment(levels, domains)
}
