package espalier

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	pb "espalier.dev/espalier/gen/espalier/v1"
)

// Verdict tells what can never be from what only waits.
type Verdict string

// The verdicts on a gang.
const (
	Fits      Verdict = "Fits"
	NotNow    Verdict = "NotNow"    // the nodes could hold it, were they empty
	Never     Verdict = "Never"     // not even then
	Undecided Verdict = "Undecided" // neither is proven
)

// Explanation says why a gang does not fit, and what little would change that.
type Explanation struct {
	State   Position
	Verdict Verdict
	Answer  Answer
	// Nearest is the domain that comes nearest to holding a pod set; nil where there is none.
	Nearest *NearMiss
	// Changes after which it fits, each one alone, as sentences.
	Changes []string
}

// NearMiss is a domain that does not hold what is asked for.
type NearMiss struct {
	PodSet string   `json:"podSet"`
	Flavor string   `json:"flavor"`
	Level  string   `json:"level,omitempty"`  // key of a label; empty: the whole flavor is not enough
	Values []string `json:"values,omitempty"` // of the domain, coarsest first
	Fit    int64    `json:"fit"`              // pods that it holds
	Pods   int64    `json:"pods"`             // that were to fit
	// Binding are the resources that are short, the scarcest first.
	Binding []string `json:"binding,omitempty"`
	// RuledOut says what of selector, affinity and taints keeps pods from its nodes, most first.
	RuledOut []string `json:"ruledOut,omitempty"`
}

// Explain answers why gangs do not fit, in their order. Quota is not looked at.
func (c *Client) Explain(ctx context.Context, options PlaceOptions, gangs ...Gang) ([]Explanation, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream where it is not read to its end
	stream, err := c.questions.Explain(ctx, &pb.ExplainRequest{
		State:        options.State.message(),
		FeatureGates: options.FeatureGates,
		DomainNaming: pb.DomainNaming_DOMAIN_NAMING_NAME,
		Workloads:    batch(gangs),
		StateName:    c.stateName,
	})
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	var explanations []Explanation
	for {
		reply, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
		if len(explanations) == len(gangs) {
			return nil, fmt.Errorf("explain: more answers than the %d gangs", len(gangs))
		}
		explanation, err := explanationOf(gangs[len(explanations)], reply)
		if err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
		explanations = append(explanations, explanation)
	}
	if len(explanations) != len(gangs) {
		return nil, fmt.Errorf("explain: %d answers to %d gangs", len(explanations), len(gangs))
	}
	return explanations, nil
}

func explanationOf(gang Gang, reply *pb.ExplainResponse) (Explanation, error) {
	answers, err := decode([]Gang{gang}, reply.GetAnswers())
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{State: positionOf(reply.GetState()), Answer: answers[0], Verdict: NotNow}
	switch {
	case reply.GetFits():
		e.Verdict = Fits
	case reply.GetNever():
		e.Verdict = Never
	case reply.GetUndecided():
		e.Verdict = Undecided
	}
	if near := reply.GetNearMiss(); near != nil {
		e.Nearest = &NearMiss{
			PodSet: near.GetPodSet(), Flavor: near.GetFlavor(), Level: near.GetLevel(),
			Values: near.GetValues(), Fit: near.GetFit(), Pods: near.GetPods(),
		}
		for _, binding := range near.GetBinding() {
			e.Nearest.Binding = append(e.Nearest.Binding, binding.GetResource())
		}
		for _, ruled := range near.GetRuledOut() {
			e.Nearest.RuledOut = append(e.Nearest.RuledOut, fmt.Sprintf("%s: %d nodes", ruled.GetBy(), ruled.GetNodes()))
		}
	}
	e.Changes = changesOf(reply)
	return e, nil
}

// changesOf returns a sentence for each kind of change, the smallest first.
func changesOf(reply *pb.ExplainResponse) []string {
	var changes []string
	add := func(format string, values ...any) { changes = append(changes, fmt.Sprintf(format, values...)) }
	if nodes := reply.GetRepairedNodes(); len(nodes) > 0 {
		add("one of these nodes in service again: %s", some(nodes))
	}
	if nodes := reply.GetRepairedTogether(); len(nodes) > 0 {
		add("these nodes in service again, together: %s", some(nodes))
	}
	for _, labelled := range reply.GetLabelled() {
		add("label %s=%s on %s", labelled.GetLabel(), labelled.GetValue(), some(labelled.GetNodes()))
	}
	if flavors := reply.GetOtherFlavors(); len(flavors) > 0 {
		add("another flavor: %s", some(flavors))
	}
	if pods := reply.GetFewerPods(); pods > 0 {
		add("at most %d pods", pods)
	}
	if level := reply.GetCoarserLevel(); level != "" {
		add("level %s", level)
	}
	if reply.GetAnywhere() {
		add("no required level")
	}
	if size := reply.GetSliceSize(); size > 0 {
		add("slices of %d pods", size)
	}
	for _, lower := range reply.GetLowerRequests() {
		add("at most %s %s for each pod", amount(lower.GetResource(), lower.GetAmount()), lower.GetResource())
	}
	for _, part := range reply.GetWithout() {
		add("without %s", part)
	}
	if taints := reply.GetTolerated(); len(taints) > 0 {
		add("a toleration of %s", some(taints))
	}
	var gone []string
	for _, workload := range reply.GetGone() {
		gone = append(gone, workload.GetNamespace()+"/"+workload.GetName())
	}
	if len(gone) > 0 {
		add("the end of one of these workloads: %s", some(gone))
	}
	return changes
}

// amount writes an amount in canonical units as people do.
func amount(resource string, value int64) string {
	if resource == "cpu" && value%1000 != 0 {
		return strconv.FormatInt(value, 10) + "m"
	} else if resource == "cpu" {
		value /= 1000
	}
	return strconv.FormatInt(value, 10)
}

// some lists texts, and of many the first.
func some(texts []string) string {
	const most = 5
	if len(texts) <= most {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:most], ", "), len(texts)-most)
}
