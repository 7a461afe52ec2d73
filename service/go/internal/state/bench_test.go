package state

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// full returns the store of a large cluster, which was loaded.
func full(b *testing.B) *Store {
	b.Helper()
	s := New()
	add := func(object any) {
		if err := s.Set(object); err != nil {
			b.Fatal(err)
		}
	}
	for _, object := range flavors() {
		add(object)
	}
	for n := range 10_000 {
		name := fmt.Sprintf("node-%05d", n)
		add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}})
		for p := range 10 {
			add(pod1(fmt.Sprintf("%s-%d", name, p), name, nil))
		}
	}
	for w := range 10_000 {
		add(admitted(fmt.Sprintf("w-%05d", w), 8, nil))
	}
	s.Load("", "")
	s.Acknowledge()
	return s
}

func BenchmarkLoad(b *testing.B) {
	s := full(b)
	for b.Loop() {
		s.Load("", "")
		s.Acknowledge()
	}
}

func BenchmarkUpdateOfOnePod(b *testing.B) {
	s := full(b)
	for i := 0; b.Loop(); i++ {
		if err := s.Set(pod1("one", fmt.Sprintf("node-%05d", i%10_000), nil)); err != nil {
			b.Fatal(err)
		}
		if s.Update("") == nil {
			b.Fatal("nothing to tell")
		}
		s.Acknowledge()
	}
}

func BenchmarkUpdateOfOneWorkload(b *testing.B) {
	s := full(b)
	for i := 0; b.Loop(); i++ {
		if err := s.Set(admitted("w-00007", int32(1+i%9), nil)); err != nil {
			b.Fatal(err)
		}
		if s.Update("") == nil {
			b.Fatal("nothing to tell")
		}
		s.Acknowledge()
	}
}
