package resources

import (
	"math"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func list(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func TestAmount(t *testing.T) {
	for _, c := range []struct {
		name, quantity string
		want           int64
	}{
		{"cpu", "160", 160_000},
		{"cpu", "100m", 100},
		{"cpu", "100u", 1},
		{"cpu", "1n", 1},
		{"cpu", "-1n", -1},
		{"cpu", "9223372036854775", 9223372036854775000},
		{"cpu", "9223372036854776", math.MaxInt64},
		{"cpu", "1e30", math.MaxInt64},
		{"cpu", "-1e30", math.MinInt64},
		{"memory", "1600Gi", 1600 << 30},
		{"memory", "0.5", 1},
		{"memory", "1e18", 1e18},
		{"memory", "9223372036854775807", math.MaxInt64},
		{"memory", "9223372036854775808", math.MaxInt64},
		{"memory", "20E", math.MaxInt64},
		{"nvidia.com/gpu", "0", 0},
	} {
		if got := Amount(c.name, resource.MustParse(c.quantity)); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.name, c.quantity, got, c.want)
		}
	}
}

func TestSumsAndProductsStayWithinAnInt64(t *testing.T) {
	a := Amounts{"x": math.MaxInt64 - 1, "y": math.MinInt64 + 1}
	a.Add(Amounts{"x": 2, "y": -2, "z": 3})
	if want := (Amounts{"x": math.MaxInt64, "y": math.MinInt64, "z": 3}); !reflect.DeepEqual(a, want) {
		t.Errorf("%v, want %v", a, want)
	}
	got := Amounts{"x": math.MaxInt64 / 2, "y": math.MinInt64 / 2, "cpu": 3, "pods": 1, "n": 0}.OfPods(3)
	want := Amounts{"x": math.MaxInt64, "y": math.MinInt64, "cpu": 9, "pods": 6, "n": 0}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func container(requests, limits corev1.ResourceList) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}
}

func TestOfPod(t *testing.T) {
	always := ptr.To(corev1.ContainerRestartPolicyAlways)
	sidecar := container(list("cpu", "1"), nil)
	sidecar.RestartPolicy = always
	limits := LimitsOf([]*corev1.LimitRange{
		{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
			{Type: corev1.LimitTypeContainer, DefaultRequest: list("cpu", "7")},
			{Type: corev1.LimitTypePod, DefaultRequest: list("memory", "5")},
		}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
			{Type: corev1.LimitTypeContainer, DefaultRequest: list("cpu", "2"), Max: list("memory", "9"), Min: list("gpu", "1")},
			{Type: corev1.LimitTypePersistentVolumeClaim, DefaultRequest: list("cpu", "50")},
		}}},
	})
	for _, c := range []struct {
		name   string
		spec   corev1.PodSpec
		around Surroundings
		want   Amounts
	}{
		{
			name: "containers add up, limits stand for missing requests",
			spec: corev1.PodSpec{Containers: []corev1.Container{
				container(list("cpu", "1500m"), list("cpu", "4", "gpu", "8")), container(list("cpu", "1"), nil),
			}},
			want: Amounts{"cpu": 2500, "gpu": 8},
		},
		{
			name: "init containers raise, those that keep running add",
			spec: corev1.PodSpec{
				Containers:     []corev1.Container{container(list("cpu", "1"), nil)},
				InitContainers: []corev1.Container{sidecar, container(list("cpu", "3", "x", "1"), nil)},
			},
			want: Amounts{"cpu": 4000, "x": 1},
		},
		{
			name: "what the pod says of all counts for what it may say",
			spec: corev1.PodSpec{
				Containers: []corev1.Container{container(list("cpu", "1", "gpu", "2"), nil)},
				Resources:  &corev1.ResourceRequirements{Requests: list("cpu", "3", "gpu", "9", "hugepages-2Mi", "4")},
			},
			want: Amounts{"cpu": 3000, "gpu": 2, "hugepages-2Mi": 4},
		},
		{
			name:   "overhead of the class, where the pod has none",
			spec:   corev1.PodSpec{RuntimeClassName: ptr.To("kata"), Containers: []corev1.Container{container(list("cpu", "1"), nil)}},
			around: Surroundings{Overheads: map[string]corev1.ResourceList{"kata": list("cpu", "250m")}},
			want:   Amounts{"cpu": 1250},
		},
		{
			name: "overhead of the pod",
			spec: corev1.PodSpec{
				RuntimeClassName: ptr.To("kata"), Overhead: list("memory", "5"),
				Containers: []corev1.Container{container(list("cpu", "1"), nil)},
			},
			around: Surroundings{Overheads: map[string]corev1.ResourceList{"kata": list("cpu", "250m")}},
			want:   Amounts{"cpu": 1000, "memory": 5},
		},
		{
			name:   "defaults of the namespace: the first range by name counts",
			spec:   corev1.PodSpec{Containers: []corev1.Container{container(nil, nil)}},
			around: Surroundings{Limits: limits},
			want:   Amounts{"cpu": 2000, "memory": 9, "gpu": 1},
		},
	} {
		if got := OfPod(&c.spec, c.around); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestOfPodLeavesThePodAsItIs(t *testing.T) {
	spec := corev1.PodSpec{
		Containers:     []corev1.Container{container(list("cpu", "1"), nil), container(list("cpu", "1"), nil)},
		InitContainers: []corev1.Container{container(list("cpu", "5"), nil)},
		Overhead:       list("cpu", "1"),
	}
	before := spec.DeepCopy()
	OfPod(&spec, Surroundings{})
	if !reflect.DeepEqual(&spec, before) {
		t.Errorf("%+v, want %+v", spec, before)
	}
}
