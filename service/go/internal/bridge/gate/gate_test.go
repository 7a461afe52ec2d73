package gate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge/cluster"
	"espalier.dev/espalier/internal/bridge/config"
	"espalier.dev/espalier/internal/bridge/events"
	"espalier.dev/espalier/internal/bridge/gate"
	"espalier.dev/espalier/internal/servertest"
)

var quiet = slog.New(slog.DiscardHandler)

// world is a cluster without a scheduler, with a real Espalier server beside it.
type world struct {
	t       *testing.T
	ctx     context.Context
	client  *fake.Clientset
	own     *fake.Clientset   // of this replica alone; nil: client
	dynamic dynamic.Interface // nil: no groups of other APIs are read
	server  *servertest.Server
	asker   *espalier.Client // of the tests' own
	gate    *gate.Gate
	cluster *cluster.Cluster
	mirror  *espalier.Mirror
	view    *view
	stop    func()
	// Called before the mirror hears of a pod that the lister shows by then.
	beforePod func(*corev1.Pod)

	mu       sync.Mutex
	failFrom int // patches from this one on fail; -1: none
	patches  []string
	onPatch  func(before int) // called with how many there were; nil: nothing is
}

// newWorld returns a cluster of racks of hosts with 8 cores each.
func newWorld(t *testing.T, racks, hosts int, options gate.Options) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, client: fake.NewClientset(), server: servertest.Start(t), failFrom: -1}
	asker, err := espalier.Dial(w.server.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = asker.Close() })
	w.asker = asker
	for r := range racks {
		for h := range hosts {
			w.addNode(fmt.Sprintf("r%d-h%d", r, h), fmt.Sprintf("r%d", r))
		}
	}
	w.client.PrependReactor("patch", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.failFrom >= 0 && len(w.patches) >= w.failFrom {
			return true, nil, errors.New("the API server is away")
		}
		if w.onPatch != nil {
			w.onPatch(len(w.patches))
		}
		w.patches = append(w.patches, action.(clienttesting.PatchAction).GetName())
		return false, nil, nil
	})
	w.start(options)
	t.Cleanup(func() { w.stop() })
	return w
}

func (w *world) addNode(name, rack string) {
	w.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"rack": rack, corev1.LabelHostname: name}}}
	node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("8"), "pods": resource.MustParse("20")}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if _, err := w.client.CoreV1().Nodes().Create(w.ctx, node, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// start starts a bridge that knows nothing but what the API server has.
func (w *world) start(options gate.Options) {
	w.t.Helper()
	options.Logger = quiet
	client, err := espalier.Dial(w.server.Address)
	if err != nil {
		w.t.Fatal(err)
	}
	own := w.client
	if w.own != nil {
		own = w.own
	}
	w.cluster = cluster.New(own, nil)
	w.view = &view{known: map[string]metav1.Object{}, changed: make(chan struct{}, 1)}
	informers := w.cluster.Informers()
	informers.Pods = lateInformer{informers.Pods, func(object any) {
		if p, is := object.(*corev1.Pod); is && w.beforePod != nil {
			w.beforePod(p)
		}
	}}
	if w.mirror, err = espalier.NewMirror(client, informers, espalier.MirrorOptions{Logger: quiet, Notify: w.view.notify}); err != nil {
		w.t.Fatal(err)
	}
	topology, flavor := cluster.WithoutKueue(&config.Topology{Levels: []string{"rack", corev1.LabelHostname}})
	w.mirror.Set(topology)
	w.mirror.Set(flavor)
	w.gate = gate.New(own, client, w.mirror, w.cluster.Core, events.New(own, 6000, false, quiet), options)
	ctx, cancel := context.WithCancel(w.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = w.mirror.Run(ctx)
	}()
	if w.dynamic != nil {
		groups, err := gate.NewGroups(w.client.Discovery(), w.dynamic, w.gate.Wake)
		if err != nil {
			w.t.Fatal(err)
		}
		w.gate.UseGroups(groups)
		if err := groups.Start(ctx); err != nil {
			w.t.Fatal(err)
		}
	}
	w.cluster.Start(ctx)
	if err := w.cluster.WaitForSync(ctx); err != nil {
		w.t.Fatal(err)
	}
	w.stop = func() { cancel(); <-ended; _ = client.Close() }
}

// lateInformer calls a function before a handler hears of an object.
type lateInformer struct {
	cache.SharedIndexInformer
	before func(any)
}

func (i lateInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { i.before(object); handler.OnAdd(object, false) },
		UpdateFunc: func(old, object any) { i.before(object); handler.OnUpdate(old, object) },
		DeleteFunc: func(object any) { i.before(object); handler.OnDelete(object) },
	})
}

func (w *world) restart(options gate.Options) {
	w.t.Helper()
	w.stop()
	w.start(options)
}

// pods returns all pods of the API server, by name.
func (w *world) pods() []corev1.Pod {
	w.t.Helper()
	list, err := w.client.CoreV1().Pods("team").List(w.ctx, metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// view is what one mirror took in.
type view struct {
	mu      sync.Mutex
	known   map[string]metav1.Object
	changed chan struct{}
}

// notify hears of what the mirror took in or forgot.
func (v *view) notify(object any, deleted bool) {
	o := object.(metav1.Object)
	key := fmt.Sprintf("%T %s", object, o.GetName())
	v.mu.Lock()
	if deleted {
		delete(v.known, key)
	} else {
		v.known[key] = o
	}
	v.mu.Unlock()
	select {
	case v.changed <- struct{}{}:
	default:
	}
}

// shows returns whether the mirror knows what the API server has.
func (w *world) shows() bool {
	w.t.Helper()
	nodes, err := w.client.CoreV1().Nodes().List(w.ctx, metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	pods := w.pods()
	w.view.mu.Lock()
	defer w.view.mu.Unlock()
	if len(w.view.known) != len(pods)+len(nodes.Items)+2 { // topology and flavor
		return false
	}
	for i := range nodes.Items {
		if _, known := w.view.known["*v1.Node "+nodes.Items[i].Name]; !known {
			return false
		}
	}
	for i := range pods {
		p, known := w.view.known["*v1.Pod "+pods[i].Name].(*corev1.Pod)
		if !known || !equality.Semantic.DeepEqual(p.Spec, pods[i].Spec) || p.UID != pods[i].UID ||
			p.Annotations[gate.NodeAnnotation] != pods[i].Annotations[gate.NodeAnnotation] || p.Status.Phase != pods[i].Status.Phase {
			return false
		}
	}
	return true
}

// seen waits until the mirror knows what the API server has.
func (w *world) seen() {
	w.t.Helper()
	for !w.shows() {
		select {
		case <-w.view.changed:
		case <-w.ctx.Done():
			w.t.Fatal("the mirror does not know what the API server has")
		}
	}
}

// round lets the gate work on what the API server has.
func (w *world) round() {
	w.t.Helper()
	w.seen()
	if err := w.gate.Round(w.ctx); err != nil {
		w.t.Fatal(err)
	}
	w.check()
}

// pod is one of a gang that wants a rack for itself.
func pod(gang string, rank, total int, change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: fmt.Sprintf("%s-%d", gang, rank), UID: types.UID(fmt.Sprintf("%s-%d-%d", gang, rank, uid.next())),
		Labels: map[string]string{"kueue.x-k8s.io/pod-group-name": gang, kueue.PodGroupPodIndexLabel: fmt.Sprint(rank)},
		Annotations: map[string]string{
			"kueue.x-k8s.io/pod-group-total-count": fmt.Sprint(total),
			kueue.PodSetRequiredTopologyAnnotation: "rack",
		},
	}}
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "other.io/gate"}, {Name: gate.Name}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{"cpu": resource.MustParse("6")},
	}}}
	p.Status.Phase = corev1.PodPending
	if change != nil {
		change(p)
	}
	return p
}

var uid counter

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n
}

func (w *world) create(pods ...*corev1.Pod) {
	w.t.Helper()
	for _, p := range pods {
		if _, err := w.client.CoreV1().Pods(p.Namespace).Create(w.ctx, p, metav1.CreateOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) createGang(name string, pods int) {
	w.t.Helper()
	for rank := range pods {
		w.create(pod(name, rank, pods, nil))
	}
}

// bind does what the scheduler does with pods that it may schedule: of those, here, that have a node
// selector.
func (w *world) bind() {
	w.t.Helper()
	for _, p := range w.pods() {
		if host := p.Spec.NodeSelector[corev1.LabelHostname]; host != "" && p.Spec.NodeName == "" {
			p.Spec.NodeName = host
			p.Status.Phase = corev1.PodRunning
			if _, err := w.client.CoreV1().Pods(p.Namespace).Update(w.ctx, &p, metav1.UpdateOptions{}); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

func (w *world) delete(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if err := w.client.CoreV1().Pods("team").Delete(w.ctx, name, metav1.DeleteOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func isOpen(p *corev1.Pod) bool {
	return !slices.Contains(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: gate.Name})
}

// nodesOf returns the nodes of the open pods of a gang, by rank.
func (w *world) nodesOf(gang string) []string {
	w.t.Helper()
	var nodes []string
	for _, p := range w.pods() {
		if p.Labels["kueue.x-k8s.io/pod-group-name"] == gang && isOpen(&p) {
			nodes = append(nodes, p.Spec.NodeSelector[corev1.LabelHostname])
		}
	}
	return nodes
}

// check looks at what holds at all times: no node has more than it can hold, no open pods of a gang
// are in two racks, and other gates stay.
func (w *world) check() {
	w.t.Helper()
	cores := map[string]int64{}
	racks := map[string]string{}
	for _, p := range w.pods() {
		if !isOpen(&p) || p.Status.Phase == corev1.PodSucceeded {
			continue
		}
		host := p.Spec.NodeSelector[corev1.LabelHostname]
		if host == "" || host != p.Annotations[gate.NodeAnnotation] {
			w.t.Errorf("pod %s is open and goes to %q, given %q", p.Name, host, p.Annotations[gate.NodeAnnotation])
		}
		if !slices.Contains(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: "other.io/gate"}) {
			w.t.Errorf("pod %s lost another gate", p.Name)
		}
		if cores[host] += p.Spec.Containers[0].Resources.Requests.Cpu().Value(); cores[host] > 8 {
			w.t.Errorf("node %s has %d of 8 cores in use", host, cores[host])
		}
		gang, rack := p.Labels["kueue.x-k8s.io/pod-group-name"], strings.Split(host, "-")[0]
		if p.Annotations[kueue.PodSetRequiredTopologyAnnotation] == "rack" && racks[gang] != "" && racks[gang] != rack {
			w.t.Errorf("gang %s is in racks %s and %s", gang, racks[gang], rack)
		}
		racks[gang] = rack
	}
}

func (w *world) events(reason string) []corev1.Event {
	w.t.Helper()
	list, err := w.client.CoreV1().Events("team").List(w.ctx, metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(e corev1.Event) bool { return e.Reason != reason })
}

func TestGangsArePlacedWholeInTheirDomainByRankAndTheRestIsTold(t *testing.T) {
	w := newWorld(t, 2, 4, gate.Options{})
	for _, gang := range []string{"a", "b", "c"} {
		w.createGang(gang, 4)
	}
	w.round()
	if a, want := w.nodesOf("a"), []string{"r0-h0", "r0-h1", "r0-h2", "r0-h3"}; !slices.Equal(a, want) {
		t.Errorf("a is on %v, want %v by rank", a, want)
	}
	if b := w.nodesOf("b"); len(b) != 4 {
		t.Errorf("b is on %v", b)
	}
	if c := w.nodesOf("c"); len(c) != 0 {
		t.Errorf("c is on %v, where there is no room", c)
	}
	told := w.events("TopologyNotPlaced")
	if len(told) != 1 || told[0].InvolvedObject.Name != "c-0" || !strings.Contains(told[0].Message, `topology "default" doesn't allow to fit any of 4 pod(s)`) {
		t.Errorf("%+v", told)
	}
	// Neither before nor after they are bound is their room given away.
	w.round()
	w.bind()
	w.round()
	if c := w.nodesOf("c"); len(c) != 0 {
		t.Errorf("c is on %v, where there is no room", c)
	}
	w.delete("b-0", "b-1", "b-2", "b-3")
	w.round()
	if c := w.nodesOf("c"); len(c) != 4 {
		t.Errorf("c is on %v after b is gone", c)
	}
}

func TestIncompleteGangsWait(t *testing.T) {
	w := newWorld(t, 1, 4, gate.Options{})
	w.create(pod("a", 0, 3, nil), pod("a", 2, 3, nil))
	w.round()
	if a := w.nodesOf("a"); len(a) != 0 {
		t.Errorf("a is on %v although a pod is missing", a)
	}
	w.create(pod("a", 1, 3, nil))
	w.round()
	if a := w.nodesOf("a"); len(a) != 3 {
		t.Errorf("a is on %v", a)
	}
}

func TestABridgeThatStartsAnewGoesOnFromThePods(t *testing.T) {
	const pods = 4
	for failFrom := range 2 * pods {
		t.Run(fmt.Sprint("stopped after write ", failFrom), func(t *testing.T) {
			w := newWorld(t, 2, 4, gate.Options{})
			w.failFrom = failFrom
			w.createGang("a", pods)
			w.round()
			before := w.nodesOf("a")
			if want := max(0, failFrom-pods); len(before) != want {
				t.Fatalf("%v are open after %d writes, want %d", before, failFrom, want)
			}
			// Another gang comes first while the bridge is away.
			w.create(pod("urgent", 0, 4, urgent), pod("urgent", 1, 4, urgent), pod("urgent", 2, 4, urgent), pod("urgent", 3, 4, urgent))
			w.failFrom = -1
			w.restart(gate.Options{})
			w.round()
			w.bind()
			w.round()
			after := w.nodesOf("a")
			if len(after) != pods || !slices.Equal(after[:len(before)], before) {
				t.Errorf("a is on %v, before on %v", after, before)
			}
			if got := w.nodesOf("urgent"); len(got) != 4 {
				t.Errorf("the other gang is on %v", got)
			}
		})
	}
}

func TestAPodThatGoesBeforeTheFirstGateIsOpenedKeepsAllClosed(t *testing.T) {
	w := newWorld(t, 2, 4, gate.Options{})
	w.failFrom = 3 // all of them have a node, and none is open
	w.createGang("a", 3)
	w.round()
	w.failFrom = -1
	w.delete("a-1")
	w.restart(gate.Options{})
	w.round()
	if got := w.nodesOf("a"); len(got) != 0 {
		t.Errorf("%v are open although a pod is missing", got)
	}
	w.create(pod("a", 1, 3, nil))
	w.round()
	if got := w.nodesOf("a"); len(got) != 3 {
		t.Errorf("a is on %v", got)
	}
}

func TestRoomOfAPodIsKeptUntilTheMirrorHearsThatItIsBound(t *testing.T) {
	bound, hear := make(chan struct{}), make(chan struct{})
	w := newWorld(t, 1, 1, gate.Options{})
	w.stop()
	w.beforePod = func(p *corev1.Pod) {
		if p.Name == "a-0" && p.Spec.NodeName != "" {
			close(bound)
			<-hear
			w.beforePod = nil
		}
	}
	w.start(gate.Options{})
	w.createGang("a", 1)
	w.createGang("b", 1)
	w.round()
	if got := w.nodesOf("a"); len(got) != 1 {
		t.Fatalf("a is on %v; want one node", got)
	}
	w.bind()
	<-bound // the gate sees it, and the mirror does not
	if err := w.gate.Round(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.check()
	close(hear)
	w.round()
	if got := w.nodesOf("b"); len(got) != 0 {
		t.Errorf("b is on %v beside a; want it to wait", got)
	}
}

func TestFlavorsOfTheSameNodesDoNotGiveRoomTwice(t *testing.T) {
	w := newWorld(t, 1, 4, gate.Options{})
	_, spare := cluster.WithoutKueue(&config.Topology{})
	spare.Name = "spare"
	w.mirror.Set(spare)
	delete(w.view.known, "*v1beta2.ResourceFlavor spare") // shows counts one flavor
	w.createGang("a", 3)
	w.createGang("b", 3)
	w.round()
	if a, b := w.nodesOf("a"), w.nodesOf("b"); len(a) != 3 || len(b) != 0 {
		t.Errorf("a is on %v and b on %v, want a alone", a, b)
	}
}

func urgent(p *corev1.Pod) { p.Spec.Priority = ptr.To(int32(1000)) }

func TestAPodOfALostNodeIsReplacedInTheDomainOfTheOthers(t *testing.T) {
	w := newWorld(t, 2, 4, gate.Options{})
	w.createGang("a", 3)
	w.round()
	w.bind()
	w.round()
	lost := w.nodesOf("a")[1]
	if err := w.client.CoreV1().Nodes().Delete(w.ctx, lost, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.delete("a-1")
	w.create(pod("a", 1, 3, nil))
	w.round()
	after := w.nodesOf("a")
	if len(after) != 3 || slices.Contains(after, lost) {
		t.Fatalf("a is on %v after %s was lost", after, lost)
	}
	// Its rack has no host left: it waits, although the other rack is empty.
	w.bind()
	if err := w.client.CoreV1().Nodes().Delete(w.ctx, after[0], metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.delete("a-0")
	w.create(pod("a", 0, 3, nil))
	w.round()
	if got := w.nodesOf("a"); len(got) != 2 || len(w.events("TopologyNotPlaced")) != 1 {
		t.Errorf("a is on %v; events %v", got, w.events("TopologyNotPlaced"))
	}
}

func TestAGangIsRepairedOnceAllPodsOfALostNodeAreGone(t *testing.T) {
	oneHost := func(p *corev1.Pod) {
		p.Annotations[kueue.PodSetRequiredTopologyAnnotation] = corev1.LabelHostname
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("3")}
	}
	w := newWorld(t, 1, 4, gate.Options{})
	w.create(pod("a", 0, 2, oneHost), pod("a", 1, 2, oneHost))
	w.round()
	w.bind()
	w.seen()
	if err := w.client.CoreV1().Nodes().Delete(w.ctx, w.nodesOf("a")[0], metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.delete("a-0")
	w.create(pod("a", 0, 2, oneHost))
	w.round()
	if a := w.nodesOf("a"); len(a) != 1 {
		t.Fatalf("a is on %v while the domain of the other pod is gone", a)
	}
	w.delete("a-1")
	w.create(pod("a", 1, 2, oneHost))
	w.round()
	if a := w.nodesOf("a"); len(a) != 2 || a[0] != a[1] {
		t.Errorf("a is on %v, want one host", a)
	}
}

func TestPodsThatWaitForANodeThatIsGone(t *testing.T) {
	w := newWorld(t, 1, 4, gate.Options{})
	owned := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "a", Controller: ptr.To(true)}}
	}
	w.create(pod("a", 0, 2, owned), pod("a", 1, 2, nil))
	w.round() // both are open and not bound
	for _, node := range w.nodesOf("a") {
		if err := w.client.CoreV1().Nodes().Delete(w.ctx, node, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w.seen()
	if err := w.gate.Round(w.ctx); err != nil {
		t.Fatal(err)
	}
	pods := w.pods()
	if len(pods) != 1 || pods[0].Name != "a-1" {
		t.Errorf("%d pods are left; want a-1, which nobody makes anew", len(pods))
	}
	told := w.events("TopologyNodeGone")
	if len(told) != 1 || !strings.Contains(told[0].Message, "delete the pod to have it placed anew") {
		t.Errorf("%+v", told)
	}
}

func TestWhatIsWrongWithAGangIsToldAndOthersGoOn(t *testing.T) {
	annotate := func(name, value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Annotations[name] = value }
	}
	w := newWorld(t, 1, 4, gate.Options{})
	w.create(
		pod("count", 0, 1, annotate("kueue.x-k8s.io/pod-group-total-count", "many")),
		pod("many", 0, 1, nil), pod("many", 1, 1, nil),
		pod("differ", 0, 2, nil), pod("differ", 1, 3, nil),
		pod("slice", 0, 1, annotate(kueue.PodSetSliceSizeAnnotation, "2")),
		pod("level", 0, 1, annotate(kueue.PodSetRequiredTopologyAnnotation, "row")),
		pod("other", 0, 1, func(p *corev1.Pod) { p.Labels, p.Annotations["scheduling.k8s.io/group-name"] = nil, "train" }),
		pod("good", 0, 1, nil),
	)
	w.round()
	if got := w.nodesOf("good"); len(got) != 1 {
		t.Errorf("the good one is on %v", got)
	}
	for name, want := range map[string]string{
		"count-0":  `total-count is "many"; want the number of pods of its group`,
		"many-0":   "it has 2 pods, and annotation kueue.x-k8s.io/pod-group-total-count says 1",
		"differ-0": "is 2 and 3; want the same",
		"other-0":  "names its group by annotation scheduling.k8s.io/group-name, which is not read here",
	} {
		if !slices.ContainsFunc(w.events("TopologyRequestWrong"), func(e corev1.Event) bool {
			return e.InvolvedObject.Name == name && strings.Contains(e.Message, want)
		}) {
			t.Errorf("%s: no event %q among %v", name, want, w.events("TopologyRequestWrong"))
		}
	}
	for name, want := range map[string]string{"slice-0": "one is missing; want both or none", "level-0": "row"} {
		if !slices.ContainsFunc(w.events("TopologyNotPlaced"), func(e corev1.Event) bool {
			return e.InvolvedObject.Name == name && strings.Contains(e.Message, want)
		}) {
			t.Errorf("%s: no event %q among %v", name, want, w.events("TopologyNotPlaced"))
		}
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	w := newWorld(t, 1, 4, gate.Options{DryRun: true})
	w.createGang("a", 3)
	w.round()
	w.round()
	if len(w.patches) != 0 || len(w.nodesOf("a")) != 0 {
		t.Errorf("%v were written", w.patches)
	}
}

func TestManyGangsAreNeverPartlyPlacedNorTwice(t *testing.T) {
	w := newWorld(t, 6, 5, gate.Options{})
	sizes := map[string]int{}
	for i := range 40 {
		gang := fmt.Sprintf("g%02d", i)
		sizes[gang] = 1 + i%5
		w.createGang(gang, sizes[gang])
	}
	done := map[string]bool{}
	for round := 0; len(done) < len(sizes); round++ {
		if round > 2*len(sizes) {
			t.Fatalf("only %d of %d gangs were placed", len(done), len(sizes))
		}
		w.round()
		w.bind()
		finished := ""
		for gang, size := range sizes {
			if done[gang] {
				continue
			}
			nodes := w.nodesOf(gang)
			if len(nodes) != 0 && len(nodes) != size {
				t.Fatalf("gang %s is on %v of %d", gang, nodes, size)
			}
			if len(nodes) == size && (finished == "" || gang < finished) {
				finished = gang
			}
		}
		if finished == "" {
			t.Fatal("nothing is placed, and nothing more can end")
		}
		for rank := range sizes[finished] {
			w.delete(fmt.Sprintf("%s-%d", finished, rank))
		}
		done[finished] = true
		if round%5 == 0 {
			w.restart(gate.Options{})
		}
	}
}
