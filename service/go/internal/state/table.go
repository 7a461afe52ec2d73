package state

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
)

// table holds the entries of one list of a state by key, and which of them the server has not been
// told of. It is not safe for concurrent use.
type table[K comparable, V any] struct {
	want     map[K]V
	sent     map[K]struct{} // what the server has, as far as is known
	dirty    map[K]struct{}
	inFlight map[K]struct{} // those of the delta that has no answer yet
}

func newTable[K comparable, V any]() table[K, V] {
	return table[K, V]{
		want:  map[K]V{},
		sent:  map[K]struct{}{},
		dirty: map[K]struct{}{},
	}
}

// set puts an entry in its place and says whether that changed anything.
func (t *table[K, V]) set(key K, value V) bool {
	if before, there := t.want[key]; there && reflect.DeepEqual(before, value) {
		return false
	}
	t.want[key] = value
	t.dirty[key] = struct{}{}
	return true
}

func (t *table[K, V]) remove(key K) bool {
	if _, there := t.want[key]; !there {
		return false
	}
	delete(t.want, key)
	t.dirty[key] = struct{}{}
	return true
}

// replace makes entries the whole content.
func (t *table[K, V]) replace(entries map[K]V) bool {
	changed := false
	for key := range t.want {
		if _, there := entries[key]; !there {
			changed = t.remove(key) || changed
		}
	}
	for key, value := range entries {
		changed = t.set(key, value) || changed
	}
	return changed
}

// take returns the keys of what changed since the last delta that arrived: those with an entry, and
// those without one that the server has. Until acknowledge or giveBack they count as on their way.
func (t *table[K, V]) take(less func(a, b K) int) (set, removed []K) {
	t.inFlight, t.dirty = t.dirty, map[K]struct{}{}
	for key := range t.inFlight {
		if _, there := t.want[key]; there {
			set = append(set, key)
		} else if _, there := t.sent[key]; there {
			removed = append(removed, key)
		}
	}
	slices.SortFunc(set, less)
	slices.SortFunc(removed, less)
	return set, removed
}

// takeAll returns all keys, as of a whole state that is sent anew.
func (t *table[K, V]) takeAll(less func(a, b K) int) []K {
	t.dirty = map[K]struct{}{}
	t.sent = map[K]struct{}{}
	t.inFlight = make(map[K]struct{}, len(t.want))
	for key := range t.want {
		t.inFlight[key] = struct{}{}
	}
	return slices.SortedFunc(maps.Keys(t.want), less)
}

func (t *table[K, V]) acknowledge() {
	for key := range t.inFlight {
		// Removed meanwhile or not: the server has it, and dirty says so where it is to go.
		t.sent[key] = struct{}{}
		_, there := t.want[key]
		if _, again := t.dirty[key]; !there && !again {
			delete(t.sent, key)
		}
	}
	t.inFlight = nil
}

func (t *table[K, V]) giveBack() {
	for key := range t.inFlight {
		t.dirty[key] = struct{}{}
	}
	t.inFlight = nil
}

func byName(a, b string) int { return cmp.Compare(a, b) }
