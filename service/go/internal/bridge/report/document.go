package report

import (
	"slices"
	"strings"

	"espalier.dev/espalier/internal/resources"
)

// Document is the data of the page, in the form that service/cli/html_report writes it. Amounts are in
// canonical units.
type Document struct {
	Head
	Body
}

// Head is what is of one request.
type Head struct {
	Command string      `json:"command"` // the title
	Facts   string      `json:"facts"`   // the lines below it
	About   string      `json:"about"`   // name of the gang that is shown first; may be empty
	Links   [][2]string `json:"links"`   // texts and addresses of other pages
}

// Body is what is of one state.
type Body struct {
	Flavors []Flavor `json:"flavors"`
	Gangs   []Gang   `json:"gangs"`
}

// Flavor is one with a topology.
type Flavor struct {
	Name        string     `json:"name"`
	Resource    string     `json:"resource"`    // that is drawn
	Accelerator bool       `json:"accelerator"` // whether that is a device
	Levels      []string   `json:"levels"`      // short names, coarsest first
	Names       [][]string `json:"names"`       // by level, of its domains
	Children    [][]int    `json:"children"`    // by level but the lowest, where those of each domain begin
	Capacity    []int64    `json:"capacity"`    // by leaf
	Others      []int64    `json:"others"`      // leaf, amount, ...: what is in use by no gang here
}

// Gang is a workload that waits or runs.
type Gang struct {
	Name     string   `json:"name"`
	State    string   `json:"state"` // waiting or running
	Status   string   `json:"status"`
	Queue    string   `json:"queue,omitempty"`
	Priority string   `json:"priority"` // as a text: a number would lose digits
	PodSets  []PodSet `json:"podSets"`
	Reasons  []string `json:"reasons,omitempty"`
	Changes  []string `json:"changes,omitempty"`
	Nearest  *Nearest `json:"nearest,omitempty"`
}

// PodSet are equal pods of a gang.
type PodSet struct {
	Name      string   `json:"name"`
	Flavor    int      `json:"flavor"` // position; -1: none with a topology
	Requested string   `json:"requested"`
	Pods      int64    `json:"pods"`
	Each      int64    `json:"each"` // of the flavor's resource
	Lines     []string `json:"lines,omitempty"`
	Leaves    []int64  `json:"leaves"` // leaf, pods, ...
	Lost      int64    `json:"lost,omitempty"`
}

// Nearest is the domain that comes nearest to holding a gang.
type Nearest struct {
	When    string   `json:"when"`
	Text    string   `json:"text"`
	Binding []string `json:"binding"`
	Flavor  int      `json:"flavor"`
	Level   int      `json:"level"` // -1: no domain that is drawn
	Index   int      `json:"index"`
}

// resource returns what is drawn of a flavor: the device that most pod sets ask for, of those that leaves
// have; of several the one that more leaves have, then the first by name; without any cpu, and false.
func (t *tree) resource(gangs []gang) (string, bool) {
	leaves, asked := map[string]int{}, map[string]int{}
	for _, capacity := range t.capacity {
		for name, amount := range capacity {
			if amount > 0 && strings.Contains(name, "/") {
				leaves[name]++
			}
		}
	}
	for _, g := range gangs {
		for _, p := range g.sets {
			for name, amount := range p.requests {
				if p.flavor == t.name && amount > 0 {
					asked[name]++
				}
			}
		}
	}
	most := ""
	for name, count := range leaves {
		if more := asked[name] - asked[most]; most == "" || more > 0 || (more == 0 && (count > leaves[most] || (count == leaves[most] && name < most))) {
			most = name
		}
	}
	if most == "" {
		return "cpu", false
	}
	return most, true
}

// body returns the flavors and gangs of the page.
func body(trees []*tree, gangs []gang) Body {
	b := Body{Flavors: []Flavor{}, Gangs: []Gang{}}
	byGangs := make([][]int64, len(trees)) // by flavor and leaf
	for i, t := range trees {
		f := Flavor{Name: t.name, Levels: t.levels.short, Names: t.names, Children: t.children, Capacity: []int64{}, Others: []int64{}}
		f.Resource, f.Accelerator = t.resource(gangs)
		for _, capacity := range t.capacity {
			f.Capacity = append(f.Capacity, capacity[f.Resource])
		}
		b.Flavors = append(b.Flavors, f)
		byGangs[i] = make([]int64, len(t.paths))
	}
	for _, g := range gangs {
		shown := g.Gang
		shown.PodSets = []PodSet{}
		for _, p := range g.sets {
			shown.PodSets = append(shown.PodSets, p.show(trees, b.Flavors, byGangs))
		}
		if at := indexOf(trees, g.nearestFlavor()); at >= 0 {
			t := trees[at]
			near := Nearest{When: g.when, Text: t.nearText(g.nearest), Binding: bindingLines(g.nearest), Flavor: at, Level: -1, Index: t.find(g.nearest.Values)}
			if near.Index >= 0 {
				near.Level = len(g.nearest.Values) - 1
			}
			shown.Nearest = &near
		}
		b.Gangs = append(b.Gangs, shown)
	}
	for i, t := range trees {
		f := &b.Flavors[i]
		for at, used := range t.used {
			if others := used[f.Resource] - byGangs[i][at]; others != 0 {
				f.Others = append(f.Others, int64(at), others)
			}
		}
	}
	return b
}

func (g *gang) nearestFlavor() string {
	if g.nearest == nil {
		return ""
	}
	return g.nearest.Flavor
}

func indexOf(trees []*tree, flavor string) int {
	return slices.IndexFunc(trees, func(t *tree) bool { return t.name == flavor })
}

// show returns a pod set as it is drawn, and adds what it takes of leaves.
func (p *podSet) show(trees []*tree, flavors []Flavor, byGangs [][]int64) PodSet {
	shown := PodSet{Name: p.name, Flavor: indexOf(trees, p.flavor), Requested: p.requested, Pods: p.pods, Leaves: []int64{}}
	if shown.Flavor < 0 {
		return shown
	}
	t := trees[shown.Flavor]
	shown.Each = p.requests[flavors[shown.Flavor].Resource]
	var found []onLeaf
	for _, on := range p.on {
		at, there := t.leaves[on.leaf]
		if !there {
			shown.Lost += on.pods
			continue
		}
		found = append(found, onLeaf{at, on.pods})
		shown.Leaves = append(shown.Leaves, int64(at), on.pods)
		byGangs[shown.Flavor][at] += resources.Multiply(shown.Each, on.pods)
	}
	shown.Lines = t.lines(found)
	return shown
}
