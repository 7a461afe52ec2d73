package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// annotate writes into each pod of a gang which node it is given, and returns whether all say so: then
// they use these nodes.
func (g *Gate) annotate(ctx context.Context, p *plan) bool {
	decision := decisionOf(p)
	for i := range p.place {
		m := &p.place[i]
		if !g.give(ctx, m, given{p.nodes[m.key()], decision}) {
			return false
		}
	}
	if !g.options.DryRun {
		for _, m := range p.place {
			g.assume(m, m.node)
		}
	}
	return true
}

// withdraw takes from pods that are to be placed what they were given before: somebody else may still
// be writing the rest of it, which then is never complete. Returns whether none has a node.
func (g *Gate) withdraw(ctx context.Context, p *plan) bool {
	for i := range p.place {
		if !g.give(ctx, &p.place[i], given{}) {
			return false
		}
	}
	return true
}

// give writes into a pod which node it is given, if any, and returns whether it says so.
func (g *Gate) give(ctx context.Context, m *member, to given) bool {
	if m.given == to {
		return true
	}
	annotations := map[string]any{NodeAnnotation: nil, DecisionAnnotation: nil}
	what := "take back the node"
	if to != (given{}) {
		annotations[NodeAnnotation], annotations[DecisionAnnotation] = to.node, to.decision
		what = "give a node"
	}
	change := map[string]any{"metadata": map[string]any{"annotations": annotations}}
	if !g.patch(ctx, m, types.MergePatchType, change, what, to.node) {
		return false
	}
	m.given = to
	g.known[m.UID] = to
	g.note(m, false)
	return true
}

// decisionOf names which pods were given which nodes.
func decisionOf(p *plan) string {
	sum := sha256.New()
	for _, m := range p.place {
		fmt.Fprintln(sum, m.UID, p.nodes[m.key()])
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
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
		g.written[m.key()] = written{m.UID, m.given, opened}
	}
}

// patch changes a pod unless somebody else changed it meanwhile, and returns whether it is changed.
func (g *Gate) patch(ctx context.Context, m *member, kind types.PatchType, change map[string]any, what, node string) bool {
	logger := g.options.Logger.With("pod", m.key().String(), "node", node)
	if g.options.DryRun {
		logger.Info("would " + what)
		return true
	}
	if !g.mayWrite(logger, what) {
		return false
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

// mayWrite returns whether this replica is still the one that acts.
func (g *Gate) mayWrite(logger *slog.Logger, what string) bool {
	if g.options.MayWrite == nil {
		return true
	}
	err := g.options.MayWrite()
	if err != nil {
		g.failed.Inc()
		logger.Warn("did not "+what, "err", err)
	}
	return err == nil
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
		if !g.mayWrite(g.options.Logger.With("pod", m.key().String()), "delete a pod") {
			return
		}
		err := g.client.CoreV1().Pods(m.Namespace).Delete(ctx, m.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &m.UID, ResourceVersion: &m.ResourceVersion},
		})
		if err != nil && !apierrors.IsNotFound(err) {
			g.options.Logger.Warn("pod not deleted, whose node is gone", "pod", m.key().String(), "err", err)
		}
	}
}
