package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge/gate"
	"espalier.dev/espalier/internal/servertest"
)

// apiServer is one that several replicas write to: of pods it keeps versions, as a real one does, and
// refuses patches that rest on another one.
type apiServer struct {
	tracker clienttesting.ObjectTracker

	mu      sync.Mutex
	version int
	refused int
	opened  map[string]string // which replica opened the gate of a pod
	wrong   []string          // what no replica may do
}

// replica returns a client of the API server for one replica. `before` is called before each of its
// patches of a pod reaches the API server, with how many there were.
func (a *apiServer) replica(name string, before func(int)) *fake.Clientset {
	c := &fake.Clientset{}
	react := clienttesting.ObjectReaction(a.tracker)
	c.AddReactor("*", "*", react)
	c.AddWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		w, err := a.tracker.Watch(action.GetResource(), action.GetNamespace(), action.(clienttesting.WatchActionImpl).ListOptions)
		return true, w, err
	})
	patches := 0
	c.PrependReactor("patch", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if before != nil {
			before(patches)
		}
		patches++
		a.mu.Lock()
		defer a.mu.Unlock()
		pod, err := a.patch(action.(clienttesting.PatchAction), react)
		if err != nil {
			return true, nil, err
		}
		a.judge(name, pod)
		return true, pod, nil
	})
	c.PrependReactor("update", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		update := action.(clienttesting.UpdateActionImpl)
		update.Object.(*corev1.Pod).ResourceVersion = a.next()
		return react(update)
	})
	c.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		create := action.(clienttesting.CreateActionImpl)
		create.Object.(*corev1.Pod).ResourceVersion = a.next()
		return react(create)
	})
	return c
}

func (a *apiServer) next() string {
	a.version++
	return strconv.Itoa(a.version)
}

func (a *apiServer) patch(action clienttesting.PatchAction, react clienttesting.ReactionFunc) (*corev1.Pod, error) {
	there, err := a.tracker.Get(action.GetResource(), action.GetNamespace(), action.GetName())
	if err != nil {
		return nil, err
	}
	now, err := meta.Accessor(there)
	if err != nil {
		return nil, err
	}
	var change map[string]any
	if err := json.Unmarshal(action.GetPatch(), &change); err != nil {
		return nil, err
	}
	metadata := change["metadata"].(map[string]any)
	if metadata["resourceVersion"] != now.GetResourceVersion() || metadata["uid"] != string(now.GetUID()) {
		a.refused++
		return nil, apierrors.NewConflict(action.GetResource().GroupResource(), action.GetName(), fmt.Errorf("it was changed"))
	}
	metadata["resourceVersion"] = a.next()
	bytes, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	_, changed, err := react(clienttesting.NewPatchAction(action.GetResource(), action.GetNamespace(), action.GetName(), action.GetPatchType(), bytes))
	if err != nil {
		return nil, err
	}
	return changed.(*corev1.Pod), nil
}

// judge looks at a pod that a replica changed.
func (a *apiServer) judge(replica string, pod *corev1.Pod) {
	if !isOpen(pod) {
		return
	}
	if by, before := a.opened[pod.Name]; before {
		a.wrong = append(a.wrong, fmt.Sprintf("%s changed pod %s, which %s let go", replica, pod.Name, by))
	}
	a.opened[pod.Name] = replica
}

// replicas are two bridges, with a server each, on one cluster. What the first one writes may be
// stopped at any write while the second one, which has the Lease by then, acts.
type replicas struct {
	api           *apiServer
	first, second *world
	lost          atomic.Bool // whether the first one may write no more
}

func newReplicas(t *testing.T, racks, hosts int, before func(*replicas, int)) *replicas {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	api := &apiServer{tracker: fake.NewClientset().Tracker(), opened: map[string]string{}}
	test := api.replica("the test", nil)
	r := &replicas{api: api}
	begin := func(name string, before func(int)) *world {
		w := &world{t: t, ctx: ctx, client: test, own: api.replica(name, before), server: servertest.Start(t), failFrom: -1}
		asker, err := espalier.Dial(w.server.Address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = asker.Close() })
		w.asker = asker
		return w
	}
	r.first, r.second = begin("the first", func(patches int) {
		if before != nil {
			before(r, patches)
		}
	}), begin("the second", nil)
	for rack := range racks {
		for h := range hosts {
			r.first.addNode(fmt.Sprintf("r%d-h%d", rack, h), fmt.Sprintf("r%d", rack))
		}
	}
	r.first.start(gate.Options{MayWrite: func() error {
		if r.lost.Load() {
			return errors.New("another replica has the Lease")
		}
		return nil
	}})
	r.second.start(gate.Options{})
	for _, w := range []*world{r.first, r.second} {
		t.Cleanup(func() { w.stop() })
	}
	return r
}

// round lets a replica act once. What it could not do it does later.
func (r *replicas) round(w *world) {
	w.t.Helper()
	w.seen()
	_ = w.gate.Round(w.ctx)
	w.check()
}

// settle lets the second replica act until it changes nothing more.
func (r *replicas) settle() {
	for changed := true; changed; {
		before := r.version()
		r.round(r.second)
		changed = r.version() != before
	}
}

func (r *replicas) version() int {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	return r.api.version + r.api.refused
}

// expectWhole expects that gangs of so many pods are open or closed as a whole, and returns how many
// are open.
func (r *replicas) expectWhole(pods int, gangs ...string) int {
	r.first.t.Helper()
	r.first.check()
	open := 0
	for _, gang := range gangs {
		switch nodes := r.first.nodesOf(gang); len(nodes) {
		case pods:
			open++
		case 0:
		default:
			r.first.t.Errorf("gang %s is on %v of %d", gang, nodes, pods)
		}
	}
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	for _, wrong := range r.api.wrong {
		r.first.t.Error(wrong)
	}
	return open
}

// A write of the first replica is under way while the Lease changes hands, and the second one, whose
// server gives the gang another rack, acts. Even if the first one has not heard of it and goes on, what it
// writes then fails, or is undone before a gate is opened.
func TestALeaseThatChangesHandsInTheMiddleOfAGang(t *testing.T) {
	const pods = 4
	for _, hears := range []bool{true, false} {
		for at := range 2 * pods {
			t.Run(fmt.Sprintf("write %d, the first hears of it: %v", at, hears), func(t *testing.T) {
				r := newReplicas(t, 2, pods, func(r *replicas, before int) {
					if before == at {
						r.lost.Store(hears)
						r.settle()
					}
				})
				r.second.hold("theirs", "somebody", 1) // on the rack that the first one gives
				r.first.createGang("a", pods)
				r.round(r.first)
				if r.api.refused == 0 {
					t.Error("no write of the first replica failed by the version of the pod")
				}
				r.settle()
				if open := r.expectWhole(pods, "a"); open != 1 {
					t.Errorf("%d gangs are open", open)
				}
			})
		}
	}
}

// The second replica gives the room to a gang of a higher priority that came meanwhile. The one write of
// the first replica that comes too late must not let both go.
func TestAWriteThatComesTooLateDoesNotGiveRoomTwice(t *testing.T) {
	const room = 4
	for _, pods := range []int{1, room} {
		for at := range 2 * pods {
			t.Run(fmt.Sprintf("write %d of a gang of %d", at, pods), func(t *testing.T) {
				r := newReplicas(t, 1, room, func(r *replicas, before int) {
					if before != at {
						return
					}
					r.lost.Store(true)
					for rank := range room {
						r.second.create(pod("urgent", rank, room, func(p *corev1.Pod) { p.Spec.Priority = ptr.To(int32(10)) }))
					}
					r.round(r.second)
				})
				r.first.createGang("a", pods)
				r.round(r.first)
				r.settle()
				if open := r.expectWhole(pods, "a") + r.expectWhole(room, "urgent"); open != 1 {
					t.Errorf("%d gangs are open, where there is room for one", open)
				}
			})
		}
	}
}

// Both act at once, neither knowing of the other: whatever comes of it, no gang is partly open, none is
// decided twice, and what is left ends with one of them.
func TestTwoReplicasThatActAtOnce(t *testing.T) {
	const pods, gangs = 4, 3
	r := newReplicas(t, gangs, pods, nil)
	r.second.hold("theirs", "somebody", 1)
	names := []string{}
	for i := range gangs {
		names = append(names, fmt.Sprintf("g%d", i))
	}
	r.first.createGang(names[0], pods)
	r.first.seen()
	r.second.seen()
	var both sync.WaitGroup
	for _, w := range []*world{r.first, r.second} {
		both.Go(func() { _ = w.gate.Round(w.ctx) })
	}
	both.Wait()
	if _, err := r.second.asker.ReleaseHolds(r.second.ctx, holdIDs(t, r.second)...); err != nil {
		t.Fatal(err)
	}
	for _, name := range names[1:] {
		r.first.createGang(name, pods)
	}
	r.settle()
	if open := r.expectWhole(pods, names...); open != gangs {
		t.Errorf("%d gangs are open, want %d", open, gangs)
	}
	var opened []string
	for pod := range r.api.opened {
		opened = append(opened, pod)
	}
	if slices.Sort(opened); len(opened) != gangs*pods {
		t.Errorf("%v were let go", opened)
	}
}

func holdIDs(t *testing.T, w *world) []string {
	t.Helper()
	holds, err := w.asker.Holds(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, hold := range holds {
		ids = append(ids, hold.ID)
	}
	return ids
}
