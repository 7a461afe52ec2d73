//go:build cluster

package clustertest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"espalier.dev/espalier/internal/bridge/gate"
)

const (
	gangLabel  = "example.com/gang" // of the test's own: which gang a pod is of
	groupLabel = "kueue.x-k8s.io/pod-group-name"
	indexLabel = "kueue.x-k8s.io/pod-group-pod-index"
	countLabel = "kueue.x-k8s.io/pod-group-total-count"
)

// watcher hears of every change of pods, plays their kubelets, and holds the changes to what must
// always be so. It is also what tests wait with.
type watcher struct {
	t       testing.TB
	cluster *cluster
	ctx     context.Context

	mu      sync.Mutex
	pods    map[types.NamespacedName]*corev1.Pod
	nodes   map[string]*corev1.Node
	used    map[string]int64 // GPUs of pods on a node
	writes  int              // of a gate into pods
	changed chan struct{}    // closed with the next change
	points  []point          // what is to happen, in the order of writes
	todo    chan chore
	repairs map[string]gang // by name: whose pods come anew when they go
}

// chore is what a kubelet does for a pod that is bound, or a controller in the place of one that is gone.
type chore struct {
	pod     *corev1.Pod
	gang    gang // of a pod that comes anew
	suspect bool // the pod seems to have been let go too early
}

// point is something that happens once a gate has written so often.
type point struct {
	writes int
	what   string
	do     func()
}

func (c *cluster) watch(points []point) *watcher {
	c.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	w := &watcher{
		t: c.t, cluster: c, ctx: ctx, points: points, changed: make(chan struct{}),
		pods: map[types.NamespacedName]*corev1.Pod{}, nodes: map[string]*corev1.Node{}, used: map[string]int64{},
		todo: make(chan chore, 100_000), repairs: map[string]gang{},
	}
	factory := informers.NewSharedInformerFactory(c.client, 0)
	handle := func(informer cache.SharedIndexInformer, handler cache.ResourceEventHandlerFuncs) {
		if _, err := informer.AddEventHandler(handler); err != nil {
			c.t.Fatal(err)
		}
	}
	handle(factory.Core().V1().Nodes().Informer(), cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { w.setNode(o.(*corev1.Node)) },
		UpdateFunc: func(_, o any) { w.setNode(o.(*corev1.Node)) },
	})
	handle(factory.Core().V1().Pods().Informer(), cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { w.set(o.(*corev1.Pod)) },
		UpdateFunc: func(_, o any) { w.set(o.(*corev1.Pod)) },
		DeleteFunc: func(o any) {
			if last, is := o.(cache.DeletedFinalStateUnknown); is {
				o = last.Obj
			}
			w.remove(o.(*corev1.Pod))
		},
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(w.work)
	}
	c.t.Cleanup(func() {
		stop()
		factory.Shutdown()
		workers.Wait()
	})
	return w
}

// work plays kubelets and controllers.
func (w *watcher) work() {
	for {
		select {
		case <-w.ctx.Done():
			return
		case what := <-w.todo:
			err := w.do(what)
			done := err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) || apierrors.IsAlreadyExists(err)
			if !done && w.ctx.Err() == nil {
				w.todo <- what // the API server is away
			}
		}
	}
}

func hasNoNode(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && !ended(p) && p.Annotations[gate.NodeAnnotation] == ""
}

// judge holds what the API server had when a pod was let go to the rule that all pods of its gang have a
// node by then. What is heard after watches have expired comes in any order, and proves nothing by itself.
func (w *watcher) judge(pod *corev1.Pod) error {
	then, err := w.cluster.client.CoreV1().Pods(pod.Namespace).List(w.ctx, metav1.ListOptions{
		ResourceVersion: pod.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact,
		LabelSelector: gangLabel + "=" + pod.Labels[gangLabel],
	})
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return nil // forgotten with what else could be watched
	}
	if err != nil {
		return err
	}
	for i := range then.Items {
		if other := &then.Items[i]; hasNoNode(other) {
			w.t.Errorf("pod %s is let go while %s of its gang has no node", pod.Name, other.Name)
		}
	}
	return nil
}

func (w *watcher) do(what chore) error {
	if what.suspect {
		return w.judge(what.pod)
	}
	if what.gang.name == "" {
		return w.cluster.setRunning(w.ctx, what.pod)
	}
	index, err := strconv.Atoi(what.pod.Labels[indexLabel])
	if err != nil {
		return err
	}
	anew := what.gang.pod(index, "-after-"+string(what.pod.UID)[:8])
	_, err = w.cluster.client.CoreV1().Pods(anew.Namespace).Create(w.ctx, anew, metav1.CreateOptions{})
	return err
}

func keyOf(p *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

func (w *watcher) setNode(node *corev1.Node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes[node.Name] = node
}

func isGated(p *corev1.Pod) bool {
	for _, g := range p.Spec.SchedulingGates {
		if g.Name == gate.Name {
			return true
		}
	}
	return false
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func gpusOf(p *corev1.Pod) int64 {
	amount := p.Spec.Containers[0].Resources.Requests[gpu]
	return amount.Value()
}

func (w *watcher) set(pod *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.pods[keyOf(pod)]
	if before != nil && before.UID != pod.UID {
		w.removeLocked(before)
		before = nil
	}
	w.check(before, pod)
	wasOn := before != nil && before.Spec.NodeName != ""
	if !wasOn && pod.Spec.NodeName != "" {
		node := pod.Spec.NodeName
		w.used[node] += gpusOf(pod)
		if w.used[node] > gpusOfNode {
			w.t.Errorf("node %s is used by %d GPUs of %d", node, w.used[node], gpusOfNode)
		}
		if pod.Status.Phase == corev1.PodPending {
			w.todo <- chore{pod: pod}
		}
	}
	w.pods[keyOf(pod)] = pod
	w.tell()
}

func (w *watcher) remove(pod *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removeLocked(pod)
	w.tell()
}

func (w *watcher) removeLocked(pod *corev1.Pod) {
	known := w.pods[keyOf(pod)]
	if known == nil || known.UID != pod.UID {
		return
	}
	delete(w.pods, keyOf(pod))
	if g, is := w.repairs[known.Labels[gangLabel]]; is {
		w.todo <- chore{pod: known, gang: g}
	}
	if known.Spec.NodeName != "" {
		w.used[known.Spec.NodeName] -= gpusOf(known)
	}
}

// check holds a change of a pod of a gang to what a gate may do.
func (w *watcher) check(before, pod *corev1.Pod) {
	group := pod.Labels[gangLabel]
	if group == "" {
		return
	}
	node := pod.Annotations[gate.NodeAnnotation]
	if pod.Spec.NodeName != "" && pod.Spec.NodeName != node {
		w.t.Errorf("pod %s is bound to %s, outside its assignment %q", pod.Name, pod.Spec.NodeName, node)
	}
	if !isGated(pod) && pod.Spec.NodeSelector[corev1.LabelHostname] != node {
		w.t.Errorf("pod %s may go anywhere: selector %v, node %q", pod.Name, pod.Spec.NodeSelector, node)
	}
	if before == nil {
		return
	}
	given := before.Annotations[gate.NodeAnnotation]
	opens := isGated(before) && !isGated(pod)
	if !isGated(before) && given != node {
		w.t.Errorf("pod %s was let go to %q, and now is given %q", pod.Name, given, node)
	}
	if opens {
		for _, other := range w.pods {
			if other.Namespace == pod.Namespace && other.Labels[gangLabel] == group && hasNoNode(other) {
				w.todo <- chore{pod: pod, suspect: true}
				break
			}
		}
	}
	if opens || given != node {
		w.writes++
		for len(w.points) > 0 && w.points[0].writes <= w.writes {
			w.t.Logf("after %d writes of the gate: %s", w.writes, w.points[0].what)
			go w.points[0].do()
			w.points = w.points[1:]
		}
	}
}

func (w *watcher) tell() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// await waits until something holds of the pods, or ends the test where for long none came. It prints how
// many are missing whenever a fifth of them came.
func (w *watcher) await(what string, missing func(pods map[types.NamespacedName]*corev1.Pod) int) {
	w.t.Helper()
	stuck := time.NewTimer(patience)
	defer stuck.Stop()
	first, fewest, last := -1, -1, -1
	for {
		w.mu.Lock()
		left := missing(w.pods)
		changed := w.changed
		w.mu.Unlock()
		if first < 0 {
			first, fewest, last = left, left, left
			w.t.Logf("%s: %d to come", what, left)
		}
		if left == 0 {
			w.t.Logf("%s: done", what)
			return
		}
		if left < fewest {
			fewest = left
			stuck.Reset(patience)
		}
		if last-left > first/5 {
			last = left
			w.t.Logf("%s: %d to come", what, left)
		}
		select {
		case <-changed:
		case <-stuck.C:
			w.t.Fatalf("%s: %d are missing, and none came for %v", what, left, patience)
		case <-w.t.Context().Done():
			w.t.Fatalf("%s: %d are missing: %v", what, left, w.t.Context().Err())
		}
	}
}

// gang is pods that go together.
type gang struct {
	namespace, name, level string
	pods                   int
	gpus                   int64
	upstream               bool // a Workload of scheduling.k8s.io describes it, else Kueue's label
}

func (g gang) String() string {
	return fmt.Sprintf("%s (%d pods of %d GPUs, %s)", g.name, g.pods, g.gpus, g.level)
}

// pod returns the pod of a rank; the suffix tells those that stand for one that is gone.
func (g gang) pod(index int, suffix string) *corev1.Pod {
	p := &corev1.Pod{}
	p.Namespace = g.namespace
	p.Name = fmt.Sprintf("%s-%d%s", g.name, index, suffix)
	p.Labels = map[string]string{gangLabel: g.name, indexLabel: fmt.Sprint(index)}
	p.Annotations = map[string]string{"kueue.x-k8s.io/podset-required-topology": g.level}
	if g.upstream {
		p.Spec.WorkloadRef = &corev1.WorkloadReference{Name: g.name, PodGroup: "pods"}
	} else {
		p.Labels[groupLabel], p.Annotations[countLabel] = g.name, fmt.Sprint(g.pods)
	}
	p.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "batch/v1", Kind: "Job", Name: g.name, UID: types.UID(g.name), Controller: ptr.To(true),
	}}
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: gate.Name}}
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	p.Spec.Containers = []corev1.Container{container(g.gpus)}
	return p
}

// missing returns how many pods of a gang are not bound.
func (g gang) missing(pods map[types.NamespacedName]*corev1.Pod) int {
	bound := 0
	for _, p := range pods {
		if p.Namespace == g.namespace && p.Labels[gangLabel] == g.name && p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			bound++
		}
	}
	return g.pods - bound
}

// missingOf returns how many pods of gangs are not bound.
func missingOf(gangs []gang) func(map[types.NamespacedName]*corev1.Pod) int {
	total := 0
	of := map[types.NamespacedName]struct{}{}
	for _, g := range gangs {
		total += g.pods
		of[types.NamespacedName{Namespace: g.namespace, Name: g.name}] = struct{}{}
	}
	return func(pods map[types.NamespacedName]*corev1.Pod) int {
		bound := 0
		for _, p := range pods {
			_, is := of[types.NamespacedName{Namespace: p.Namespace, Name: p.Labels[gangLabel]}]
			if is && p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
				bound++
			}
		}
		return total - bound
	}
}

// checkDomains holds gangs to their required domains: all of one in one of them.
func (w *watcher) checkDomains(gangs []gang) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range gangs {
		if left := g.missing(w.pods); left != 0 {
			w.t.Errorf("gang %v: %d pods more or fewer than bound", g, left)
		}
		domains := map[string]int{}
		for _, p := range w.pods {
			if p.Namespace == g.namespace && p.Labels[gangLabel] == g.name {
				domains[w.nodes[p.Spec.NodeName].Labels[g.level]]++
			}
		}
		if len(domains) != 1 {
			w.t.Errorf("gang %v is spread: %v", g, domains)
		}
	}
}
