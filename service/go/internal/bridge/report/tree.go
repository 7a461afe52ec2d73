package report

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"espalier.dev/espalier/internal/resources"
)

// tree is a flavor: the domains of its topology, and what its leaves have.
type tree struct {
	name     string
	levels   levelNames
	names    [][]string // by level, of its domains
	children [][]int    // by level but the lowest, where those of each domain begin; one more closes the last
	paths    [][]string // of leaves
	leaves   map[string]int
	capacity []resources.Amounts // by leaf
	used     []resources.Amounts // by leaf, by whomever
	nodes    map[string]string   // that take part, with the leaf that each is on
}

// isOf returns whether a node is of a flavor: in service, with its labels and those of all levels. A
// label that is missing equals an empty value.
func (f *flavor) isOf(n *node, levels []string) bool {
	if !n.inService {
		return false
	}
	for key, value := range f.nodeLabels {
		if n.labels[key] != value {
			return false
		}
	}
	for _, level := range levels {
		if _, there := n.labels[level]; !there {
			return false
		}
	}
	return true
}

// plant returns the tree of a flavor.
func (c *contents) plant(f *flavor) *tree {
	levels := c.topologies[f.topology]
	t := &tree{name: f.name, levels: namesOf(levels), leaves: map[string]int{}, nodes: map[string]string{}}
	hosts := t.hosts()
	type place struct {
		id   string
		path []string
		node *node
	}
	var places []place
	for i := range c.nodes {
		n := &c.nodes[i]
		if !f.isOf(n, levels) {
			continue
		}
		p := place{node: n}
		for _, level := range levels {
			p.path = append(p.path, n.labels[level])
		}
		p.id = strings.Join(p.path, ",")
		if hosts {
			p.id = p.path[len(p.path)-1]
		}
		t.nodes[n.name] = p.id
		places = append(places, p)
	}
	// Nodes of one hostname are one leaf, on the path of the one whose name is first.
	slices.SortFunc(places, func(a, b place) int { return strings.Compare(a.node.name, b.node.name) })
	pathOf := map[string][]string{}
	for i := range places {
		if first, known := pathOf[places[i].id]; known {
			places[i].path = first
		} else {
			pathOf[places[i].id] = places[i].path
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(slices.Compare(a.path, b.path), strings.Compare(a.id, b.id))
	})
	for _, p := range places {
		at, known := t.leaves[p.id]
		if !known {
			at = len(t.paths)
			t.leaves[p.id] = at
			t.paths = append(t.paths, p.path)
			t.capacity = append(t.capacity, resources.Amounts{})
			t.used = append(t.used, resources.Amounts{})
		}
		t.capacity[at].Add(p.node.allocatable)
		t.used[at].Add(c.usage[p.node.name])
	}
	t.outline()
	return t
}

func (t *tree) hosts() bool {
	keys := t.levels.keys
	return len(keys) > 0 && keys[len(keys)-1] == corev1.LabelHostname
}

// outline makes the domains of all levels out of the paths of leaves, which are sorted.
func (t *tree) outline() {
	levels := len(t.levels.keys)
	t.names = make([][]string, levels)
	t.children = make([][]int, max(levels-1, 0))
	for level := range t.names {
		t.names[level] = []string{}
	}
	for i, path := range t.paths {
		same := 0 // levels that it shares with the leaf before
		if i > 0 {
			for same < levels-1 && path[same] == t.paths[i-1][same] {
				same++
			}
		}
		for level := same; level < levels; level++ {
			if level < levels-1 {
				t.children[level] = append(t.children[level], len(t.names[level+1]))
			}
			t.names[level] = append(t.names[level], path[level])
		}
	}
	for level := range t.children {
		t.children[level] = append(t.children[level], len(t.names[level+1]))
	}
}

// find returns the position of a domain among those of its level, or -1.
func (t *tree) find(path []string) int {
	if len(path) == 0 || len(path) > len(t.names) {
		return -1
	}
	begin, end := 0, len(t.names[0])
	for level, value := range path {
		at := slices.Index(t.names[level][begin:end], value)
		if at < 0 {
			return -1
		}
		at += begin
		if level == len(path)-1 {
			return at
		}
		begin, end = t.children[level][at], t.children[level][at+1]
	}
	return -1
}

// use adds what is used of leaves: in this flavor and, where both have hosts as leaves and the state says so,
// in others.
func (t *tree) use(usage map[leaf]resources.Amounts, shares func(flavor string) bool) {
	for of, amounts := range usage {
		if at, there := t.leaves[of.id]; there && (of.flavor == t.name || (t.hosts() && shares(of.flavor))) {
			t.used[at].Add(amounts)
		}
	}
}

// plantAll returns the trees of all flavors with a topology, by name, with all that is used of them.
func (c *contents) plantAll() []*tree {
	slices.SortFunc(c.flavors, func(a, b flavor) int { return strings.Compare(a.name, b.name) })
	var trees []*tree
	hosts := map[string]bool{}
	for i := range c.flavors {
		if len(c.topologies[c.flavors[i].topology]) > 0 {
			t := c.plant(&c.flavors[i])
			hosts[t.name] = t.hosts()
			trees = append(trees, t)
		}
	}
	shares := func(flavor string) bool { return c.shared && hosts[flavor] }
	for _, t := range trees {
		t.use(c.leaves, shares)
		for _, w := range c.workloads {
			t.use(w.usage, shares)
		}
	}
	return trees
}
