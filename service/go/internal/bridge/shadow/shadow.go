// Package shadow asks of every decision that Kueue makes what would have been decided instead.
package shadow

import (
	"cmp"
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/client-go/informers/externalversions"
	listers "sigs.k8s.io/kueue/client-go/listers/kueue/v1beta2"

	"espalier.dev/espalier"
)

// lateAfter is how old a decision may be for a difference to count: later on, what was free then may
// have changed.
const lateAfter = 10 * time.Second

// Asker is the part of a client that is used.
type Asker interface {
	Replay(context.Context, espalier.PlaceOptions, ...espalier.Decision) ([]espalier.Answer, error)
}

// Books bring the server up to what was heard: a Mirror.
type Books interface {
	Flush(context.Context) (espalier.Position, error)
}

// Options change what a shadow does.
type Options struct {
	Clock  clock.PassiveClock
	Logger *slog.Logger
	Log    *Log // of differences; nil: none is kept
}

// Shadow compares decisions.
type Shadow struct {
	client     Asker
	books      Books
	flavors    listers.ResourceFlavorLister
	topologies listers.TopologyLister
	options    Options
	decisions  *prometheus.CounterVec
	seconds    prometheus.Histogram
	logFailed  prometheus.Counter
	woken      chan struct{}

	mu      sync.Mutex
	begun   bool
	decided map[types.UID]struct{} // hold room, as far as is known
	queue   []*kueue.Workload
}

// New returns a shadow that has seen nothing. To be called before the informers are started.
func New(client Asker, books Books, kueueInformers externalversions.SharedInformerFactory, options Options) *Shadow {
	of := kueueInformers.Kueue().V1beta2()
	return &Shadow{
		client: client, books: books, flavors: of.ResourceFlavors().Lister(), topologies: of.Topologies().Lister(),
		options: options, woken: make(chan struct{}, 1), decided: map[types.UID]struct{}{},
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "espalier_shadow_decisions_total",
			Help: "Decisions of Kueue, by what would have been decided instead: equal, different; late: different, and told of too late to know what was free then; failed: the server did not answer.",
		}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "espalier_shadow_seconds", Help: "How long the server took for the decisions of a round.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}),
		logFailed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "espalier_shadow_log_failures_total", Help: "Differences that could not be written to the log of differences.",
		}),
	}
}

// Collectors returns the metrics.
func (s *Shadow) Collectors() []prometheus.Collector {
	return []prometheus.Collector{s.decisions, s.seconds, s.logFailed}
}

// Notify tells of an object that the books know by now.
func (s *Shadow) Notify(object any, deleted bool) {
	w, is := object.(*kueue.Workload)
	if !is {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Which flavors there are may not be known yet.
	_, holds := espalier.DecisionOf(w, func(string) bool { return true })
	if deleted || !holds {
		delete(s.decided, w.UID)
		return
	}
	if _, known := s.decided[w.UID]; known {
		return
	}
	s.decided[w.UID] = struct{}{}
	if !s.begun {
		return // decided before this one looked
	}
	s.queue = append(s.queue, w)
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// Begin takes all that was decided so far for known.
func (s *Shadow) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = true
}

func (s *Shadow) hasTopology(name string) bool {
	flavor, err := s.flavors.Get(name)
	if err != nil || flavor.Spec.TopologyName == nil {
		return false
	}
	_, err = s.topologies.Get(string(*flavor.Spec.TopologyName))
	return err == nil
}

// Run compares decisions as they are made, until the context ends; then it closes the log.
func (s *Shadow) Run(ctx context.Context) {
	if s.options.Log != nil {
		defer func() { _ = s.options.Log.Close() }()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.woken:
			s.Round(ctx)
		}
	}
}

func (s *Shadow) take() []*kueue.Workload {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := s.queue
	s.queue = nil
	return queue
}

// mostTries bounds how often a round begins anew because the cluster changed under it.
const mostTries = 5

// Round compares the decisions that were made since the last one.
func (s *Shadow) Round(ctx context.Context) {
	var workloads []*kueue.Workload
	for try := 1; ; try++ {
		position, err := s.books.Flush(ctx)
		if err != nil {
			return // the context ended
		}
		workloads = append(workloads, s.take()...) // with those that the state has by now
		sort(workloads)
		decisions, of := s.decisionsOf(workloads)
		if len(decisions) == 0 {
			return
		}
		start := s.options.Clock.Now()
		answers, err := s.client.Replay(ctx, espalier.PlaceOptions{State: position}, decisions...)
		if _, stale := espalier.StaleState(err); stale && try < mostTries {
			continue
		}
		if err != nil {
			s.decisions.WithLabelValues("failed").Add(float64(len(decisions)))
			s.options.Logger.Warn("decisions not compared", "decisions", len(decisions), "err", err)
			return
		}
		s.seconds.Observe(s.options.Clock.Since(start).Seconds())
		for i := range answers {
			s.compare(of[i], position, &decisions[i], &answers[i])
		}
		return
	}
}

// sort puts workloads in the order in which they were decided: those of one second in queue order.
func sort(workloads []*kueue.Workload) {
	slices.SortFunc(workloads, func(a, b *kueue.Workload) int {
		return cmp.Or(
			reservedAt(a).Compare(reservedAt(b)),
			cmp.Compare(ptr.Deref(b.Spec.Priority, 0), ptr.Deref(a.Spec.Priority, 0)),
			queuedAt(a).Compare(queuedAt(b)),
			cmp.Compare(a.UID, b.UID),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// queuedAt returns the time that counts as a workload's age.
func queuedAt(w *kueue.Workload) time.Time {
	evicted := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
	if evicted != nil && evicted.Status == metav1.ConditionTrue &&
		(evicted.Reason == kueue.WorkloadEvictedByAdmissionCheck || evicted.Reason == kueue.WorkloadEvictedByPodsReadyTimeout) {
		return evicted.LastTransitionTime.Time
	}
	return w.CreationTimestamp.Time
}

func reservedAt(w *kueue.Workload) time.Time {
	if c := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

func (s *Shadow) decisionsOf(workloads []*kueue.Workload) ([]espalier.Decision, []*kueue.Workload) {
	var decisions []espalier.Decision
	var of []*kueue.Workload
	for _, w := range workloads {
		if d, holds := espalier.DecisionOf(w, s.hasTopology); holds {
			decisions, of = append(decisions, d), append(of, w)
		}
	}
	return decisions, of
}

func (s *Shadow) compare(w *kueue.Workload, asked espalier.Position, chosen *espalier.Decision, here *espalier.Answer) {
	verdict := "equal"
	for i := range here.PodSets {
		given := here.PodSets[i].Assignment
		if given == nil || !reflect.DeepEqual(given.Levels, chosen.Assignments[i].Levels) ||
			!reflect.DeepEqual(espalier.Domains(given), espalier.Domains(chosen.Assignments[i])) {
			verdict = "different"
		}
	}
	if verdict == "different" && s.options.Clock.Since(reservedAt(w)) > lateAfter {
		verdict = "late"
	}
	s.decisions.WithLabelValues(verdict).Inc()
	if verdict == "equal" {
		return
	}
	difference := &entry{
		Time: s.options.Clock.Now().UTC(), Workload: w.Namespace + "/" + w.Name, Verdict: verdict,
		ReservedAt: reservedAt(w).UTC(), Generation: asked.Generation,
		Chosen: chosenBy(chosen), Here: answerOf(here),
	}
	if verdict == "different" {
		s.options.Logger.Warn("decided otherwise than Kueue", "workload", difference.Workload, "reservedAt", difference.ReservedAt,
			"generation", difference.Generation, "chosen", difference.Chosen, "here", difference.Here)
	}
	if s.options.Log == nil {
		return
	}
	if err := s.options.Log.write(difference); err != nil {
		s.logFailed.Inc()
		s.options.Logger.Warn("difference not logged", "workload", difference.Workload, "err", err)
	}
}

func reason(podSet *espalier.PodSetAnswer) string {
	if podSet.Failure == nil {
		return ""
	}
	return podSet.Failure.Reason
}
