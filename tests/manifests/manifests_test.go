// Package manifests holds what docker/kustomize renders to the types of Kubernetes' API, and to what the
// objects have to say of each other. It needs no cluster.
package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

func TestObjectsAreOfTheApi(t *testing.T) {
	for _, overlay := range overlays {
		t.Run(overlay, func(t *testing.T) {
			if len(render(t, overlay)) < 3 {
				t.Error("nothing was rendered")
			}
		})
	}
}

// What the namespace enforces (restricted), and that nothing in an image is written.
func TestPodsAreRestricted(t *testing.T) {
	for _, overlay := range overlays {
		t.Run(overlay, func(t *testing.T) {
			objects := render(t, overlay)
			if level := only[*corev1.Namespace](t, objects).Labels["pod-security.kubernetes.io/enforce"]; level != "restricted" {
				t.Errorf("the namespace enforces %q", level)
			}
			if token := only[*corev1.ServiceAccount](t, objects).AutomountServiceAccountToken; token == nil || *token {
				t.Error("the token of the service account is mounted")
			}
			pod := only[*appsv1.Deployment](t, objects).Spec.Template.Spec
			if pod.SecurityContext == nil || pod.SecurityContext.RunAsNonRoot == nil || !*pod.SecurityContext.RunAsNonRoot ||
				pod.SecurityContext.SeccompProfile == nil || pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("security context of the pod: %v", pod.SecurityContext)
			}
			for _, container := range containers(pod) {
				context := container.SecurityContext
				if context == nil || context.AllowPrivilegeEscalation == nil || *context.AllowPrivilegeEscalation ||
					context.ReadOnlyRootFilesystem == nil || !*context.ReadOnlyRootFilesystem ||
					context.Capabilities == nil || len(context.Capabilities.Drop) != 1 || context.Capabilities.Drop[0] != "ALL" {
					t.Errorf("security context of %s: %v", container.Name, context)
				}
				if context != nil && context.RunAsUser != nil && *context.RunAsUser != *pod.SecurityContext.RunAsUser {
					t.Errorf("%s runs as another user, who may not use the socket", container.Name)
				}
			}
		})
	}
}

func TestReferencesLeadSomewhere(t *testing.T) {
	for _, overlay := range overlays {
		t.Run(overlay, func(t *testing.T) {
			deployment := only[*appsv1.Deployment](t, render(t, overlay))
			template := deployment.Spec.Template
			if !selects(t, deployment.Spec.Selector, template.Labels) {
				t.Error("the Deployment does not select its pods")
			}
			volumes := map[string]bool{}
			for _, volume := range template.Spec.Volumes {
				volumes[volume.Name] = true
			}
			for _, container := range containers(template.Spec) {
				for _, mount := range container.VolumeMounts {
					if !volumes[mount.Name] {
						t.Errorf("%s mounts %s, which is no volume", container.Name, mount.Name)
					}
				}
			}
			// What it listens on is what its ports say.
			for _, container := range containers(template.Spec) {
				for _, argument := range container.Args {
					if match := regexp.MustCompile(`^--(?:listen|metrics)=[0-9.]+:(\d+)$`).FindStringSubmatch(argument); match != nil {
						if !hasPort(container, intstr.Parse(match[1])) {
							t.Errorf("%s is no port of the container", argument)
						}
					}
					// Files that it reads are in a folder that is mounted.
					if match := regexp.MustCompile(`^--[a-z-]+=(/etc/.*)/[^/]+$`).FindStringSubmatch(argument); match != nil {
						if !slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == match[1] && m.ReadOnly }) {
							t.Errorf("%s is in no folder that is mounted", argument)
						}
					}
				}
			}
		})
	}
}

func TestServersAreProbedAtTheirSocket(t *testing.T) {
	for _, overlay := range withServer {
		t.Run(overlay, func(t *testing.T) {
			espalier := server(t, only[*appsv1.Deployment](t, render(t, overlay)).Spec.Template.Spec)
			for name, probe := range map[string]*corev1.Probe{
				"startup": espalier.StartupProbe, "liveness": espalier.LivenessProbe, "readiness": espalier.ReadinessProbe,
			} {
				if probe == nil || probe.Exec == nil || probe.HTTPGet != nil || probe.GRPC != nil {
					t.Fatalf("the %s probe is %v, want a command", name, probe)
				}
				address, found := strings.CutPrefix(probe.Exec.Command[len(probe.Exec.Command)-1], "--connect=")
				if !found || !slices.Contains(espalier.Args, "--listen="+address) {
					t.Errorf("the %s probe asks by %v, the server has %v", name, probe.Exec.Command, espalier.Args)
				}
			}
		})
	}
}

func TestSidecarSharesTheSocket(t *testing.T) {
	pod := only[*appsv1.Deployment](t, render(t, "sidecar")).Spec.Template.Spec
	if len(pod.InitContainers) != 1 || pod.InitContainers[0].Name != "espalier" || len(containers(pod)) != 2 {
		t.Fatal("the server is not the sidecar of one controller")
	}
	for _, container := range containers(pod) {
		if len(container.VolumeMounts) != 1 || container.VolumeMounts[0].MountPath != "/run/espalier" ||
			container.VolumeMounts[0].ReadOnly != (container.Name != "espalier") {
			t.Errorf("%s mounts %v", container.Name, container.VolumeMounts)
		}
	}
	if !strings.Contains(strings.Join(pod.InitContainers[0].Args, " "), "--listen=unix:/run/espalier/") {
		t.Error("the server does not listen on the socket that is shared")
	}
}

func TestBridgeAloneHasTheRightsOfItsAccount(t *testing.T) {
	objects := render(t, "bridge")
	pod := only[*appsv1.Deployment](t, objects).Spec.Template.Spec
	if account := only[*corev1.ServiceAccount](t, objects).Name; pod.ServiceAccountName != account {
		t.Errorf("the pod runs as %s, not as %s", pod.ServiceAccountName, account)
	}
	if len(pod.Containers) != 1 || len(pod.InitContainers) != 1 || pod.InitContainers[0].Name != "espalier" {
		t.Fatal("the server is not the sidecar of the bridge")
	}
	for _, container := range containers(pod) {
		token := 0
		for _, mount := range container.VolumeMounts {
			if mount.MountPath == "/var/run/secrets/kubernetes.io/serviceaccount" {
				token++
			}
		}
		if (token == 1) != (container.Name == "bridge") {
			t.Errorf("%s has the token %d times", container.Name, token)
		}
	}
	bridge := pod.Containers[0]
	for _, probe := range []*corev1.Probe{bridge.StartupProbe, bridge.LivenessProbe, bridge.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil || !hasPort(bridge, probe.HTTPGet.Port) {
			t.Errorf("probe %v", probe)
		}
	}
	if !strings.Contains(strings.Join(bridge.Args, " "), "--server=unix:/run/espalier/") {
		t.Error("the bridge does not ask at the socket that is shared")
	}
}

// The bridge of bridge-standalone reaches the server of standalone, as one that may keep its state.
func TestBridgeIsAClientOfStandalone(t *testing.T) {
	standalone, objects := render(t, "standalone"), render(t, "bridge-standalone")
	deployment := only[*appsv1.Deployment](t, objects)
	if of := only[*appsv1.Deployment](t, standalone); of.Name == deployment.Name ||
		selects(t, of.Spec.Selector, deployment.Spec.Template.Labels) {
		t.Error("the two Deployments are in each other's way")
	}
	service := only[*corev1.Service](t, standalone)
	if labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(deployment.Spec.Template.Labels)) {
		t.Error("the Service leads to the bridge")
	}
	pod := deployment.Spec.Template.Spec
	if len(containers(pod)) != 1 {
		t.Fatalf("%d containers, want the bridge alone", len(containers(pod)))
	}
	address := fmt.Sprintf("%s.%s.svc:%d", service.Name, service.Namespace, service.Spec.Ports[0].Port)
	for _, want := range []string{"--server=" + address, "--tls-ca=/etc/espalier/tls/ca.crt", "--tls-cert=/etc/espalier/tls/tls.crt",
		"--tls-key=/etc/espalier/tls/tls.key"} {
		if !slices.Contains(pod.Containers[0].Args, want) {
			t.Errorf("the bridge has %v, want %s", pod.Containers[0].Args, want)
		}
	}
	admitted := false
	for _, rule := range only[*networkingv1.NetworkPolicy](t, standalone).Spec.Ingress {
		admitted = admitted || rule.From[0].PodSelector != nil && selects(t, rule.From[0].PodSelector, deployment.Spec.Template.Labels)
	}
	if !admitted {
		t.Error("the NetworkPolicy keeps the bridge out")
	}
}

// rights returns what rules allow, a line each.
func rights(lists ...[]rbacv1.PolicyRule) map[string]bool {
	all := map[string]bool{}
	for _, rules := range lists {
		for _, rule := range rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						all[fmt.Sprintf("%s %s.%s", verb, resource, group)] = true
					}
				}
			}
		}
	}
	return all
}

// granted returns what all roles of a rendered overlay allow.
func granted(objects []runtime.Object) map[string]bool {
	var lists [][]rbacv1.PolicyRule
	for _, object := range objects {
		switch role := object.(type) {
		case *rbacv1.ClusterRole:
			lists = append(lists, role.Rules)
		case *rbacv1.Role:
			lists = append(lists, role.Rules)
		}
	}
	return rights(lists...)
}

// documented returns the rights in the lists of docs/bridge.md, in their order.
func documented(t *testing.T) []map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../docs/bridge.md")
	if err != nil {
		t.Fatal(err)
	}
	var lists []map[string]bool
	for _, block := range regexp.MustCompile("(?s)```yaml\nrules:\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		role, err := decode([]byte("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nrules:\n" + block[1]))
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, rights(only[*rbacv1.ClusterRole](t, role).Rules))
	}
	if len(lists) != 2 {
		t.Fatalf("docs/bridge.md has %d lists of rights, want that of the bridge and that of its gate", len(lists))
	}
	return lists
}

func TestDocumentedRightsAreThoseOfTheBridge(t *testing.T) {
	want := documented(t)
	for _, overlay := range []string{"bridge", "bridge-standalone"} {
		t.Run(overlay, func(t *testing.T) {
			have := granted(render(t, overlay))
			if len(have) < 10 || !maps.Equal(have, want[0]) {
				t.Errorf("docker/kustomize/%s allows %v\ndocs/bridge.md says %v", overlay, have, want[0])
			}
			with := maps.Clone(want[0])
			maps.Copy(with, want[1])
			if have := granted(renderWith(t, overlay, "gate")); len(with) == len(want[0]) || !maps.Equal(have, with) {
				t.Errorf("docker/kustomize/%s with the gate allows %v\ndocs/bridge.md says %v", overlay, have, with)
			}
		})
	}
}

func TestBridgeWithoutTheGateReadsAndTells(t *testing.T) {
	for right := range granted(render(t, "bridge")) {
		if !regexp.MustCompile(`^(get|list|watch) `).MatchString(right) && right != "create events." {
			t.Errorf("it may %s", right)
		}
	}
}

// The component turns the mode on, and binds all its rights to the account that the pod runs as.
func TestGateIsOnWithItsRights(t *testing.T) {
	for _, overlay := range []string{"bridge", "bridge-standalone"} {
		t.Run(overlay, func(t *testing.T) {
			objects := renderWith(t, overlay, "gate")
			deployment := only[*appsv1.Deployment](t, objects)
			if arguments := deployment.Spec.Template.Spec.Containers[0].Args; !slices.Contains(arguments, "--modes=mirror,explain,gate") {
				t.Errorf("the bridge has %v", arguments)
			}
			account := rbacv1.Subject{Kind: "ServiceAccount", Name: deployment.Spec.Template.Spec.ServiceAccountName, Namespace: deployment.Namespace}
			bound := map[string]bool{}
			bind := func(role rbacv1.RoleRef, subjects []rbacv1.Subject, namespace string) {
				if len(subjects) != 1 || subjects[0] != account {
					t.Errorf("%s %s is of %v, want %v", role.Kind, role.Name, subjects, account)
				}
				bound[role.Kind+" "+role.Name+" "+namespace] = true
			}
			for _, object := range objects {
				switch binding := object.(type) {
				case *rbacv1.ClusterRoleBinding:
					bind(binding.RoleRef, binding.Subjects, "")
				case *rbacv1.RoleBinding:
					bind(binding.RoleRef, binding.Subjects, binding.Namespace)
				}
			}
			// The Lease is in the namespace of the pod.
			want := map[string]bool{"ClusterRole espalier-bridge ": true, "ClusterRole espalier-bridge-gate ": true,
				"Role espalier-bridge-lease " + deployment.Namespace: true}
			if !maps.Equal(bound, want) {
				t.Errorf("bound are %v, want %v", bound, want)
			}
			for _, object := range objects {
				switch role := object.(type) {
				case *rbacv1.ClusterRole:
					delete(want, "ClusterRole "+role.Name+" ")
				case *rbacv1.Role:
					delete(want, "Role "+role.Name+" "+role.Namespace)
				}
			}
			if len(want) != 0 {
				t.Errorf("there are no %v", want)
			}
		})
	}
}

func TestStandaloneIsReachedByItsClientsAlone(t *testing.T) {
	for _, overlay := range []string{"standalone", "cuda"} {
		t.Run(overlay, func(t *testing.T) {
			objects := render(t, overlay)
			template := only[*appsv1.Deployment](t, objects).Spec.Template
			espalier := server(t, template.Spec)

			// Whoever asks on the network shows a certificate.
			arguments := strings.Join(espalier.Args, " ") + " "
			for _, flag := range []string{"--tls-cert=", "--tls-key=", "--tls-client-ca=", "--access="} {
				if !strings.Contains(arguments, flag) {
					t.Errorf("the server has no %s: %s", flag, arguments)
				}
			}
			if strings.Contains(arguments, "--insecure ") {
				t.Error("the server takes clients without a certificate")
			}

			service := only[*corev1.Service](t, objects)
			if !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(template.Labels)) {
				t.Error("the Service does not select the pods")
			}
			if len(service.Spec.Ports) != 1 || !hasPort(espalier, service.Spec.Ports[0].TargetPort) {
				t.Errorf("the Service leads to %v", service.Spec.Ports)
			}
			if !selects(t, only[*policyv1.PodDisruptionBudget](t, objects).Spec.Selector, template.Labels) {
				t.Error("the PodDisruptionBudget does not select the pods")
			}
			monitor := only[*monitoringv1.PodMonitor](t, objects)
			if !selects(t, &monitor.Spec.Selector, template.Labels) || len(monitor.Spec.PodMetricsEndpoints) != 1 ||
				monitor.Spec.PodMetricsEndpoints[0].Port == nil ||
				!hasPort(espalier, intstr.FromString(*monitor.Spec.PodMetricsEndpoints[0].Port)) {
				t.Errorf("the PodMonitor scrapes %v", monitor.Spec)
			}

			policy := only[*networkingv1.NetworkPolicy](t, objects).Spec
			if !selects(t, &policy.PodSelector, template.Labels) {
				t.Error("the NetworkPolicy does not select the pods")
			}
			if len(policy.PolicyTypes) != 2 || len(policy.Egress) != 0 {
				t.Errorf("the NetworkPolicy lets the server call others: %v", policy)
			}
			client := map[string]string{"espalier.dev/client": "true"}
			for _, rule := range policy.Ingress {
				if len(rule.From) != 1 || len(rule.Ports) != 1 || !hasPort(espalier, *rule.Ports[0].Port) {
					t.Fatalf("a rule is not for one port of one kind of pod: %v", rule)
				}
				from := rule.From[0]
				if rule.Ports[0].Port.StrVal != "grpc" {
					continue
				}
				if from.PodSelector == nil || !selects(t, from.PodSelector, client) || selects(t, from.PodSelector, nil) {
					t.Errorf("who may ask: %v", from)
				}
			}
			if len(policy.Ingress) != 2 {
				t.Errorf("%d rules, want one for clients and one for Prometheus", len(policy.Ingress))
			}
		})
	}
}

// The kustomization in docs/deployment.md does what is said there, on the sidecar of this clone.
func TestDocumentedKustomizationRenders(t *testing.T) {
	text, err := os.ReadFile("../../docs/deployment.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(string(text))
	if example == nil {
		t.Fatal("there is no example")
	}
	folder := t.TempDir()
	kustomization := regexp.MustCompile(`https://\S+/sidecar\?ref=\S+`).ReplaceAllLiteralString(example[1], relative(t, folder, root+"sidecar"))
	kustomization = strings.Replace(kustomization, "- controller_rbac.yaml\n", "", 1)
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(kustomization), 0o600); err != nil {
		t.Fatal(err)
	}
	pod := only[*appsv1.Deployment](t, renderFolder(t, folder)).Spec.Template.Spec
	controller := pod.Containers[0]
	if controller.Image != "registry.example/team/controller:7" || !strings.HasPrefix(server(t, pod).Image, "registry.example/team/espalier:") ||
		len(controller.Args) != 1 || pod.ServiceAccountName != "controller" {
		t.Errorf("controller %v of account %s", controller, pod.ServiceAccountName)
	}
}

// The rules are those of a PrometheusRule, and nothing in them is unknown to it.
func TestRulesAreOfTheApi(t *testing.T) {
	text, err := os.ReadFile("../../docker/monitoring/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	indented := "  " + strings.ReplaceAll(string(text), "\n", "\n  ")
	objects, err := decode([]byte("apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: espalier}\nspec:\n" + indented))
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range only[*monitoringv1.PrometheusRule](t, objects).Spec.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" || rule.Expr.String() == "" || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" {
				t.Errorf("rule %v", rule)
			}
		}
	}
}

func TestCudaAsksForADevice(t *testing.T) {
	espalier := server(t, only[*appsv1.Deployment](t, render(t, "cuda")).Spec.Template.Spec)
	if device := espalier.Resources.Limits["nvidia.com/gpu"]; device.Value() != 1 {
		t.Errorf("devices: %v", device)
	}
}

// The server itself takes the arguments: with one more that it does not know, it complains of that alone.
func TestServerTakesTheArguments(t *testing.T) {
	binary := os.Getenv("ESPALIER")
	if binary == "" {
		t.Skip("ESPALIER does not name the command")
	}
	for _, overlay := range withServer {
		t.Run(overlay, func(t *testing.T) {
			arguments := server(t, only[*appsv1.Deployment](t, render(t, overlay)).Spec.Template.Spec).Args
			// It complains of what it does not know before it listens.
			output, err := exec.Command(binary, append(append([]string{}, arguments...), "--unknown")...).CombinedOutput()
			var exit *exec.ExitError
			complaint := strings.Split(string(output), "\n")[0]
			if !errors.As(err, &exit) || exit.ExitCode() != 2 || strings.Count(complaint, "--") != 1 ||
				!strings.Contains(complaint, "--unknown") {
				t.Errorf("%v: %v: %s", arguments, err, output)
			}
		})
	}
}
