package gate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
		Namespace: "team", Name: fmt.Sprintf("%s-%d", gang, rank), UID: types.UID(fmt.Sprintf("%s-%d-%d", gang, rank, made.Add(1))),
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

func urgent(p *corev1.Pod) { p.Spec.Priority = ptr.To(int32(1000)) }

// made counts the pods that were made, so that each has a UID of its own.
var made atomic.Int64

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
