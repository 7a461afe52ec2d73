//go:build cluster

package clustertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"espalier.dev/espalier/internal/servertest"
)

var costIdle = flag.Duration("cost-idle", 0, "measure what the bridge costs the API server, with so long a time in which nothing happens")

// proxy passes connections on and counts their bytes.
type proxy struct {
	address  string
	down, up atomic.Int64 // bytes from and to the API server
}

func startProxy(t testing.TB, to string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: listener.Addr().String()}
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() { stop(); _ = listener.Close(); running.Wait() })
	copied := func(to, from net.Conn, count *atomic.Int64) {
		defer to.Close()
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			count.Add(int64(n))
			if n > 0 {
				if _, err := to.Write(buffer[:n]); err != nil {
					return
				}
			}
			if err != nil {
				if err != io.EOF && !errors.Is(err, net.ErrClosed) && ctx.Err() == nil {
					t.Logf("connection of the bridge: %v", err)
				}
				return
			}
		}
	}
	running.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			context.AfterFunc(ctx, func() { _ = in.Close(); _ = out.Close() })
			running.Go(func() { copied(out, in, &p.up) })
			running.Go(func() { copied(in, out, &p.down) })
		}
	})
	return p
}

// cost is what the bridge asked and was sent in a part of the test.
type cost struct {
	calls    map[string]int
	down, up int64
}

// costOf returns what the bridge costs while something happens.
func (c *cluster) costOf(p *proxy, happens func()) cost {
	before, down, up := c.calls(), p.down.Load(), p.up.Load()
	happens()
	cost := cost{calls: map[string]int{}, down: p.down.Load() - down, up: p.up.Load() - up}
	for call, count := range c.calls() {
		if more := count - before[call]; more > 0 {
			cost.calls[call.Verb] += more
		}
	}
	return cost
}

func (c cost) String() string {
	var calls []string
	for _, verb := range slices.Sorted(maps.Keys(c.calls)) {
		calls = append(calls, fmt.Sprintf("%d %s", c.calls[verb], verb))
	}
	return fmt.Sprintf("%.3f MB to the bridge, %.3f MB from it; calls: %s", float64(c.down)/1e6, float64(c.up)/1e6, strings.Join(calls, ", "))
}

// asKubeletsReport gives a node what makes it large: the images on it and what it is.
func asKubeletsReport(n *corev1.Node) {
	for i := range 50 {
		digest := strings.Repeat(fmt.Sprintf("%08x", i*7919), 8)
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{
			Names:     []string{"registry.example.com/team/image-" + fmt.Sprint(i) + "@sha256:" + digest, "registry.example.com/team/image-" + fmt.Sprint(i) + ":v1.2.3"},
			SizeBytes: int64(i) * 12345678,
		})
	}
	for i := range 20 {
		n.Labels[fmt.Sprintf("example.com/label-%d", i)] = fmt.Sprintf("value-%d", i)
	}
	for _, kind := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
			Type: kind, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficient", Message: "kubelet has enough of it",
			LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
		})
	}
	n.Status.NodeInfo = corev1.NodeSystemInfo{
		MachineID: strings.Repeat("a", 32), SystemUUID: strings.Repeat("b", 36), BootID: strings.Repeat("c", 36),
		KernelVersion: "6.8.0", OSImage: "Debian GNU/Linux 12", ContainerRuntimeVersion: "containerd://2.0.0", KubeletVersion: "v1.35.3",
		OperatingSystem: "linux", Architecture: "amd64",
	}
}

// livePod lets a pod be made, be bound, run, end and go.
func (c *cluster) livePod(ctx context.Context, name, node string) error {
	pods := c.client.CoreV1().Pods("team")
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
	p.Spec.SchedulerName = "nobody"
	p.Spec.Containers = []corev1.Container{container(1)}
	for i := range 40 {
		p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", i), Value: "a value of some length"})
	}
	if _, err := pods.Create(ctx, p, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: name}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, phase := range []corev1.PodPhase{corev1.PodRunning, corev1.PodSucceeded} {
		_, err := pods.Patch(ctx, name, types.MergePatchType, []byte(fmt.Sprintf(`{"status":{"phase":%q}}`, phase)), metav1.PatchOptions{}, "status")
		if err != nil {
			return err
		}
	}
	return pods.Delete(ctx, name, now)
}

// markNode changes what a node may be used for, so that a mirror that shows it knows all that came before.
func (c *cluster) markNode(server *servertest.Server) {
	c.t.Helper()
	ctx := until(c.t)
	n, err := c.client.CoreV1().Nodes().Get(ctx, node(0).Name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	n.Spec.Unschedulable = !n.Spec.Unschedulable
	if _, err := c.client.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{}); err != nil {
		c.t.Fatal(err)
	}
	c.awaitSame(server, "the mirror has heard of all")
}

// TestWhatTheBridgeCosts measures; nothing in it can be wrong but that the mirror does not follow.
func TestWhatTheBridgeCosts(t *testing.T) {
	if *costIdle == 0 {
		t.Skip("-cost-idle is not set")
	}
	for _, nodes := range []int{1_000, 10_000} {
		t.Run(fmt.Sprintf("%d nodes", nodes), func(t *testing.T) {
			c := startCluster(t, "bridge", "gate")
			c.makeNamespace("team")
			c.makeNodes(nodes, asKubeletsReport)
			c.makeQueue("team")
			server := servertest.Start(t)
			p := startProxy(t, c.address)
			var bridge *process
			t.Logf("start: %v", c.costOf(p, func() {
				bridge = c.startBridge("bridge", p.address, server, "explain: {enabled: true}\nshadow: {enabled: true}\n"+gateConfiguration)
				c.awaitSame(server, "the mirror holds the nodes")
			}))
			t.Logf("a heartbeat of each node: %v", c.costOf(p, func() {
				each(t, nodes, func(ctx context.Context, i int) error {
					_, err := c.client.CoreV1().Nodes().Patch(ctx, node(i).Name, types.StrategicMergePatchType,
						[]byte(fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":%q}]}}`, time.Now().UTC().Format(time.RFC3339))),
						metav1.PatchOptions{}, "status")
					return err
				})
				c.markNode(server)
			}))
			const pods = 1_000
			t.Logf("the lives of %d pods: %v", pods, c.costOf(p, func() {
				each(t, pods, func(ctx context.Context, i int) error {
					return c.livePod(ctx, fmt.Sprintf("pod-%d", i), node(i).Name)
				})
				c.markNode(server)
			}))
			t.Logf("%v in which nothing happens: %v", *costIdle, c.costOf(p, func() {
				timer := time.NewTimer(*costIdle)
				defer timer.Stop()
				select {
				case <-timer.C:
				case <-t.Context().Done():
				}
			}))
			t.Logf("the bridge took %s of memory at most", bridge.peakMemory())
			c.checkRights()
		})
	}
}
