// Package cluster holds the informers of espalier-bridge.
package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/client-go/clientset/versioned"
	"sigs.k8s.io/kueue/client-go/informers/externalversions"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge/config"
)

// FlavorWithoutKueue names topology and flavor of a cluster whose topology the configuration says.
const FlavorWithoutKueue = "default"

// Cluster is what the bridge hears of a cluster.
type Cluster struct {
	Kubernetes kubernetes.Interface
	Core       informers.SharedInformerFactory
	Kueue      externalversions.SharedInformerFactory // nil: the cluster has no Kueue
}

// HasKueue returns whether the API server has Kueue's objects.
func HasKueue(client kubernetes.Interface) (bool, error) {
	_, err := client.Discovery().ServerResourcesForGroupVersion(kueue.SchemeGroupVersion.String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("whether there is %s: %w", kueue.SchemeGroupVersion, err)
	}
	return true, nil
}

// slim drops what is the larger part of many objects and is not looked at.
func slim(object any) (any, error) {
	if o, err := meta.Accessor(object); err == nil {
		o.SetManagedFields(nil)
	}
	if node, is := object.(*corev1.Node); is {
		node.Status.Images = nil
	}
	return object, nil
}

// New returns a cluster whose informers are not started; kueueClient is nil where there is no Kueue.
func New(client kubernetes.Interface, kueueClient versioned.Interface) *Cluster {
	c := &Cluster{
		Kubernetes: client,
		Core: informers.NewSharedInformerFactoryWithOptions(client, 0,
			informers.WithTransform(slim)),
	}
	if kueueClient != nil {
		c.Kueue = externalversions.NewSharedInformerFactoryWithOptions(kueueClient, 0,
			externalversions.WithTransform(slim))
	}
	return c
}

// Informers returns those of what is mirrored.
func (c *Cluster) Informers() espalier.Informers {
	i := espalier.Informers{
		Nodes: c.Core.Core().V1().Nodes().Informer(),
		Pods:  c.Core.Core().V1().Pods().Informer(),
	}
	if c.Kueue != nil {
		i.Topologies = c.Kueue.Kueue().V1beta2().Topologies().Informer()
		i.ResourceFlavors = c.Kueue.Kueue().V1beta2().ResourceFlavors().Informer()
		i.Workloads = c.Kueue.Kueue().V1beta2().Workloads().Informer()
	}
	return i
}

// Start starts the informers that were asked for, until the context ends.
func (c *Cluster) Start(ctx context.Context) {
	c.Core.Start(ctx.Done())
	if c.Kueue != nil {
		c.Kueue.Start(ctx.Done())
	}
}

// WaitForSync waits until the informers have listed what there is. Errors: the context ended first.
func (c *Cluster) WaitForSync(ctx context.Context) error {
	synced := func(all bool) error {
		if all {
			return nil
		}
		return fmt.Errorf("objects of the cluster: %w", ctx.Err())
	}
	every := func(kinds []bool) bool { return !slices.Contains(kinds, false) }
	if err := synced(every(slices.Collect(maps.Values(c.Core.WaitForCacheSync(ctx.Done()))))); err != nil {
		return err
	}
	if c.Kueue == nil {
		return nil
	}
	return synced(every(slices.Collect(maps.Values(c.Kueue.WaitForCacheSync(ctx.Done())))))
}

// WithoutKueue returns the topology and flavor of a cluster whose configuration says them.
func WithoutKueue(topology *config.Topology) (*kueue.Topology, *kueue.ResourceFlavor) {
	t := &kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: FlavorWithoutKueue}}
	for _, level := range topology.Levels {
		t.Spec.Levels = append(t.Spec.Levels, kueue.TopologyLevel{NodeLabel: level})
	}
	f := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: FlavorWithoutKueue}}
	f.Spec.NodeLabels = topology.NodeLabels
	f.Spec.TopologyName = ptr.To(kueue.TopologyReference(FlavorWithoutKueue))
	return t, f
}
