//go:build cluster

package clustertest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/servertest"
)

// dump writes what `espalier snapshot` saves of the kinds that are mirrored.
func (c *cluster) dump(name string) string {
	c.t.Helper()
	ctx := until(c.t)
	all := metav1.ListOptions{}
	var items []any
	add := func(apiVersion, kind string, list runtime.Object, err error) {
		c.t.Helper()
		if err != nil {
			c.t.Fatal(err)
		}
		if err := meta.EachListItem(list, func(object runtime.Object) error {
			text, err := json.Marshal(object)
			if err != nil {
				return err
			}
			fields := map[string]any{}
			if err := json.Unmarshal(text, &fields); err != nil {
				return err
			}
			fields["apiVersion"], fields["kind"] = apiVersion, kind // lists leave them out
			items = append(items, fields)
			return nil
		}); err != nil {
			c.t.Fatal(err)
		}
	}
	core, kinds := c.client.CoreV1(), c.kueue.KueueV1beta2()
	nodes, err := core.Nodes().List(ctx, all)
	add("v1", "Node", nodes, err)
	pods, err := core.Pods("").List(ctx, all)
	add("v1", "Pod", pods, err)
	version := kueue.SchemeGroupVersion.String()
	topologies, err := kinds.Topologies().List(ctx, all)
	add(version, "Topology", topologies, err)
	flavors, err := kinds.ResourceFlavors().List(ctx, all)
	add(version, "ResourceFlavor", flavors, err)
	queues, err := kinds.ClusterQueues().List(ctx, all)
	add(version, "ClusterQueue", queues, err)
	local, err := kinds.LocalQueues("").List(ctx, all)
	add(version, "LocalQueue", local, err)
	workloads, err := kinds.Workloads("").List(ctx, all)
	add(version, "Workload", workloads, err)
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(name, string(text))
	return c.path(name)
}

// summary returns what a server holds; nil while it holds nothing.
func summary(ctx context.Context, t testing.TB, server *servertest.Server) *espalier.Summary {
	t.Helper()
	client, err := espalier.Dial(server.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s, err := client.Summary(ctx)
	if err != nil {
		return nil
	}
	return s
}

// awaitSame waits until the state of a mirror is that of a load of a dump of the same objects.
func (c *cluster) awaitSame(mirrored *servertest.Server, what string) {
	c.t.Helper()
	loaded := servertest.Start(c.t)
	defer loaded.Kill()
	command := exec.Command(servertest.Binary(c.t), "place", "--connect", loaded.Address, "--load", "-o", "json", c.dump("dump.json"))
	if output, err := command.CombinedOutput(); err != nil && command.ProcessState.ExitCode() != 1 {
		c.t.Fatalf("load of the dump: %v\n%s", err, output)
	}
	want := summary(until(c.t), c.t, loaded)
	if want == nil || want.Checksum == 0 || want.Nodes == 0 {
		c.t.Fatalf("the dump made no state: %+v", want)
	}
	var got *espalier.Summary
	defer func() { c.t.Logf("%s: want %+v, got %+v", what, want, got) }()
	await(c.t, what, func(ctx context.Context) (bool, error) {
		got = summary(ctx, c.t, mirrored)
		return got != nil && got.Checksum == want.Checksum, nil
	})
}

// change makes one random change; several run at once on objects of their own.
type changer struct {
	c       *cluster
	random  *rand.Rand
	worker  int
	workers int
	nodes   int
	pods    []string
	jobs    []string
	made    int
}

func (m *changer) change(ctx context.Context) error {
	core, kinds := m.c.client.CoreV1(), m.c.kueue.KueueV1beta2()
	index := m.worker + m.workers*m.random.IntN(m.nodes/m.workers)
	name := node(index).Name
	switch m.random.IntN(10) {
	case 0, 1: // of a node: what it may be used for
		n, err := core.Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		switch m.random.IntN(3) {
		case 0:
			n.Spec.Unschedulable = !n.Spec.Unschedulable
		case 1:
			if len(n.Spec.Taints) > 0 {
				n.Spec.Taints = nil
			} else {
				n.Spec.Taints = []corev1.Taint{{Key: "example.com/broken", Effect: corev1.TaintEffectNoSchedule}}
			}
		case 2:
			n.Labels["example.com/kind"] = fmt.Sprint(m.random.IntN(3))
		}
		_, err = core.Nodes().Update(ctx, n, metav1.UpdateOptions{})
		return err
	case 2: // what it has
		n, err := core.Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		n.Status.Allocatable[gpu] = *resource.NewQuantity(m.random.Int64N(gpusOfNode+1), resource.DecimalSI)
		n.Status.Conditions[0].Status = []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse}[m.random.IntN(2)]
		_, err = core.Nodes().UpdateStatus(ctx, n, metav1.UpdateOptions{})
		return err
	case 3: // a node goes and comes anew
		if err := core.Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return err
		}
		_, err := core.Nodes().Create(ctx, node(index), metav1.CreateOptions{})
		return err
	case 4, 5, 6: // a pod comes
		m.made++
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: fmt.Sprintf("pod-%d-%d", m.worker, m.made)}}
		p.Spec.NodeName = name
		p.Spec.Containers = []corev1.Container{container(1 + m.random.Int64N(2))}
		m.pods = append(m.pods, p.Name)
		_, err := core.Pods("team").Create(ctx, p, metav1.CreateOptions{})
		return err
	case 7: // a pod ends, or goes
		if len(m.pods) == 0 {
			return m.change(ctx)
		}
		at := m.random.IntN(len(m.pods))
		pod := m.pods[at]
		m.pods = append(m.pods[:at], m.pods[at+1:]...)
		if m.random.IntN(2) == 0 {
			return core.Pods("team").Delete(ctx, pod, now)
		}
		p, err := core.Pods("team").Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			return err
		}
		p.Status.Phase = corev1.PodSucceeded
		_, err = core.Pods("team").UpdateStatus(ctx, p, metav1.UpdateOptions{})
		return err
	case 8: // a workload comes, and may be admitted
		m.made++
		w := workload("team", fmt.Sprintf("job-%d-%d", m.worker, m.made), rackLevel, 1+m.random.Int32N(8), 1+m.random.Int64N(4))
		m.jobs = append(m.jobs, w.Name)
		created, err := kinds.Workloads("team").Create(ctx, w, metav1.CreateOptions{})
		if err != nil || m.random.IntN(3) == 0 {
			return err
		}
		admit(created, node(index))
		_, err = kinds.Workloads("team").UpdateStatus(ctx, created, metav1.UpdateOptions{})
		return err
	default: // a workload goes, or loses its admission
		if len(m.jobs) == 0 {
			return m.change(ctx)
		}
		at := m.random.IntN(len(m.jobs))
		job := m.jobs[at]
		if m.random.IntN(3) == 0 {
			w, err := kinds.Workloads("team").Get(ctx, job, metav1.GetOptions{})
			if err != nil {
				return err
			}
			w.Status.Admission, w.Status.Conditions = nil, nil
			_, err = kinds.Workloads("team").UpdateStatus(ctx, w, metav1.UpdateOptions{})
			return err
		}
		m.jobs = append(m.jobs[:at], m.jobs[at+1:]...)
		return kinds.Workloads("team").Delete(ctx, job, metav1.DeleteOptions{})
	}
}

// admit gives all pods of a workload a node, as Kueue would.
func admit(w *kueue.Workload, n *corev1.Node) {
	set := w.Spec.PodSets[0]
	each := set.Template.Spec.Containers[0].Resources.Requests[gpu]
	w.Status.Admission = &kueue.Admission{ClusterQueue: "all", PodSetAssignments: []kueue.PodSetAssignment{{
		Name: set.Name, Count: ptr.To(set.Count),
		Flavors:       map[corev1.ResourceName]kueue.ResourceFlavorReference{gpu: "gpus"},
		ResourceUsage: corev1.ResourceList{gpu: *resource.NewQuantity(each.Value()*int64(set.Count), resource.DecimalSI)},
		TopologyAssignment: espalier.NewTopologyAssignment([]string{corev1.LabelHostname},
			[]espalier.Domain{{Values: []string{n.Name}, Count: set.Count}}),
	}}}
	for _, condition := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted} {
		meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionTrue, Reason: "Admitted"})
	}
}

// changeAtRandom makes so many changes.
func (c *cluster) changeAtRandom(changers []*changer, count int) {
	c.t.Helper()
	each(c.t, len(changers), func(ctx context.Context, i int) error {
		for range count / len(changers) {
			if err := changers[i].change(ctx); err != nil && !apierrors.IsConflict(err) {
				return err
			}
		}
		return nil
	})
	c.t.Logf("%d random changes are made", count)
}

func TestTheMirrorHoldsWhatALoadOfADumpHolds(t *testing.T) {
	for _, nodes := range []int{300, 5000} {
		t.Run(fmt.Sprintf("%d nodes", nodes), func(t *testing.T) {
			c := startCluster(t, "bridge")
			c.makeNamespace("team")
			c.makeNodes(nodes, nil)
			c.makeQueue("team")
			server := servertest.Start(t)
			bridge := c.startBridge("bridge", c.address, server, "explain: {enabled: true, interval: 1s}\n")
			c.awaitSame(server, "the mirror holds the nodes")

			events := map[string]<-chan *corev1.Event{}
			for _, reason := range []string{"TopologyFits", "TopologyNever"} {
				events[reason] = c.eventsOn("Workload", reason)
			}
			ctx := until(t)
			for _, w := range []*kueue.Workload{
				workload("team", "small", rackLevel, 4, 2), workload("team", "large", corev1.LabelHostname, 2, gpusOfNode),
			} {
				if _, err := c.kueue.KueueV1beta2().Workloads("team").Create(ctx, w, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			for reason, of := range map[string]string{"TopologyFits": "small", "TopologyNever": "large"} {
				select {
				case event := <-events[reason]:
					if event == nil || event.InvolvedObject.Name != of {
						t.Fatalf("%s: %+v; want it on %s", reason, event, of)
					}
					t.Logf("event %s on %s: %s", reason, of, event.Message)
				case <-ctx.Done():
					t.Fatalf("no Event %s", reason)
				}
			}

			checkDescription(t, c, "large", "TopologyNever")
			c.checkManifests()

			var changers []*changer
			const workers = 10
			for i := range workers {
				changers = append(changers, &changer{c: c, worker: i, workers: workers, nodes: nodes, random: rand.New(rand.NewPCG(seed, uint64(i)))})
			}
			c.changeAtRandom(changers, 9_000)
			c.awaitSame(server, "the mirror holds what came of 9,000 changes")

			t.Log("the bridge sleeps while its watches expire")
			lists := c.calls()[call{"list", "nodes", 200}]
			bridge.signal(syscall.SIGSTOP)
			c.restartAPIServer() // what is sent to it does not wait in a connection
			c.changeAtRandom(changers, 500)
			c.restartAPIServer()
			c.changeAtRandom(changers, 400)
			bridge.signal(syscall.SIGCONT)
			c.awaitSame(server, "the mirror holds what happened meanwhile")
			if after := c.calls()[call{"list", "nodes", 200}]; after <= lists {
				t.Errorf("nodes were listed %d times before, and %d times after: no watch had expired (410)", lists, after)
			}

			server.Restart()
			c.changeAtRandom(changers, 100)
			c.awaitSame(server, "the mirror has filled a server that started anew")
			c.checkRights()
			_ = os.Remove(c.path("dump.json"))
		})
	}
}
