package gate

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// The objects of other APIs that describe groups of pods.
var (
	upstreamWorkloads = schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1alpha1", Resource: "workloads"}
	kaiPodGroups      = schema.GroupVersionResource{Group: "scheduling.run.ai", Version: "v2alpha2", Resource: "podgroups"}
)

const kaiGroupAnnotation = "pod-group-name"

// Groups are the groups of pods that other APIs describe, as far as the API server has these APIs.
type Groups struct {
	factory dynamicinformer.DynamicSharedInformerFactory
	listers map[schema.GroupVersionResource]cache.GenericLister
	synced  []cache.InformerSynced
}

// NewGroups returns groups whose informers are not started. Changed is called after each change of one.
// Errors: the API server does not say what it has.
func NewGroups(has discovery.DiscoveryInterface, client dynamic.Interface, changed func()) (*Groups, error) {
	g := &Groups{
		factory: dynamicinformer.NewDynamicSharedInformerFactory(client, 0),
		listers: map[schema.GroupVersionResource]cache.GenericLister{},
	}
	for _, kind := range []schema.GroupVersionResource{upstreamWorkloads, kaiPodGroups} {
		served, err := has.ServerResourcesForGroupVersion(kind.GroupVersion().String())
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("whether there is %s: %w", kind.GroupVersion(), err)
		}
		for _, resource := range served.APIResources {
			if resource.Name != kind.Resource {
				continue
			}
			informer := g.factory.ForResource(kind)
			registered, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc:    func(any) { changed() },
				UpdateFunc: func(_, _ any) { changed() },
				DeleteFunc: func(any) { changed() },
			})
			if err != nil {
				return nil, fmt.Errorf("handler of an informer: %w", err)
			}
			g.listers[kind] = informer.Lister()
			g.synced = append(g.synced, registered.HasSynced)
		}
	}
	return g, nil
}

// Start starts the informers, until the context ends, and waits until they have listed what there is.
// Errors: the context ended first.
func (g *Groups) Start(ctx context.Context) error {
	g.factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), g.synced...) {
		return fmt.Errorf("groups of pods: %w", ctx.Err())
	}
	return nil
}

// group is what is known of the group of a pod.
type group struct {
	key types.NamespacedName
	// fixed: the group has so many pods as the annotation of each says. Else it has `minimum` pods that
	// are placed together or not at all, and any number beside them.
	fixed   bool
	minimum int
	request *kueue.PodSetTopologyRequest // of all pods; nil: as the annotations of each say
	missing string                       // what it waits for: the object that describes it
	problem string                       // why it is not understood
}

// groupOf returns the group of a pod: that which its reference names, else Kueue's, else itself.
func (g *Groups) groupOf(p *corev1.Pod) group {
	key := func(name string) types.NamespacedName {
		return types.NamespacedName{Namespace: p.Namespace, Name: name}
	}
	if reference := p.Spec.WorkloadRef; reference != nil {
		of := group{key: key(strings.Join([]string{"workload", reference.Name, reference.PodGroup, reference.PodGroupReplicaKey}, "/"))}
		g.readUpstream(&of, p, reference)
		return of
	}
	if name := p.Annotations[kaiGroupAnnotation]; name != "" {
		of := group{key: key("podgroup/" + name)}
		g.readKai(&of, p, name)
		return of
	}
	if name := kueueGroup(p); name != "" {
		return group{key: key(name), fixed: true}
	}
	alone := group{key: key("pod/" + p.Name), minimum: 1} // no group is called so
	if by := groupNotRead(p); by != "" {
		alone.problem = fmt.Sprintf("pod %s: names its group by %s, which is not read here; want label %s and annotation %s",
			p.Name, by, groupLabel, groupCountAnnotation)
	}
	return alone
}

// find returns an object of a group; nil where it is not there, which the group says then.
func (g *Groups) find(of *group, kind schema.GroupVersionResource, what, namespace, name string) *unstructured.Unstructured {
	lister := g.listers[kind]
	if lister == nil {
		of.missing = fmt.Sprintf("%s %s: the API server had no %s %s when the bridge started", what, name, kind.GroupVersion(), kind.Resource)
		return nil
	}
	object, err := lister.ByNamespace(namespace).Get(name)
	if err != nil {
		of.missing = fmt.Sprintf("%s %s is not there; its pods wait for it", what, name)
		return nil
	}
	return object.(*unstructured.Unstructured)
}

func (g *Groups) readUpstream(of *group, p *corev1.Pod, reference *corev1.WorkloadReference) {
	object := g.find(of, upstreamWorkloads, "Workload", p.Namespace, reference.Name)
	if object == nil {
		return
	}
	groups, _, _ := unstructured.NestedSlice(object.Object, "spec", "podGroups")
	for _, entry := range groups {
		fields, _ := entry.(map[string]any)
		if fields["name"] != reference.PodGroup {
			continue
		}
		if _, gang, _ := unstructured.NestedFieldNoCopy(fields, "policy", "gang"); gang {
			of.readMinimum("Workload "+reference.Name+": podGroups["+reference.PodGroup+"]", fields, 0, "policy", "gang", "minCount")
			return
		}
		if _, basic, _ := unstructured.NestedFieldNoCopy(fields, "policy", "basic"); basic {
			of.key.Name = "pod/" + p.Name // its pods need no others
			of.minimum = 1
			return
		}
		of.problem = fmt.Sprintf("Workload %s: podGroups[%s] has neither policy.gang nor policy.basic", reference.Name, reference.PodGroup)
		return
	}
	of.missing = fmt.Sprintf("Workload %s has no pod group %s; its pods wait for it", reference.Name, reference.PodGroup)
}

func (g *Groups) readKai(of *group, p *corev1.Pod, name string) {
	object := g.find(of, kaiPodGroups, "PodGroup", p.Namespace, name)
	if object == nil {
		return
	}
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	if groups, _, _ := unstructured.NestedSlice(spec, "subGroups"); len(groups) > 0 {
		of.problem = fmt.Sprintf("PodGroup %s: has subGroups, which are not read here; want one group without groups inside it", name)
		return
	}
	for key := range object.GetAnnotations() {
		if strings.HasPrefix(key, "kai.scheduler/segment-") || strings.HasPrefix(key, "kai.scheduler/topology") {
			of.problem = fmt.Sprintf("PodGroup %s: annotation %s is not read here; want spec.topologyConstraint", name, key)
			return
		}
	}
	of.readMinimum("PodGroup "+name+": spec", spec, 1, "minMember")
	level := func(field string) *string {
		if value, _, _ := unstructured.NestedString(spec, "topologyConstraint", field); value != "" {
			return &value
		}
		return nil
	}
	required, preferred := level("requiredTopologyLevel"), level("preferredTopologyLevel")
	switch {
	case required != nil && preferred != nil:
		of.problem = fmt.Sprintf("PodGroup %s: topologyConstraint has a required and a preferred level; want one of them here", name)
	case required != nil || preferred != nil:
		of.request = &kueue.PodSetTopologyRequest{Required: required, Preferred: preferred}
	}
}

// readMinimum reads how many pods are placed together or not at all; otherwise: where the field is not there.
func (of *group) readMinimum(what string, fields map[string]any, otherwise int64, path ...string) {
	const most = 1 << 20
	minimum, there, err := unstructured.NestedInt64(fields, path...)
	if err == nil && !there {
		minimum = otherwise
	}
	if err != nil || minimum < 1 || minimum > most {
		value, _, _ := unstructured.NestedFieldNoCopy(fields, path...)
		of.problem = fmt.Sprintf("%s.%s: is %v; want 1 to %d", what, strings.Join(path, "."), value, most)
		return
	}
	of.minimum = int(minimum)
}

// kueueGroup returns the name of a pod's group of Kueue's; empty: it has none.
func kueueGroup(p *corev1.Pod) string {
	if name := p.Annotations[groupLabel]; name != "" {
		return name
	}
	return p.Labels[groupLabel]
}

// groupNotRead returns how a pod names a group of an API that is not read here; empty: it names none.
func groupNotRead(p *corev1.Pod) string {
	for _, name := range []string{"scheduling.k8s.io/workload", "scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"} {
		if p.Annotations[name] != "" {
			return "annotation " + name
		}
	}
	for _, name := range []string{"scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io", "pod-group.scheduling.sigs.k8s.io/name"} {
		if p.Labels[name] != "" {
			return "label " + name
		}
	}
	return ""
}
