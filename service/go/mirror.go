package espalier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"espalier.dev/espalier/internal/state"
)

// Informers are where a mirror hears of a cluster's objects. Those of kinds that the cluster does
// not have are nil. Nodes and Pods alone do.
type Informers struct {
	Nodes, Pods cache.SharedIndexInformer

	// Kueue's, of v1beta2.
	Topologies, ResourceFlavors, Workloads cache.SharedIndexInformer

	// What requests and priorities of objects depend on that nobody completed: pods of the API
	// server and Workloads of Kueue are complete.
	RuntimeClasses, LimitRanges, PriorityClasses, WorkloadPriorityClasses cache.SharedIndexInformer
}

func (i Informers) all() []cache.SharedIndexInformer {
	var there []cache.SharedIndexInformer
	for _, informer := range []cache.SharedIndexInformer{
		i.RuntimeClasses, i.LimitRanges, i.PriorityClasses, i.WorkloadPriorityClasses,
		i.Topologies, i.ResourceFlavors, i.Nodes, i.Workloads, i.Pods,
	} {
		if informer != nil {
			there = append(there, informer)
		}
	}
	return there
}

// MirrorOptions change how a mirror works; the zero value is good.
type MirrorOptions struct {
	// KueueConfiguration is Kueue's Configuration, or the ConfigMap that holds it, as JSON or YAML.
	KueueConfiguration string
	// BatchWindow is how long changes are gathered before they are sent; 0 reads as 100 ms.
	BatchWindow time.Duration
	// CheckInterval is how often the server is asked whether it still has the state; 0 reads as 10 s.
	CheckInterval time.Duration
	// CallTimeout bounds each call; 0 reads as a minute.
	CallTimeout time.Duration
	// FirstRetry and LastRetry bound the pauses after failures, which double and of which a random
	// half is left out; 0 reads as 250 ms and 30 s.
	FirstRetry, LastRetry time.Duration

	// Notify is called after each object that was taken in or, if it was deleted, forgotten; nil:
	// nobody is.
	Notify func(object any, deleted bool)

	Clock   clock.Clock  // nil: the real one
	Logger  *slog.Logger // nil: slog.Default()
	Metrics *Metrics     // nil: none are kept
}

func (o MirrorOptions) withDefaults() MirrorOptions {
	or := func(value *time.Duration, otherwise time.Duration) {
		if *value == 0 {
			*value = otherwise
		}
	}
	or(&o.BatchWindow, 100*time.Millisecond)
	or(&o.CheckInterval, 10*time.Second)
	or(&o.CallTimeout, time.Minute)
	or(&o.FirstRetry, 250*time.Millisecond)
	or(&o.LastRetry, 30*time.Second)
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	if o.Notify == nil {
		o.Notify = func(any, bool) {}
	}
	return o
}

// Mirror keeps the state of a server that of a cluster: it loads the whole once and then sends what
// changed. Where the server was started anew, or somebody else changed the state, it loads again.
// It has to be the only one that changes the state, but for those who do so within Change.
type Mirror struct {
	client  *Client
	options MirrorOptions
	store   *state.Store
	synced  []cache.InformerSynced
	changed chan struct{}      // holds one token while there may be something to send
	flushes chan chan Position // who waits for what there is to be sent
	talking sync.Mutex         // held while the server is told or asked something that position depends on

	mu       sync.Mutex
	position Position
	err      error // why the server is not told at the moment
}

// NewMirror returns a mirror of what the informers hear of. The caller starts the informers. Errors:
// an informer takes no more handlers.
func NewMirror(client *Client, informers Informers, options MirrorOptions) (*Mirror, error) {
	m := &Mirror{
		client:  client,
		options: options.withDefaults(),
		store:   state.New(),
		changed: make(chan struct{}, 1),
		flushes: make(chan chan Position),
	}
	for _, informer := range informers.all() {
		registered, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    m.Set,
			UpdateFunc: func(_, object any) { m.Set(object) },
			DeleteFunc: m.Delete,
		})
		if err != nil {
			return nil, fmt.Errorf("handler of an informer: %w", err)
		}
		m.synced = append(m.synced, registered.HasSynced)
	}
	return m, nil
}

// Set takes an object in, for those who have no informer of it. It must not change any more.
func (m *Mirror) Set(object any) {
	if err := m.store.Set(object); err != nil {
		m.options.Logger.Error("object not mirrored", "err", err)
		return
	}
	m.options.Metrics.events.WithLabelValues("set").Inc()
	m.wake()
	m.options.Notify(object, false)
}

// Delete forgets an object.
func (m *Mirror) Delete(object any) {
	if last, is := object.(cache.DeletedFinalStateUnknown); is {
		object = last.Obj
	}
	if err := m.store.Delete(object); err != nil {
		m.options.Logger.Error("object not mirrored", "err", err)
		return
	}
	m.options.Metrics.events.WithLabelValues("delete").Inc()
	m.wake()
	m.options.Notify(object, true)
}

// Assume lets a pod without a node use one from now on: for who decides about pods and has not bound
// them yet. It ends when the pod is bound, ends or is deleted, and with Forget.
func (m *Mirror) Assume(pod *corev1.Pod, node string) {
	m.store.Assume(pod, node)
	m.wake()
}

// Forget takes back what Assume said of a pod.
func (m *Mirror) Forget(pod types.NamespacedName) {
	m.store.Forget(pod)
	m.wake()
}

func (m *Mirror) wake() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// Position returns which state of the server holds what the mirror sent last, and why it does not
// tell the server more at the moment; the zero Position before the first load.
func (m *Mirror) Position() (Position, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.position, m.err
}

// Flush waits until the server was told all that the mirror heard of before the call. Errors: the
// context ended first, with why the server is not told.
func (m *Mirror) Flush(ctx context.Context) (Position, error) {
	reply := make(chan Position, 1)
	select {
	case m.flushes <- reply:
	case <-ctx.Done():
		return Position{}, m.notFlushed(ctx)
	}
	select {
	case position := <-reply:
		return position, nil
	case <-ctx.Done():
		return Position{}, m.notFlushed(ctx)
	}
}

// Change waits as Flush does, and then calls a function that changes the state: by what it places with
// a hold, or by holds that it ends. The function is given what the server holds, which the mirror leaves
// alone meanwhile, and returns the position that it made, which is the mirror's from then on; zero if
// it changed nothing. Errors: those of Flush, and of the function; of StaleState the mirror loads anew,
// so that another try is of use.
func (m *Mirror) Change(ctx context.Context, do func(context.Context, *Summary) (Position, error)) error {
	for {
		if _, err := m.Flush(ctx); err != nil {
			return err
		}
		if done, err := m.change(ctx, do); done || err != nil {
			return err
		}
	}
}

// change returns false where the state is to be loaded anew first.
func (m *Mirror) change(ctx context.Context, do func(context.Context, *Summary) (Position, error)) (bool, error) {
	m.talking.Lock()
	defer m.talking.Unlock()
	summary, err := m.check(ctx)
	if summary == nil {
		return false, err
	}
	after, err := do(ctx, summary)
	if current, stale := StaleState(err); stale {
		m.resync(reasonOf(summary.Position, current), current)
	} else if after != (Position{}) {
		m.setPosition(after)
	}
	return true, err
}

func (m *Mirror) notFlushed(ctx context.Context) error {
	_, err := m.Position()
	return errors.Join(fmt.Errorf("the server was not told of all changes: %w", ctx.Err()), err)
}

// Run waits until the informers have listed what there is and then keeps the server's state until
// the context ends, whose error it returns.
func (m *Mirror) Run(ctx context.Context) error {
	if !cache.WaitForCacheSync(ctx.Done(), m.synced...) {
		return ctx.Err()
	}
	retry := backoff{first: m.options.FirstRetry, last: m.options.LastRetry}
	var waiting []chan Position
	for {
		err := m.send(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		m.setError(err)
		if err != nil {
			pause := retry.next()
			m.options.Logger.Warn("state not sent", "err", err, "retryIn", pause)
			if !m.pause(ctx, pause, &waiting) {
				return ctx.Err()
			}
			continue
		}
		retry.reset()
		position, _ := m.Position()
		for _, reply := range waiting {
			reply <- position
		}
		waiting = nil
		if !m.await(ctx, &waiting) {
			return ctx.Err()
		}
	}
}

// pause waits for a time, and returns false when the context ended.
func (m *Mirror) pause(ctx context.Context, time time.Duration, waiting *[]chan Position) bool {
	timer := m.options.Clock.NewTimer(time)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case reply := <-m.flushes:
			*waiting = append(*waiting, reply)
		case <-timer.C():
			return true
		}
	}
}

// await waits until there is something to send, and returns false when the context ended.
func (m *Mirror) await(ctx context.Context, waiting *[]chan Position) bool {
	check := m.options.Clock.NewTimer(m.options.CheckInterval)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case reply := <-m.flushes:
			*waiting = append(*waiting, reply)
			return true
		case <-m.changed:
			return m.gather(ctx, waiting)
		case <-check.C():
			m.talking.Lock()
			_, err := m.check(ctx)
			m.talking.Unlock()
			if err != nil {
				// The next message tells whether it is still there.
				m.setError(err)
				m.options.Logger.Warn("state not checked", "err", err)
			}
			return ctx.Err() == nil
		}
	}
}

// gather waits for what comes soon after a change, unless somebody waits for it to be sent.
func (m *Mirror) gather(ctx context.Context, waiting *[]chan Position) bool {
	window := m.options.Clock.NewTimer(m.options.BatchWindow)
	defer window.Stop()
	select {
	case <-ctx.Done():
		return false
	case reply := <-m.flushes:
		*waiting = append(*waiting, reply)
	case <-window.C():
	}
	return true
}

// check returns what the server holds. Where that is not what the mirror sent last it returns nil, and has
// the state loaded anew. Errors: the server did not answer. To be called while nobody else talks.
func (m *Mirror) check(ctx context.Context) (*Summary, error) {
	ctx, cancel := context.WithTimeout(ctx, m.options.CallTimeout)
	defer cancel()
	summary, err := m.client.Summary(ctx)
	position, _ := m.Position()
	switch {
	case codeOf(err) == codes.NotFound:
		m.resync("unloaded", Position{})
		return nil, nil
	case err != nil:
		return nil, err
	case summary.Position != position:
		m.resync(reasonOf(position, summary.Position), summary.Position)
		return nil, nil
	}
	return summary, nil
}

func reasonOf(ours, current Position) string {
	if ours.Epoch != current.Epoch {
		return "restart"
	}
	return "changed"
}

// resync lets the next message be the whole state.
func (m *Mirror) resync(reason string, current Position) {
	m.mu.Lock()
	before := m.position
	m.position = Position{}
	m.mu.Unlock()
	m.options.Metrics.resyncs.WithLabelValues(reason).Inc()
	m.options.Logger.Info("state is loaded anew", "reason", reason, "ours", before, "server", current)
}

func (m *Mirror) setError(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

func (m *Mirror) setPosition(position Position) {
	m.mu.Lock()
	m.position = position
	m.mu.Unlock()
	m.options.Metrics.generation.Set(float64(position.Generation))
}

// send tells the server what it has not been told.
func (m *Mirror) send(ctx context.Context) error {
	m.talking.Lock()
	defer m.talking.Unlock()
	base, _ := m.Position()
	if base == (Position{}) {
		return m.load(ctx)
	}
	request := m.store.Update(m.client.stateName)
	if request == nil {
		return nil
	}
	request.Base = base.message()
	call, cancel := context.WithTimeout(ctx, m.options.CallTimeout)
	defer cancel()
	start := m.options.Clock.Now()
	reply, err := m.client.state.UpdateState(call, request)
	m.observe("update", start, err)
	if err == nil {
		m.store.Acknowledge()
		m.setPosition(positionOf(reply.GetState()))
		m.warn(reply.GetWarnings())
		return nil
	}
	m.store.GiveBack()
	if current, stale := StaleState(err); stale {
		m.resync(reasonOf(base, current), current)
		return m.load(ctx)
	}
	switch codeOf(err) {
	case codes.NotFound: // somebody unloaded the state
		m.resync("unloaded", Position{})
	case codes.InvalidArgument: // what the server has is not what it is thought to have
		m.resync("refused", Position{})
	}
	return fmt.Errorf("update of the state: %w", err)
}

func (m *Mirror) load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, m.options.CallTimeout)
	defer cancel()
	start := m.options.Clock.Now()
	position, warnings, err := m.client.load(ctx, m.store.Load(m.client.stateName, m.options.KueueConfiguration))
	m.observe("load", start, err)
	if err != nil {
		m.store.GiveBack()
		return err
	}
	m.store.Acknowledge()
	m.setPosition(position)
	m.warn(warnings)
	counts := m.store.Counts()
	m.options.Logger.Info("state loaded", "position", position, "nodes", counts.Nodes, "pods", counts.Pods,
		"workloads", counts.Workloads, "flavors", counts.Flavors)
	return nil
}

func (m *Mirror) warn(warnings []string) {
	for _, warning := range warnings {
		m.options.Logger.Warn("Kueue's Configuration is not honoured in full", "what", warning)
	}
}

func (m *Mirror) observe(call string, start time.Time, err error) {
	result := "ok"
	if err != nil {
		result = codeOf(err).String()
	}
	m.options.Metrics.calls.WithLabelValues(call, result).Inc()
	m.options.Metrics.seconds.WithLabelValues(call).Observe(m.options.Clock.Since(start).Seconds())
	counts := m.store.Counts()
	m.options.Metrics.objects.WithLabelValues("nodes").Set(float64(counts.Nodes))
	m.options.Metrics.objects.WithLabelValues("pods").Set(float64(counts.Pods))
	m.options.Metrics.objects.WithLabelValues("workloads").Set(float64(counts.Workloads))
}

// backoff makes pauses that double, of which a random half is left out so that clients of one server
// do not come back all at once.
type backoff struct {
	first, last, current time.Duration
}

func (b *backoff) next() time.Duration {
	b.current = min(max(2*b.current, b.first), b.last)
	return b.current/2 + rand.N(b.current/2+1)
}

func (b *backoff) reset() { b.current = 0 }
