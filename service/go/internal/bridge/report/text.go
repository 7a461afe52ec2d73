package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier"
)

// mostLines bounds what is said of where a pod set is.
const mostLines = 20

// levelNames are the keys of levels, coarsest first, and short names for them.
type levelNames struct{ keys, short []string }

func namesOf(keys []string) levelNames {
	n := levelNames{keys: keys}
	uses := map[string]int{}
	for _, key := range keys {
		short := strings.TrimPrefix(key[strings.LastIndex(key, "/")+1:], "topology-")
		if key == corev1.LabelHostname {
			short = "host"
		}
		n.short = append(n.short, short)
		uses[short]++
	}
	for i, key := range keys {
		if n.short[i] == "" || uses[n.short[i]] > 1 { // two levels of one short name keep their keys
			n.short[i] = key
		}
	}
	return n
}

// of returns the short name of a level; keys that are none stay as they are.
func (n levelNames) of(key string) string {
	if at := slices.Index(n.keys, key); at >= 0 {
		return n.short[at]
	}
	return key
}

// requested returns a text such as "required block, 4/rack", for slices of 4 pods in one rack.
func (n levelNames) requested(r *kueue.PodSetTopologyRequest) string {
	if r == nil {
		return "implied"
	}
	var parts []string
	switch {
	case r.Required != nil:
		parts = append(parts, "required "+n.of(*r.Required))
	case r.Preferred != nil:
		parts = append(parts, "preferred "+n.of(*r.Preferred))
	case r.Unconstrained != nil && *r.Unconstrained:
		parts = append(parts, "unconstrained")
	}
	slice := func(size int32, level string) { parts = append(parts, fmt.Sprintf("%d/%s", size, n.of(level))) }
	switch size := r.PodSetSliceSize; {
	case r.PodSetSliceRequiredTopology != nil && size == nil:
		slice(1, *r.PodSetSliceRequiredTopology)
	case r.PodSetSliceRequiredTopology != nil:
		slice(*size, *r.PodSetSliceRequiredTopology)
	case size != nil && len(n.keys) > 0: // at the lowest level
		slice(*size, n.keys[len(n.keys)-1])
	case size != nil:
		slice(*size, corev1.LabelHostname)
	}
	for _, layer := range r.PodsetSliceRequiredTopologyConstraints {
		slice(layer.Size, layer.Topology)
	}
	if len(parts) == 0 {
		return "implied"
	}
	return strings.Join(parts, ", ")
}

func counted(count int64, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", count, noun)
}

// lines say where pods are: one for each domain above the leaves, such as "zone-a/rack-1: 8 hosts x 4".
func (t *tree) lines(pods []onLeaf) []string {
	type group struct {
		above  string
		leaves map[int64]int64 // by pods on each
		only   string          // its last leaf
	}
	var groups []*group
	at := map[string]*group{}
	for _, on := range slices.SortedFunc(slices.Values(pods), func(a, b onLeaf) int { return cmp.Compare(a.leaf, b.leaf) }) {
		path := t.paths[on.leaf]
		above := strings.Join(path[:len(path)-1], "/")
		g := at[above]
		if g == nil {
			g = &group{above: above, leaves: map[int64]int64{}}
			at[above] = g
			groups = append(groups, g)
		}
		g.leaves[on.pods]++
		g.only = strings.Join(path, "/")
	}
	var lines []string
	for i, g := range groups {
		if len(lines) == mostLines-1 && len(groups) > mostLines {
			return append(lines, fmt.Sprintf("and %d more", len(groups)-i))
		}
		var parts []string
		leaves := int64(0)
		for _, pods := range slices.SortedFunc(maps.Keys(g.leaves), func(a, b int64) int { return cmp.Compare(b, a) }) {
			parts = append(parts, fmt.Sprintf("%s x %d", counted(g.leaves[pods], t.levels.short[len(t.levels.short)-1]), pods))
			leaves += g.leaves[pods]
		}
		where := g.above
		if leaves == 1 || where == "" {
			where = g.only
		}
		lines = append(lines, where+": "+strings.Join(parts, ", "))
	}
	return lines
}

// nearText says how near a domain comes.
func (t *tree) nearText(miss *espalier.NearMiss) string {
	where := "all of flavor " + miss.Flavor
	if miss.Level != "" {
		where = t.levels.of(miss.Level) + " " + strings.Join(miss.Values, "/")
	}
	return fmt.Sprintf("%s: %d of %s fit", where, miss.Fit, counted(miss.Pods, "pod"))
}

// bindingLines say what keeps more pods from fitting there.
func bindingLines(miss *espalier.NearMiss) []string {
	lines := []string{} // a list in JSON too
	if len(miss.Binding) > 0 {
		lines = append(lines, "short of "+strings.Join(miss.Binding, ", "))
	}
	for _, ruled := range miss.RuledOut {
		lines = append(lines, "ruled out by "+ruled)
	}
	return lines
}
