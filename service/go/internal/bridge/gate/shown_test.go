package gate_test

import (
	"strings"
	"testing"

	"espalier.dev/espalier/internal/bridge/gate"
)

func TestGangsAreToldWithTheirNodesOrWhyTheyWait(t *testing.T) {
	w := newWorld(t, 1, 3, gate.Options{})
	w.createGang("fits", 2)
	w.create(pod("part", 0, 2, nil))
	w.createGang("large", 4)
	w.round()
	told := map[string]gate.Gang{}
	for _, g := range w.gate.Gangs() {
		told[g.Key.Name] = g
	}
	for name, reason := range map[string]string{"fits": "", "part": "1 of 2 pods are there", "large": "flavor default: "} {
		g := told[name]
		if !strings.HasPrefix(g.Reason, reason) || (g.Reason == "") != (reason == "") {
			t.Errorf("%s: %+v, want %q", name, g, reason)
		}
		for _, p := range g.Pods {
			if (p.Node != "") != (reason == "") || p.Requests["cpu"] != 6000 || *p.Topology.Required != "rack" {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
	if len(told) != 3 || w.gate.Rounds() != 1 {
		t.Errorf("%+v after %d rounds", told, w.gate.Rounds())
	}
}
