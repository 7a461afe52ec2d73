//go:build cluster

package clustertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha1 "k8s.io/api/scheduling/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/servertest"
)

// seed makes a run repeatable as far as the order of what processes do allows.
const seed = 1

const gateConfiguration = `gate: {enabled: true, interval: 5s}
leaderElection: {enabled: true, namespace: espalier-system, name: espalier-bridge}
`

// create makes the pods of gangs, in a random order so that all gangs are incomplete for a while.
func (c *cluster) create(random *rand.Rand, gangs []gang) {
	c.t.Helper()
	var pods []*corev1.Pod
	for _, g := range gangs {
		if g.upstream {
			w := &schedulingv1alpha1.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace, Name: g.name}}
			w.Spec.PodGroups = []schedulingv1alpha1.PodGroup{{Name: "pods", Policy: schedulingv1alpha1.PodGroupPolicy{
				Gang: &schedulingv1alpha1.GangSchedulingPolicy{MinCount: int32(g.pods)},
			}}}
			if _, err := c.client.SchedulingV1alpha1().Workloads(g.namespace).Create(until(c.t), w, metav1.CreateOptions{}); err != nil {
				c.t.Fatal(err)
			}
		}
		for i := range g.pods {
			pods = append(pods, g.pod(i, ""))
		}
	}
	random.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	each(c.t, len(pods), func(ctx context.Context, i int) error {
		_, err := c.client.CoreV1().Pods(pods[i].Namespace).Create(ctx, pods[i], metav1.CreateOptions{})
		return err
	})
}

// now lets a pod be deleted without a kubelet that confirms it.
var now = metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))}

func (c *cluster) deleteGang(g gang) {
	err := c.client.CoreV1().Pods(g.namespace).DeleteCollection(context.Background(), now,
		metav1.ListOptions{LabelSelector: gangLabel + "=" + g.name})
	if err != nil {
		c.t.Errorf("delete of gang %s: %v", g.name, err)
	}
}

func randomGangs(random *rand.Rand, prefix string, count int) []gang {
	var gangs []gang
	for i := range count {
		g := gang{namespace: "team", name: fmt.Sprintf("%s-%03d", prefix, i), pods: 2 + random.IntN(7), gpus: 1 + random.Int64N(2), level: rackLevel, upstream: i%4 == 0}
		switch random.IntN(5) {
		case 0:
			g.level = blockLevel
		case 1:
			g.level, g.pods = corev1.LabelHostname, 2+random.IntN(3)
		}
		gangs = append(gangs, g)
	}
	return gangs
}

// eventsOn returns a channel of Events of a reason on objects of a kind, from the first one on.
func (c *cluster) eventsOn(kind, reason string) <-chan *corev1.Event {
	c.t.Helper()
	watching, err := c.client.CoreV1().Events("").Watch(c.t.Context(), metav1.ListOptions{
		FieldSelector: "involvedObject.kind=" + kind + ",reason=" + reason, ResourceVersion: "0",
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(watching.Stop)
	events := make(chan *corev1.Event, 1000)
	go func() {
		defer close(events)
		for change := range watching.ResultChan() {
			if event, is := change.Object.(*corev1.Event); is {
				events <- event
			}
		}
	}()
	return events
}

func TestGangsAreBoundWithinTheirDomainsWhateverEnds(t *testing.T) {
	for _, nodes := range []int{300, 5000} {
		t.Run(fmt.Sprintf("%d nodes", nodes), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, uint64(nodes)))
			c := startCluster(t, "bridge", "gate")
			c.makeNamespace("team")
			c.makeNodes(nodes, nil)
			server := servertest.Start(t)
			gangs := randomGangs(random, "gang", 200)
			doomed := randomGangs(random, "doomed", 3)
			never := gang{namespace: "team", name: "never", level: corev1.LabelHostname, pods: gpusOfNode + 1, gpus: 1}

			var replicas [2]*process
			writes := 0
			for _, g := range gangs {
				writes += 2 * g.pods // a node, and the gate
			}
			points := []point{}
			at := func(what string, do func()) {
				points = append(points, point{1 + random.IntN(writes-1), what, do})
			}
			for i := range 3 {
				replica := i % len(replicas)
				at(fmt.Sprintf("kill -9 of bridge %d", replica), func() { replicas[replica].signal(syscall.SIGKILL) })
			}
			// One after the other: starting again is not for two at once.
			ends := make(chan struct{}, 2)
			for range 2 {
				at("kill -9 of the server", func() { ends <- struct{}{} })
			}
			for _, g := range doomed {
				at("delete of gang "+g.String(), func() { c.deleteGang(g) })
			}
			slices.SortStableFunc(points, func(a, b point) int { return a.writes - b.writes })
			w := c.watch(points)
			for i := range replicas {
				replicas[i] = c.startBridge(fmt.Sprintf("bridge-%d", i), c.address, server, gateConfiguration)
			}
			restarted := make(chan struct{})
			go func() {
				defer close(restarted)
				for range cap(ends) {
					select {
					case <-ends:
						server.Restart()
					case <-w.ctx.Done():
						return
					}
				}
			}()

			waiting := c.eventsOn("Pod", "TopologyNotPlaced")
			c.create(random, append(slices.Clone(gangs), append(doomed, never)...))
			w.await("200 gangs are bound", missingOf(gangs))
			w.await("all that was to happen meanwhile did", func(map[types.NamespacedName]*corev1.Pod) int { return len(w.points) })
			<-restarted
			w.checkDomains(gangs)

			ctx := until(t)
			for said := false; !said; {
				select {
				case event, more := <-waiting:
					if !more {
						t.Fatal("Events are no longer heard of")
					}
					if said = strings.HasPrefix(event.InvolvedObject.Name, never.name+"-"); said {
						t.Logf("event on %s: %s", event.InvolvedObject.Name, event.Message)
					}
				case <-ctx.Done():
					t.Fatal("no Event says why the gang waits that cannot be placed")
				}
			}

			t.Log("a node dies")
			w.killNode(gangs)
			w.await("its gangs are repaired", missingOf(gangs))
			w.checkDomains(gangs)

			t.Log("the API server ends, with what could be watched of the past")
			more := randomGangs(random, "later", 10)
			c.create(random, more[:5])
			c.restartAPIServer()
			c.create(random, more[5:])
			w.await("gangs are bound after the API server was started anew", missingOf(more))
			w.checkDomains(append(slices.Clone(gangs), more...))
			c.awaitNoHolds(server)
			w.await("nothing is bound of the gang that has no room", func(pods map[types.NamespacedName]*corev1.Pod) int {
				return never.pods - never.missing(pods)
			})
			c.checkRights()
		})
	}
}

// killNode deletes a node with pods of gangs that need a rack, where the rest of the rack has room for them.
// As in a cluster its pods go then, and others come in their place.
func (w *watcher) killNode(gangs []gang) {
	w.t.Helper()
	w.mu.Lock()
	byName := map[string]gang{}
	for _, g := range gangs {
		byName[g.name] = g
	}
	on := map[string][]*corev1.Pod{}
	for _, p := range w.pods {
		if p.Spec.NodeName != "" {
			on[p.Spec.NodeName] = append(on[p.Spec.NodeName], p)
		}
	}
	// A node whose rack has, on nodes of two free GPUs each, room for all that it runs. A gang that
	// needs one host and runs on it goes as a whole.
	free := func(rack, but string) int64 {
		var sum int64
		for name, node := range w.nodes {
			if node.Labels[rackLevel] == rack && name != but {
				sum += (gpusOfNode - w.used[name]) / 2 * 2
			}
		}
		return sum
	}
	best, bestFree := "", int64(-1)
	for name, pods := range on {
		racks := slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return byName[p.Labels[gangLabel]].level == rackLevel })
		left := free(w.nodes[name].Labels[rackLevel], name) - 2*int64(len(pods))
		if racks && (left > bestFree || left == bestFree && name < best) {
			best, bestFree = name, left
		}
	}
	lost := on[best]
	w.repairs = byName
	w.mu.Unlock()
	if best == "" {
		w.t.Fatal("no node is left whose gangs have room elsewhere")
	}
	w.t.Logf("node %s dies with %d pods", best, len(lost))
	ctx := until(w.t)
	client := w.cluster.client.CoreV1()
	if err := client.Nodes().Delete(ctx, best, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
	for _, p := range lost {
		if err := client.Pods(p.Namespace).Delete(ctx, p.Name, now); err != nil {
			w.t.Fatal(err)
		}
	}
	w.await("the pods of the dead node are gone", func(pods map[types.NamespacedName]*corev1.Pod) int {
		left := 0
		for _, p := range pods {
			if p.Spec.NodeName == best {
				left++
			}
		}
		return left
	})
}

// awaitNoHolds waits until nothing is held: what was decided is in the pods.
func (c *cluster) awaitNoHolds(server *servertest.Server) {
	c.t.Helper()
	client, err := espalier.Dial(server.Address)
	if err != nil {
		c.t.Fatal(err)
	}
	defer client.Close()
	await(c.t, "nothing is held any more", func(ctx context.Context) (bool, error) {
		holds, err := client.Holds(ctx)
		return err == nil && len(holds) == 0, nil
	})
}
