// Package gate places gangs of pods that wait behind a scheduling gate: it gives each pod of a gang
// its node, all of them or none, and opens the gates in the order of ranks.
//
// What was decided stands in the pods: first the node of each pod of a gang in an annotation, then,
// pod by pod, a node selector in the place of the gate. So a bridge that starts anew goes on from
// the pods alone, and what only some pods of a gang say before the first gate is opened is decided
// anew. Between the placement and then, a hold of the server keeps the room.
package gate

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

	"espalier.dev/espalier"
	pb "espalier.dev/espalier/gen/espalier/v1"
	"espalier.dev/espalier/internal/bridge/events"
)

// Placer is the part of a client that is used.
type Placer interface {
	Place(context.Context, espalier.PlaceOptions, ...espalier.Gang) (*espalier.Placement, error)
	Holds(context.Context) ([]espalier.Hold, error)
	ConfirmHolds(context.Context, *pb.UpdateStateRequest, ...string) (espalier.Position, error)
	ReleaseHolds(context.Context, ...string) (espalier.Position, error)
}

// Books keep room for pods from when all of their gang say their nodes until they are bound: a Mirror,
// which is the only writer of the server's state, but for what Change lets others do.
type Books interface {
	Assume(pod *corev1.Pod, node string)
	Forget(pod types.NamespacedName)
	Change(context.Context, func(context.Context, *espalier.Summary) (espalier.Position, error)) error
}

// Options change what a gate does.
type Options struct {
	DryRun bool
	Logger *slog.Logger
	// MayWrite is asked before each write; an error says why another replica may act by now. Nil: none does.
	MayWrite func() error
}

// Gate places gangs. One goroutine runs it.
type Gate struct {
	client  kubernetes.Interface
	placer  Placer
	books   Books
	pods    corelisters.PodLister
	nodes   corelisters.NodeLister
	groups  *Groups
	events  *events.Writer
	options Options
	changed chan struct{} // holds a token while there may be something to do

	written map[types.NamespacedName]written
	assumed map[types.NamespacedName]struct{}
	// What this gate gave pods, and what it found at its first look: what another one gives them after that
	// may rest on room that was given away here. Nil: it has not looked yet.
	known map[types.UID]given
	// The server may have holds of ours: of this round, or of a bridge that ended in the middle of one.
	holds bool

	gangs  *prometheus.GaugeVec
	opened prometheus.Counter
	failed prometheus.Counter

	mu     sync.Mutex
	shown  []Gang
	rounds uint64
}

// written is what was written into a pod, until the informer shows it.
type written struct {
	uid types.UID
	given
	opened bool
}

// New returns a gate. To be called before the informers are started, as UseGroups.
func New(client kubernetes.Interface, placer Placer, books Books, core informers.SharedInformerFactory, events *events.Writer, options Options) *Gate {
	g := &Gate{
		client: client, placer: placer, books: books, events: events, options: options,
		groups: &Groups{},
		pods:   core.Core().V1().Pods().Lister(), nodes: core.Core().V1().Nodes().Lister(),
		changed: make(chan struct{}, 1),
		written: map[types.NamespacedName]written{},
		assumed: map[types.NamespacedName]struct{}{},
		holds:   !options.DryRun,
		gangs: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "espalier_gate_gangs", Help: "Gangs behind the gate, by state: incomplete, waiting, wrong, placed.",
		}, []string{"state"}),
		opened: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "espalier_gate_pods_opened_total", Help: "Pods whose gate was opened.",
		}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "espalier_gate_write_failures_total", Help: "Writes to pods that failed; they are done again.",
		}),
	}
	return g
}

// UseGroups lets the gate read groups of other APIs.
func (g *Gate) UseGroups(groups *Groups) { g.groups = groups }

// Wake lets the gate look at everything anew.
func (g *Gate) Wake() {
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// Notify tells the gate of an object that the books know by now.
func (g *Gate) Notify(object any, deleted bool) {
	// Of pods those that wait here, and those that give back room.
	if p, is := object.(*corev1.Pod); is && !isMember(p) && !deleted &&
		p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
		return
	}
	g.Wake()
}

// Collectors returns the metrics.
func (g *Gate) Collectors() []prometheus.Collector {
	return []prometheus.Collector{g.gangs, g.opened, g.failed}
}

// Run places what waits, whenever pods change and at every interval, until the context ends.
func (g *Gate) Run(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if err := g.Round(ctx); err != nil && ctx.Err() == nil {
			g.options.Logger.Warn("gangs not placed", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-g.changed:
		case <-ticker.C:
		}
	}
}

// mostTries bounds how often a round begins anew because the cluster changed under it.
const mostTries = 5

// Round brings every gang as far as it goes. Errors: the server did not answer.
func (g *Gate) Round(ctx context.Context) error {
	for try := 1; ; try++ {
		err := g.round(ctx)
		if _, stale := espalier.StaleState(err); !stale || try == mostTries {
			return err
		}
	}
}

func (g *Gate) round(ctx context.Context) error {
	members, err := g.members()
	if err != nil {
		return err
	}
	g.learn(members)
	gangs := gangsOf(members)
	counts := map[string]int{}
	var plans, toPlace []*plan
	for _, gang := range gangs {
		p := g.planOf(gang)
		plans = append(plans, p)
		switch {
		case gang.problem != "":
			counts["wrong"]++
			p.reason = gang.problem
			g.say(ctx, gang, "TopologyRequestWrong", gang.problem, gang.problem)
			continue
		case gang.missing != "" && !p.begun:
			counts["incomplete"]++
			p.reason = gang.missing
			g.say(ctx, gang, "TopologyNotPlaced", gang.missing, gang.missing)
			continue
		case len(p.place) == 0 && len(p.open) == 0:
			counts["placed"]++
		case !gang.complete() || p.away: // before all have come anew it is not known which domain they need
			counts["incomplete"]++
			p.reason = p.whyIncomplete()
			p.place = nil
			if !p.begun {
				p.open = nil // all of them or none
			}
		case len(p.place) > 0:
			toPlace = append(toPlace, p)
		}
		if len(p.place) == 0 {
			g.open(ctx, p) // whether the server answers or not: all of it was decided before
		}
		g.deleteLost(ctx, p)
	}
	g.syncBooks(gangs)
	// Those that are left from before are of gangs that are decided anew, or that say their nodes.
	if err := g.endHolds(ctx, nil); err != nil {
		return err
	}
	for _, p := range toPlace {
		if !g.withdraw(ctx, p) {
			return fmt.Errorf("gang %s: what its pods were given cannot be taken back yet", p.gang.key)
		}
	}
	placed, waiting, err := g.place(ctx, toPlace)
	counts["waiting"] = len(waiting)
	counts["placed"] += len(placed)
	for _, state := range []string{"incomplete", "waiting", "wrong", "placed"} {
		g.gangs.WithLabelValues(state).Set(float64(counts[state]))
	}
	if err != nil {
		return err
	}
	g.show(plans)
	written := map[string]struct{}{} // holds of gangs whose pods all say their nodes
	for _, p := range placed {
		if g.annotate(ctx, p) {
			written[p.hold] = struct{}{}
			p.open = append(p.open, p.place...)
			slices.SortFunc(p.open, byRank)
		}
	}
	if err := g.endHolds(ctx, written); err != nil {
		g.options.Logger.Warn("holds not ended; the next round does", "err", err)
	}
	for _, p := range toPlace {
		g.open(ctx, p)
	}
	for _, p := range waiting {
		g.say(ctx, p.gang, "TopologyNotPlaced", "", p.reason)
	}
	return nil
}

// members returns all pods of gangs, with what was written into them.
func (g *Gate) members() ([]member, error) {
	pods, err := g.pods.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("pods: %w", err)
	}
	seen := map[types.NamespacedName]struct{}{}
	var members []member
	for _, p := range pods {
		if !isMember(p) {
			continue
		}
		m := member{Pod: p, gated: hasGate(p), group: g.groups.groupOf(p),
			given: given{p.Annotations[NodeAnnotation], p.Annotations[DecisionAnnotation]}}
		key := m.key()
		seen[key] = struct{}{}
		if w, there := g.written[key]; there {
			if w.uid != p.UID || (w.given == m.given && (!w.opened || !m.gated)) {
				delete(g.written, key) // the informer shows it
			} else {
				m.given = w.given
				m.gated = m.gated && !w.opened
			}
		}
		members = append(members, m)
	}
	for key := range g.written {
		if _, there := seen[key]; !there {
			delete(g.written, key)
		}
	}
	return members, nil
}

// learn takes what pods say at the first look for decided, and forgets pods that are gone.
func (g *Gate) learn(members []member) {
	known := map[types.UID]given{}
	for _, m := range members {
		if g.known == nil {
			known[m.UID] = m.given
		} else if was, is := g.known[m.UID]; is {
			known[m.UID] = was
		}
	}
	g.known = known
}

// isDecided returns whether a pod behind its gate was given a node that counts.
func (g *Gate) isDecided(m *member) bool {
	_, err := g.nodes.Get(m.node)
	return m.node != "" && g.known[m.UID] == m.given && err == nil
}

// plan is what is to be done about a gang.
type plan struct {
	gang   *gang
	begun  bool     // gates of it were opened
	place  []member // get a node
	open   []member // have one, and lose their gate
	keep   []member // have a node and keep it
	lost   []member // were sent to a node that is no longer there
	away   bool     // nodes of members that have no gate are gone: so will these pods be
	within map[string]string
	nodes  map[types.NamespacedName]string // of `place`, once they are given
	hold   string                          // of the server, that keeps their room
	reason string                          // why they are given none
}

// planOf tells what is to be done by what the pods say.
func (g *Gate) planOf(of *gang) *plan {
	isThere := func(node string) bool { _, err := g.nodes.Get(node); return err == nil }
	p := &plan{gang: of, begun: of.succeeded > 0}
	var undecided, decided []member // of those with a gate
	have := of.succeeded            // pods that have their place
	for _, m := range of.members {
		switch {
		case m.gated && !g.isDecided(&m):
			undecided = append(undecided, m)
		case m.gated:
			decided = append(decided, m)
		case m.nodeName() != "" && !isThere(m.nodeName()):
			p.begun, p.away = true, true
			if m.Spec.NodeName == "" {
				p.lost = append(p.lost, m)
			}
		default:
			p.begun = true
			p.keep = append(p.keep, m)
			have++
		}
	}
	if !p.begun && slices.ContainsFunc(decided, func(m member) bool { return m.decision != decided[0].decision }) {
		decided, undecided = nil, append(decided, undecided...) // by two replicas that knew nothing of each other
	}
	together := of.total - have - len(decided) // how many more are needed
	switch {
	case !p.begun && len(undecided) > 0 && (of.fixed || together > 0):
		// Nobody has started: it is placed as a whole. Those that were given a node are of it, so that none
		// keeps what was decided for others.
		p.place = append(decided, undecided...)
		if !of.fixed {
			p.place = p.place[:min(len(p.place), of.total)]
		}
		slices.SortFunc(p.place, byRank)
		return p
	case of.fixed:
		p.place = undecided
	case p.begun && together > 0:
		p.place = undecided[:min(len(undecided), together)]
	case p.begun:
		p.place = undecided[:min(len(undecided), 1)] // beside those that are needed each goes by itself
	}
	p.open = decided
	p.keep = append(p.keep, decided...)
	return p
}

// syncBooks lets pods that have been given a node, and are to keep it, use it.
func (g *Gate) syncBooks(gangs []*gang) {
	if g.options.DryRun {
		return
	}
	want := map[types.NamespacedName]member{}
	for _, of := range gangs {
		p := g.planOf(of)
		for _, m := range p.keep {
			if m.node != "" && m.Spec.NodeName == "" {
				want[m.key()] = m
			}
		}
	}
	for key := range g.assumed {
		if _, there := want[key]; there {
			continue
		}
		// Of a pod that is bound by now the books end it themselves: they may hear of that later than we do.
		if p, err := g.pods.Pods(key.Namespace).Get(key.Name); err != nil || p.Spec.NodeName == "" {
			g.books.Forget(key)
		}
		delete(g.assumed, key)
	}
	for _, m := range want {
		g.assume(m, m.node)
	}
}

func (g *Gate) assume(m member, node string) {
	g.books.Assume(m.Pod, node)
	g.assumed[m.key()] = struct{}{}
}

// say writes an Event on the first pod of a gang that waits.
func (g *Gate) say(ctx context.Context, of *gang, reason, topic, message string) {
	m := &of.members[0]
	if at := slices.IndexFunc(of.members, func(m member) bool { return m.gated }); at >= 0 {
		m = &of.members[at]
	}
	g.events.Write(ctx, corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: m.Namespace, Name: m.Name, UID: m.UID,
	}, corev1.EventTypeWarning, reason, topic, message)
}
