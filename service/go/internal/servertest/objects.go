package servertest

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// kinds are the objects that a mirror looks at, and those that the bridge reads beside them.
var kinds = map[string]func() any{
	"Node":                  func() any { return &corev1.Node{} },
	"Pod":                   func() any { return &corev1.Pod{} },
	"LimitRange":            func() any { return &corev1.LimitRange{} },
	"RuntimeClass":          func() any { return &nodev1.RuntimeClass{} },
	"PriorityClass":         func() any { return &schedulingv1.PriorityClass{} },
	"Topology":              func() any { return &kueue.Topology{} },
	"ResourceFlavor":        func() any { return &kueue.ResourceFlavor{} },
	"Workload":              func() any { return &kueue.Workload{} },
	"WorkloadPriorityClass": func() any { return &kueue.WorkloadPriorityClass{} },
	"ClusterQueue":          func() any { return &kueue.ClusterQueue{} },
	"LocalQueue":            func() any { return &kueue.LocalQueue{} },
}

// Objects returns the objects of Lists in files as `kubectl get -o json` prints them, plain or
// gzip, as far as they are of kinds that are looked at.
func Objects(t testing.TB, files ...string) []any {
	t.Helper()
	var objects []any
	for _, file := range files {
		list := struct{ Items []json.RawMessage }{}
		if err := json.Unmarshal(read(t, file), &list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, item := range list.Items {
			of := struct{ Kind string }{}
			if err := json.Unmarshal(item, &of); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			make, known := kinds[of.Kind]
			if !known {
				continue
			}
			object := make()
			if err := json.Unmarshal(item, object); err != nil {
				t.Fatalf("%s: %s: %v", file, of.Kind, err)
			}
			objects = append(objects, object)
		}
	}
	if len(objects) == 0 {
		t.Fatalf("%v: no objects", files)
	}
	return objects
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var reader io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if reader, err = gzip.NewReader(file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	bytes, err := io.ReadAll(reader)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return bytes
}
