// Package explain says of every workload that waits why it does.
package explain

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/client-go/informers/externalversions"
	listers "sigs.k8s.io/kueue/client-go/listers/kueue/v1beta2"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge/events"
)

const (
	// gangsPerCall bounds how long one call works.
	gangsPerCall = 32
	// workloadsPerRound bounds how much a server that has other things to do is asked: of more that
	// wait those are asked about that were not for longest.
	workloadsPerRound = 256
)

// Report says why a workload waits.
type Report struct {
	Namespace    string           `json:"namespace"`
	Name         string           `json:"name"`
	Queue        string           `json:"queue,omitempty"`
	ClusterQueue string           `json:"clusterQueue,omitempty"`
	Verdict      espalier.Verdict `json:"verdict,omitempty"` // empty: nothing of it needs a topology
	Message      string           `json:"message"`
	Flavors      []OfFlavor       `json:"flavors,omitempty"` // in the order of its queue
	At           time.Time        `json:"at"`
	uid          types.UID
}

// OfFlavor says why a workload is not placed on one flavor.
type OfFlavor struct {
	Flavor  string             `json:"flavor"`
	Verdict espalier.Verdict   `json:"verdict"`
	Reason  string             `json:"reason,omitempty"`
	Nearest *espalier.NearMiss `json:"nearest,omitempty"`
	Changes []string           `json:"changes,omitempty"` // each of which alone would do
}

// Asker is the part of a client that is used.
type Asker interface {
	Explain(context.Context, espalier.PlaceOptions, ...espalier.Gang) ([]espalier.Explanation, error)
}

// Explainer keeps a report of each workload that waits, and says it in Events.
type Explainer struct {
	client        Asker
	events        *events.Writer
	workloads     listers.WorkloadLister
	localQueues   listers.LocalQueueLister
	clusterQueues listers.ClusterQueueLister
	flavors       listers.ResourceFlavorLister
	topologies    listers.TopologyLister
	clock         clock.Clock
	logger        *slog.Logger
	waiting       *prometheus.GaugeVec
	results       *prometheus.CounterVec

	mu      sync.Mutex
	reports map[types.NamespacedName]Report
	rounds  uint64
}

// New returns an explainer without reports. To be called before the informers are started.
func New(client Asker, kueue externalversions.SharedInformerFactory, events *events.Writer, clock clock.Clock, logger *slog.Logger) *Explainer {
	of := kueue.Kueue().V1beta2()
	e := &Explainer{
		client: client, events: events, clock: clock, logger: logger,
		workloads: of.Workloads().Lister(), localQueues: of.LocalQueues().Lister(),
		clusterQueues: of.ClusterQueues().Lister(), flavors: of.ResourceFlavors().Lister(),
		topologies: of.Topologies().Lister(),
		waiting: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "espalier_bridge_waiting_workloads", Help: "Workloads that wait, by verdict.",
		}, []string{"verdict"}),
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "espalier_bridge_events_total", Help: "Events about waiting workloads, by what became of them.",
		}, []string{"result"}),
		reports: map[types.NamespacedName]Report{},
	}
	// Asking for an informer lets the factory start it.
	of.LocalQueues().Informer()
	of.ClusterQueues().Informer()
	return e
}

// Collectors returns the metrics.
func (e *Explainer) Collectors() []prometheus.Collector {
	return []prometheus.Collector{e.waiting, e.results}
}

// Run explains at every interval until the context ends.
func (e *Explainer) Run(ctx context.Context, interval time.Duration) {
	for {
		if err := e.Round(ctx); err != nil && ctx.Err() == nil {
			e.logger.Warn("workloads not explained", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-e.clock.After(interval):
		}
	}
}

// Report returns why a workload waits, or false where it does not.
func (e *Explainer) Report(key types.NamespacedName) (Report, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	report, waits := e.reports[key]
	return report, waits
}

// Reports returns all reports, by namespace and name.
func (e *Explainer) Reports() []Report {
	e.mu.Lock()
	defer e.mu.Unlock()
	reports := make([]Report, 0, len(e.reports))
	for _, report := range e.reports {
		reports = append(reports, report)
	}
	slices.SortFunc(reports, func(a, b Report) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return reports
}

// Rounds returns how often the reports have changed.
func (e *Explainer) Rounds() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rounds
}

// Waits returns whether a workload waits for quota or room.
func Waits(w *kueue.Workload) bool {
	return (w.Spec.Active == nil || *w.Spec.Active) && w.DeletionTimestamp == nil &&
		!meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadQuotaReserved) &&
		!meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadFinished)
}

// question is a workload on one flavor.
type question struct {
	report int // whose it is
	gang   espalier.Gang
}

// Round explains what waits now. Errors: the server did not answer; the reports stay as they were.
func (e *Explainer) Round(ctx context.Context) error {
	all, err := e.workloads.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("workloads: %w", err)
	}
	var reports []Report
	var questions []question
	asked, others := e.turn(slices.DeleteFunc(all, func(w *kueue.Workload) bool { return !Waits(w) }))
	for _, w := range asked {
		report, gangs := e.ask(w)
		for _, gang := range gangs {
			questions = append(questions, question{len(reports), gang})
		}
		reports = append(reports, report)
	}
	for chunk := range slices.Chunk(questions, gangsPerCall) {
		gangs := make([]espalier.Gang, 0, len(chunk))
		for _, q := range chunk {
			gangs = append(gangs, q.gang)
		}
		explanations, err := e.client.Explain(ctx, espalier.PlaceOptions{}, gangs...)
		if err != nil {
			return err
		}
		for i, explanation := range explanations {
			report := &reports[chunk[i].report]
			report.Flavors = append(report.Flavors, OfFlavor{
				Flavor:  gangs[i].PodSets[0].Flavor,
				Verdict: explanation.Verdict,
				Reason:  explanation.Answer.Reason(),
				Nearest: explanation.Nearest,
				Changes: explanation.Changes,
			})
		}
	}
	for i := range reports {
		reports[i].conclude()
	}
	reports = append(reports, others...)
	e.keep(reports)
	for i := range reports {
		e.say(ctx, &reports[i])
	}
	return nil
}

// turn returns the workloads that are asked about now, and the reports of the others.
func (e *Explainer) turn(waiting []*kueue.Workload) (now []*kueue.Workload, others []Report) {
	e.mu.Lock()
	defer e.mu.Unlock()
	last := func(w *kueue.Workload) Report {
		r := e.reports[types.NamespacedName{Namespace: w.Namespace, Name: w.Name}]
		if r.uid != w.UID {
			return Report{}
		}
		return r
	}
	slices.SortFunc(waiting, func(a, b *kueue.Workload) int {
		return cmp.Or(last(a).At.Compare(last(b).At),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	now = waiting[:min(len(waiting), workloadsPerRound)]
	for _, w := range waiting[len(now):] {
		if r := last(w); r.uid == w.UID {
			others = append(others, r)
		}
	}
	return now, others
}

// ask returns a workload on each of the flavors that its queue would try, or a report of why there
// is nothing to ask.
func (e *Explainer) ask(w *kueue.Workload) (Report, []espalier.Gang) {
	r := Report{Namespace: w.Namespace, Name: w.Name, Queue: string(w.Spec.QueueName), At: e.clock.Now(), uid: w.UID}
	local, err := e.localQueues.LocalQueues(w.Namespace).Get(r.Queue)
	if err != nil {
		r.Message = fmt.Sprintf("there is no LocalQueue %q in namespace %s", r.Queue, w.Namespace)
		return r, nil
	}
	r.ClusterQueue = string(local.Spec.ClusterQueue)
	queue, err := e.clusterQueues.Get(r.ClusterQueue)
	if err != nil {
		r.Message = fmt.Sprintf("there is no ClusterQueue %q, which LocalQueue %s names", r.ClusterQueue, r.Queue)
		return r, nil
	}
	flavors, only := e.withTopology(queue)
	var gangs []espalier.Gang
	for _, flavor := range flavors {
		gang := espalier.GangOf(w, flavor)
		if !only {
			gang.PodSets = slices.DeleteFunc(gang.PodSets, func(p espalier.PodSet) bool { return !p.AsksForTopology() })
		}
		if len(gang.PodSets) > 0 {
			gangs = append(gangs, gang)
		}
	}
	if len(gangs) == 0 {
		r.Message = "nothing of it needs a topology: the ordinary scheduler chooses its nodes once it has quota"
	}
	return r, gangs
}

// withTopology returns the flavors of a queue that have a topology, in its order, and whether all do.
func (e *Explainer) withTopology(queue *kueue.ClusterQueue) (flavors []string, all bool) {
	all = true
	for _, group := range queue.Spec.ResourceGroups {
		for _, quota := range group.Flavors {
			name := string(quota.Name)
			flavor, err := e.flavors.Get(name)
			if err != nil || flavor.Spec.TopologyName == nil {
				all = false
				continue
			}
			if _, err := e.topologies.Get(string(*flavor.Spec.TopologyName)); err == nil && !slices.Contains(flavors, name) {
				flavors = append(flavors, name)
			}
		}
	}
	return flavors, all
}

// order says which of several flavors tells most: one that it fits on, or may fit on.
var order = []espalier.Verdict{espalier.Fits, espalier.NotNow, espalier.Undecided, espalier.Never}

// Best returns the flavor that a report is about, or nil where none was asked about.
func (r Report) Best() *OfFlavor {
	var best *OfFlavor
	for i := range r.Flavors {
		if best == nil || slices.Index(order, r.Flavors[i].Verdict) < slices.Index(order, best.Verdict) {
			best = &r.Flavors[i]
		}
	}
	return best
}

// sentences say what a verdict means.
var sentences = map[espalier.Verdict]string{
	espalier.Fits:      "the nodes have room for it: it waits for quota, an admission check or its turn",
	espalier.NotNow:    "not now: the nodes could hold it, were they empty",
	espalier.Undecided: "whether the nodes could hold it, were they empty, is not known",
	espalier.Never:     "never: the nodes could not hold it, were they all empty",
}

// Sentence says what the verdict means and of which flavor it is, or why nothing was asked.
func (r Report) Sentence() string {
	best := r.Best()
	if best == nil {
		return r.Message
	}
	return sentences[best.Verdict] + " (flavor " + best.Flavor + ")"
}

func (r *Report) conclude() {
	best := r.Best()
	if best == nil {
		return
	}
	r.Verdict = best.Verdict
	parts := []string{r.Sentence()}
	if len(best.Changes) > 0 {
		parts = append(parts, "It would fit with any of: "+strings.Join(best.Changes, "; "))
	}
	if best.Reason != "" {
		parts = append(parts, best.Reason)
	}
	r.Message = strings.Join(parts, ". ")
}

func (e *Explainer) keep(reports []Report) {
	kept := make(map[types.NamespacedName]Report, len(reports))
	counts := map[espalier.Verdict]int{}
	for i := range reports {
		kept[types.NamespacedName{Namespace: reports[i].Namespace, Name: reports[i].Name}] = reports[i]
		counts[reports[i].Verdict]++
	}
	for _, verdict := range order {
		e.waiting.WithLabelValues(string(verdict)).Set(float64(counts[verdict]))
	}
	e.mu.Lock()
	e.reports = kept
	e.rounds++
	e.mu.Unlock()
	e.events.Forget(func(object string) bool {
		namespace, name, _ := strings.Cut(object, "/")
		_, there := kept[types.NamespacedName{Namespace: namespace, Name: name}]
		return there
	})
}

// say writes the Event of a report. Numbers that change with every pod make it no other one.
func (e *Explainer) say(ctx context.Context, r *Report) {
	kind, topic := corev1.EventTypeNormal, ""
	if r.Verdict == espalier.Never {
		kind = corev1.EventTypeWarning
	}
	if best := r.Best(); best != nil {
		topic = best.Flavor
		if best.Nearest != nil {
			topic += " " + strings.Join(best.Nearest.Binding, " ")
		}
	}
	about := corev1.ObjectReference{
		APIVersion: kueue.SchemeGroupVersion.String(), Kind: "Workload",
		Namespace: r.Namespace, Name: r.Name, UID: r.uid,
	}
	result := e.events.Write(ctx, about, kind, "Topology"+cmp.Or(string(r.Verdict), "NotNeeded"), topic, r.Message)
	if result != events.Known {
		e.results.WithLabelValues(string(result)).Inc()
	}
}
