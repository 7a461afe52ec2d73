package gate

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// annotate writes into each pod of a gang which node it is given, and returns whether all say so: then
// they use these nodes.
func (g *Gate) annotate(ctx context.Context, p *plan) bool {
	for i := range p.place {
		m := &p.place[i]
		node := p.nodes[m.key()]
		if m.node == node {
			continue
		}
		if !g.patch(ctx, m, types.MergePatchType, map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{NodeAnnotation: node}},
		}, "give a node", node) {
			return false
		}
		m.node = node
		g.note(m, false)
	}
	if !g.options.DryRun {
		for _, m := range p.place {
			g.assume(m, m.node)
		}
	}
	return true
}

// open lets pods of a gang go to their nodes, in the order of their ranks.
func (g *Gate) open(ctx context.Context, p *plan) {
	for i := range p.open {
		m := &p.open[i]
		node, err := g.nodes.Get(m.node)
		if err != nil {
			return // the next round finds it another one
		}
		host := node.Labels[corev1.LabelHostname]
		if host == "" {
			g.say(ctx, p.gang, "TopologyNotPlaced", "hostname", fmt.Sprintf("node %s has lost its label %s", m.node, corev1.LabelHostname))
			return
		}
		if !g.patch(ctx, m, types.StrategicMergePatchType, map[string]any{
			"spec": map[string]any{
				"nodeSelector":    map[string]any{corev1.LabelHostname: host},
				"schedulingGates": []any{map[string]any{"$patch": "delete", "name": Name}},
			},
		}, "open the gate", m.node) {
			return
		}
		g.opened.Inc()
		g.note(m, true)
	}
}

// note remembers what the informer does not show yet.
func (g *Gate) note(m *member, opened bool) {
	if !g.options.DryRun {
		g.written[m.key()] = written{m.UID, m.node, opened}
	}
}

// patch changes a pod unless somebody else changed it meanwhile, and returns whether it is changed.
func (g *Gate) patch(ctx context.Context, m *member, kind types.PatchType, change map[string]any, what, node string) bool {
	logger := g.options.Logger.With("pod", m.key().String(), "node", node)
	if g.options.DryRun {
		logger.Info("would " + what)
		return true
	}
	metadata, _ := change["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		change["metadata"] = metadata
	}
	// Of two replicas that act at once only one gets through.
	metadata["resourceVersion"] = m.ResourceVersion
	metadata["uid"] = m.UID
	bytes, err := json.Marshal(change)
	if err != nil {
		logger.Error("did not "+what, "err", err)
		return false
	}
	changed, err := g.client.CoreV1().Pods(m.Namespace).Patch(ctx, m.Name, kind, bytes, metav1.PatchOptions{})
	if err != nil {
		g.failed.Inc()
		logger.Warn("did not "+what, "err", err)
		return false
	}
	m.Pod = changed // with the version that the next write builds on
	logger.Debug("did " + what)
	return true
}

// deleteLost deletes pods that were let go to a node that is gone before they were bound: nothing
// else sends them elsewhere. Those that nobody would make anew are left, with an Event.
func (g *Gate) deleteLost(ctx context.Context, p *plan) {
	for i := range p.lost {
		m := &p.lost[i]
		if metav1.GetControllerOfNoCopy(m.Pod) == nil {
			g.say(ctx, p.gang, "TopologyNodeGone", m.Name, fmt.Sprintf("pod %s waits for node %s, which is gone; delete the pod to have it placed anew", m.Name, m.node))
			continue
		}
		if g.options.DryRun {
			g.options.Logger.Info("would delete a pod, as its node is gone", "pod", m.key().String(), "node", m.node)
			continue
		}
		err := g.client.CoreV1().Pods(m.Namespace).Delete(ctx, m.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &m.UID, ResourceVersion: &m.ResourceVersion},
		})
		if err != nil && !apierrors.IsNotFound(err) {
			g.options.Logger.Warn("pod not deleted, whose node is gone", "pod", m.key().String(), "err", err)
		}
	}
}
