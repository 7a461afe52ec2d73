// Package report makes the data of the page of reports out of what a server's state holds at one position: its
// topology with what is free, and gangs with why each waits.
package report

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	listers "sigs.k8s.io/kueue/client-go/listers/kueue/v1beta2"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge/explain"
	"espalier.dev/espalier/internal/bridge/gate"
)

// Reports tells why workloads wait.
type Reports interface {
	Report(types.NamespacedName) (explain.Report, bool)
	Rounds() uint64
}

// Gate tells of gangs of pods that it places.
type Gate interface {
	Gangs() []gate.Gang
	Rounds() uint64
}

// Options are what a report is of.
type Options struct {
	Client    *espalier.Client
	Workloads listers.WorkloadLister // nil: the cluster has no Kueue
	Reports   Reports                // nil: workloads are not explained
	Gate      Gate                   // nil: pods are not placed
	Links     [][2]string            // texts and addresses of other pages
	Clock     clock.PassiveClock
}

// Live is a report that is made anew whenever something has changed since it was asked for last.
type Live struct {
	options Options
	changed atomic.Uint64 // grows with every change of a Workload
	turn    chan struct{} // held by the one who makes it, and guards made
	made    made
}

// version tells contents apart.
type version struct {
	position        espalier.Position
	changed, rounds uint64
}

type made struct {
	version version
	facts   string
	body    []byte // nil: nothing was made yet
}

// New returns a report.
func New(options Options) *Live {
	return &Live{options: options, turn: make(chan struct{}, 1)}
}

// Notify tells of an object that changed.
func (l *Live) Notify(object any) {
	if _, is := object.(*kueue.Workload); is {
		l.changed.Add(1)
	}
}

// Document returns the report as JSON without any '<': of the state that is current, with the gang that is to be
// shown first, and what is to be said of it all. One is made at a time. Errors: the server did not answer.
func (l *Live) Document(ctx context.Context, about, remark string) ([]byte, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("report: others are served: %w", ctx.Err())
	}
	m, err := l.current(ctx)
	now := l.options.Clock.Now()
	<-l.turn
	if err != nil {
		return nil, err
	}
	head := Head{
		Command: "espalier-bridge", About: about, Links: l.options.Links,
		Facts: fmt.Sprintf("State %v, current at %s\n%s", m.version.position, now.UTC().Format("2006-01-02 15:04:05 MST"), m.facts),
	}
	if remark != "" {
		head.Facts += "\n" + remark
	}
	document, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	document = visible(document)
	document[len(document)-1] = ','
	return append(document, m.body[1:]...), nil
}

// visible returns JSON in whose texts what nobody sees, or turns text around, stands as \xHH, as in all reports.
func visible(document []byte) []byte {
	seen := make([]byte, 0, len(document))
	for _, r := range string(document) {
		if r < utf8.RuneSelf || unicode.IsPrint(r) {
			seen = utf8.AppendRune(seen, r)
			continue
		}
		for _, b := range []byte(string(r)) {
			seen = fmt.Appendf(seen, `\\x%02x`, b)
		}
	}
	return seen
}

// current returns the report of the state that is current.
func (l *Live) current(ctx context.Context) (made, error) {
	// Looked at before what they count, so that what comes meanwhile makes it anew.
	v := version{changed: l.changed.Load()}
	if l.options.Reports != nil {
		v.rounds = l.options.Reports.Rounds()
	}
	if l.options.Gate != nil {
		v.rounds += l.options.Gate.Rounds() // both only grow
	}
	summary, err := l.options.Client.Summary(ctx)
	if err != nil {
		return made{}, err
	}
	if v.position = summary.Position; l.made.body != nil && l.made.version == v {
		return l.made, nil
	}
	c, err := read(ctx, l.options.Client)
	if err != nil {
		return made{}, err
	}
	v.position = espalier.Position{Epoch: c.state.GetEpoch(), Generation: c.state.GetGeneration()}
	var workloads []*kueue.Workload
	if l.options.Workloads != nil {
		if workloads, err = l.options.Workloads.List(labels.Everything()); err != nil {
			return made{}, fmt.Errorf("workloads: %w", err)
		}
	}
	trees := c.plantAll()
	gangs := c.gangs(trees, workloads, l.options.Reports)
	if l.options.Gate != nil {
		gangs = append(gangs, c.gangsOfPods(trees, l.options.Gate.Gangs())...)
	}
	l.made = made{version: v, facts: c.facts(trees)}
	if l.made.body, err = json.Marshal(body(trees, gangs)); err == nil {
		l.made.body = visible(l.made.body)
	}
	return l.made, err
}

// facts say how many nodes take part.
func (c *contents) facts(trees []*tree) string {
	part := map[string]struct{}{}
	for _, t := range trees {
		for name := range t.nodes {
			part[name] = struct{}{}
		}
	}
	verb := "take"
	if len(part) == 1 {
		verb = "takes"
	}
	return fmt.Sprintf("%d of %s %s part", len(part), counted(int64(len(c.nodes)), "node"), verb)
}
