package gate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge/gate"
)

// holds returns what the server holds, as NAME of OWNER: PODS.
func (w *world) holds() []string {
	w.t.Helper()
	held, err := w.asker.Holds(w.ctx)
	if err != nil {
		w.t.Error(err)
	}
	var texts []string
	for _, hold := range held {
		texts = append(texts, fmt.Sprintf("%s of %s: %d", hold.Workload.Name, hold.Owner, hold.Pods))
	}
	return texts
}

func (w *world) expectHolds(when string, want ...string) {
	w.t.Helper()
	if got := w.holds(); !slices.Equal(got, want) {
		w.t.Errorf("%s: the server holds %q, want %q", when, got, want)
	}
}

// hold lets somebody hold room for 6 cores on each of so many nodes.
func (w *world) hold(name, owner string, pods int32) {
	w.t.Helper()
	w.seen()
	if _, err := w.mirror.Flush(w.ctx); err != nil {
		w.t.Fatal(err)
	}
	set := espalier.PodSet{Flavor: "default", PodSet: kueue.PodSet{Name: "main", Count: pods}}
	set.Template.Spec = corev1.PodSpec{Containers: pod(name, 0, 1, nil).Spec.Containers}
	set.TopologyRequest = &kueue.PodSetTopologyRequest{}
	everywhere := true
	set.TopologyRequest.Unconstrained = &everywhere
	placed, err := w.asker.Place(w.ctx, espalier.PlaceOptions{Sequential: true, Hold: time.Hour, HoldOwner: owner},
		espalier.Gang{Namespace: "team", Name: name, PodSets: []espalier.PodSet{set}})
	if err != nil || !placed.Answers[0].Fits() {
		w.t.Fatalf("%+v, %v", placed, err)
	}
}

func TestRoomIsHeldUntilAllPodsSayTheirNodes(t *testing.T) {
	const pods = 4
	w := newWorld(t, 2, 4, gate.Options{})
	w.createGang("a", pods)
	w.onPatch = func(before int) {
		if before < pods {
			w.expectHolds(fmt.Sprintf("after %d nodes were written", before), "a of espalier-bridge: 4")
		} else {
			w.expectHolds("before a gate is opened")
		}
	}
	w.round()
	if a := w.nodesOf("a"); len(a) != pods {
		t.Errorf("a is on %v", a)
	}
	w.expectHolds("after the round")
}

func TestAGangThatCouldNotBeWrittenHoldsNothing(t *testing.T) {
	w := newWorld(t, 1, 4, gate.Options{})
	w.createGang("a", 4)
	w.failFrom = 2
	w.round()
	w.expectHolds("after writes failed")
	w.failFrom = -1
	w.round()
	if a := w.nodesOf("a"); len(a) != 4 {
		t.Errorf("a is on %v", a)
	}
}

func TestHoldsOfABridgeThatEndedAreReleasedAndThoseOfOthersCount(t *testing.T) {
	w := newWorld(t, 2, 4, gate.Options{})
	w.createGang("a", 4)
	w.hold("a", "espalier-bridge", 4)
	w.hold("theirs", "somebody", 4)
	w.restart(gate.Options{})
	w.round()
	if a := w.nodesOf("a"); len(a) != 4 {
		t.Errorf("a is on %v", a)
	}
	w.expectHolds("after the round", "theirs of somebody: 4")
	w.createGang("b", 4)
	w.round()
	if b := w.nodesOf("b"); len(b) != 0 {
		t.Errorf("b is on %v, which somebody holds", b)
	}
}

func TestAServerThatStartsAnewInTheMiddleOfARoundHoldsNothingAndKnowsAll(t *testing.T) {
	const pods = 4
	for at := range 2 * pods {
		t.Run(fmt.Sprint("after write ", at), func(t *testing.T) {
			w := newWorld(t, 1, 4, gate.Options{})
			w.createGang("a", pods)
			w.onPatch = func(before int) {
				if before == at {
					w.server.Restart()
				}
			}
			w.round()
			w.onPatch = nil
			w.createGang("b", pods)
			w.round()
			if a, b := w.nodesOf("a"), w.nodesOf("b"); len(a) != pods || len(b) != 0 {
				t.Errorf("a is on %v, and b on %v, where there is no room", a, b)
			}
			w.expectHolds("in the end")
		})
	}
}

func TestGatesOfGangsThatAreDecidedAreOpenedWithoutTheServer(t *testing.T) {
	const pods = 4
	w := newWorld(t, 1, 4, gate.Options{})
	w.createGang("a", pods)
	w.createGang("b", 1)
	w.failFrom = pods // all of a have a node, and none is open; b has no room
	w.round()
	w.failFrom = -1
	w.server.Kill()
	ctx, cancel := context.WithCancel(w.ctx)
	opened := 0
	w.onPatch = func(int) {
		if opened++; opened == pods {
			cancel() // the server would be waited for
		}
	}
	if err := w.gate.Round(ctx); err == nil {
		t.Error("a round ended well without a server")
	}
	w.seen()
	if a, b := w.nodesOf("a"), w.nodesOf("b"); len(a) != pods || len(b) != 0 {
		t.Errorf("a is on %v and b on %v", a, b)
	}
}

func TestPodsOfTheLongestNamesAreHeldApart(t *testing.T) {
	w := newWorld(t, 1, 2, gate.Options{})
	alone := func(p *corev1.Pod) { p.Labels = nil }
	long := strings.Repeat("n", 251)
	w.create(pod(long, 0, 1, alone), pod(long, 1, 1, alone), pod("short", 0, 1, nil))
	w.round()
	open := 0
	for _, p := range w.pods() {
		if isOpen(&p) {
			open++
		}
	}
	if open != 2 {
		t.Errorf("%d pods are open, want 2 of the three that there is room for", open)
	}
}

func TestADryRunHoldsNothing(t *testing.T) {
	w := newWorld(t, 1, 4, gate.Options{DryRun: true})
	w.createGang("a", 4)
	w.hold("theirs", "espalier-bridge", 1)
	w.round()
	w.expectHolds("after the round", "theirs of espalier-bridge: 1")
}
