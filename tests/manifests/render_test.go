package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const root = "../../docker/kustomize/"

// withServer are the overlays whose pod has a server.
var withServer = []string{"sidecar", "standalone", "cuda", "bridge"}

var overlays = append([]string{"bridge-standalone"}, withServer...)

// decode reads every document of a stream as the type that it names, and refuses what that has not:
// unknown fields, duplicates, values of another type.
func decode(stream []byte) ([]runtime.Object, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme, rbacv1.AddToScheme,
		monitoringv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme,
		json.SerializerOptions{Yaml: true, Strict: true})
	var objects []runtime.Object
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(stream)))
	buffer := make([]byte, len(stream)+1)
	for {
		size, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object, _, err := strict.Decode(buffer[:size], nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%w in\n%s", err, buffer[:size])
		}
		objects = append(objects, object)
	}
}

func render(t *testing.T, overlay string) []runtime.Object {
	t.Helper()
	return renderFolder(t, root+overlay)
}

// renderWith renders an overlay with a component.
func renderWith(t *testing.T, overlay, component string) []runtime.Object {
	t.Helper()
	folder := t.TempDir()
	text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" +
		"resources: [" + relative(t, folder, root+overlay) + "]\ncomponents: [" + relative(t, folder, root+component) + "]\n"
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return renderFolder(t, folder)
}

// relative returns the way from a folder to a path: kustomizations name nothing from the root.
func relative(t *testing.T, folder, path string) string {
	t.Helper()
	here, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	way, err := filepath.Rel(folder, here)
	if err != nil {
		t.Fatal(err)
	}
	return way
}

func renderFolder(t *testing.T, overlay string) []runtime.Object {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), overlay)
	if err != nil {
		t.Fatalf("%s: %v", overlay, err)
	}
	stream, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := decode(stream)
	if err != nil {
		t.Fatalf("%s: %v", overlay, err)
	}
	return objects
}

// only returns the single object of a type.
func only[T runtime.Object](t *testing.T, objects []runtime.Object) T {
	t.Helper()
	var found []T
	for _, object := range objects {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects of type %T, want 1", len(found), *new(T))
	}
	return found[0]
}

func selects(t *testing.T, selector *metav1.LabelSelector, set map[string]string) bool {
	t.Helper()
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Matches(labels.Set(set))
}

// containers returns those that run for as long as the pod does.
func containers(pod corev1.PodSpec) []corev1.Container {
	all := append([]corev1.Container{}, pod.Containers...)
	for _, container := range pod.InitContainers {
		if container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all = append(all, container)
		}
	}
	return all
}

func server(t *testing.T, pod corev1.PodSpec) corev1.Container {
	t.Helper()
	for _, container := range containers(pod) {
		if container.Name == "espalier" {
			return container
		}
	}
	t.Fatal("no container espalier")
	return corev1.Container{}
}

func hasPort(container corev1.Container, port intstr.IntOrString) bool {
	for _, known := range container.Ports {
		if port == intstr.FromString(known.Name) || port == intstr.FromInt32(known.ContainerPort) {
			return true
		}
	}
	return false
}

func TestDecodeIsStrict(t *testing.T) {
	for name, text := range map[string]string{
		"unknown field":  "spec: {replica: 1}",
		"deep typo":      "spec: {template: {spec: {containers: [{name: a, imag: b}]}}}",
		"other type":     "spec: {replicas: one}",
		"twice":          "spec: {replicas: 1, replicas: 2}",
		"not a quantity": "spec: {template: {spec: {containers: [{name: a, resources: {limits: {cpu: 1 core}}}]}}}",
	} {
		if _, err := decode([]byte("apiVersion: apps/v1\nkind: Deployment\n" + text)); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
	if _, err := decode([]byte("apiVersion: apps/v2\nkind: Deployment\n")); err == nil {
		t.Error("a version that the kind does not have was taken")
	}
	if _, err := decode([]byte("apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 1}")); err != nil {
		t.Error(err)
	}
}
