//go:build cluster

package clustertest

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Labels of the levels of the topology, and of the nodes of its flavor.
const (
	blockLevel = "cloud.provider.com/topology-block"
	rackLevel  = "cloud.provider.com/topology-rack"
	poolLabel  = "example.com/pool"
	gpu        = "nvidia.com/gpu"

	nodesOfRack  = 10
	racksOfBlock = 10
	gpusOfNode   = 8
)

// each calls a function for 0 to count-1, several at once, and ends the test at the first error.
func each(t testing.TB, count int, do func(ctx context.Context, i int) error) {
	t.Helper()
	ctx, fail := context.WithCancelCause(until(t))
	workqueue.ParallelizeUntil(ctx, 16, count, func(i int) {
		if err := do(ctx, i); err != nil {
			fail(err)
		}
	})
	if err := context.Cause(ctx); err != nil {
		t.Fatal(err)
	}
}

// node returns the i-th node as a kubelet would have registered it.
func node(i int) *corev1.Node {
	name := fmt.Sprintf("node-%05d", i)
	amounts := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("512Gi"),
		corev1.ResourcePods: resource.MustParse("110"), gpu: *resource.NewQuantity(gpusOfNode, resource.DecimalSI),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, poolLabel: "gpu",
			blockLevel: fmt.Sprintf("block-%d", i/nodesOfRack/racksOfBlock), rackLevel: fmt.Sprintf("rack-%d", i/nodesOfRack),
		}},
		Status: corev1.NodeStatus{
			Capacity: amounts, Allocatable: amounts,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}},
		},
	}
}

// makeNodes makes nodes, and a topology and a flavor of them.
func (c *cluster) makeNodes(count int, change func(*corev1.Node)) {
	c.t.Helper()
	ctx := until(c.t)
	topology := &kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: "racks"}}
	for _, level := range []string{blockLevel, rackLevel, corev1.LabelHostname} {
		topology.Spec.Levels = append(topology.Spec.Levels, kueue.TopologyLevel{NodeLabel: level})
	}
	if _, err := c.kueue.KueueV1beta2().Topologies().Create(ctx, topology, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
	flavor := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "gpus"}}
	flavor.Spec.NodeLabels = map[string]string{poolLabel: "gpu"}
	flavor.Spec.TopologyName = ptr.To(kueue.TopologyReference("racks"))
	if _, err := c.kueue.KueueV1beta2().ResourceFlavors().Create(ctx, flavor, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
	each(c.t, count, func(ctx context.Context, i int) error {
		n := node(i)
		if change != nil {
			change(n)
		}
		_, err := c.client.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{})
		return err
	})
	c.t.Logf("%d nodes are there", count)
}

// makeQueue makes a queue of the flavor, in a namespace.
func (c *cluster) makeQueue(namespace string) {
	c.t.Helper()
	ctx := until(c.t)
	queue := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	queue.Spec.NamespaceSelector = &metav1.LabelSelector{}
	queue.Spec.ResourceGroups = []kueue.ResourceGroup{{
		CoveredResources: []corev1.ResourceName{gpu},
		Flavors: []kueue.FlavorQuotas{{Name: "gpus", Resources: []kueue.ResourceQuota{
			{Name: gpu, NominalQuota: resource.MustParse("1000000")},
		}}},
	}}
	if _, err := c.kueue.KueueV1beta2().ClusterQueues().Create(ctx, queue, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
	local := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: "all", Namespace: namespace}}
	local.Spec.ClusterQueue = "all"
	if _, err := c.kueue.KueueV1beta2().LocalQueues(namespace).Create(ctx, local, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// container returns what a pod of so many GPUs runs.
func container(gpus int64) corev1.Container {
	amounts := corev1.ResourceList{gpu: *resource.NewQuantity(gpus, resource.DecimalSI)}
	return corev1.Container{Name: "main", Image: "none", Resources: corev1.ResourceRequirements{Requests: amounts, Limits: amounts}}
}

// workload returns a workload of pods that need one domain of a level.
func workload(namespace, name, level string, pods int32, gpus int64) *kueue.Workload {
	w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	w.Spec.QueueName = "all"
	w.Spec.Active = ptr.To(true)
	w.Spec.PodSets = []kueue.PodSet{{
		Name: "main", Count: pods, TopologyRequest: &kueue.PodSetTopologyRequest{Required: &level},
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{container(gpus)},
		}},
	}}
	return w
}

// setRunning says of a bound pod that it runs, as a kubelet would.
func (c *cluster) setRunning(ctx context.Context, pod *corev1.Pod) error {
	_, err := c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType,
		[]byte(fmt.Sprintf(`{"metadata":{"uid":%q},"status":{"phase":"Running"}}`, pod.UID)), metav1.PatchOptions{}, "status")
	return err
}
