// Package manifests holds what docker/kustomize renders to the types of Kubernetes' API, and to what the
// objects have to say of each other. It needs no cluster.
package manifests

import (
	"errors"
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
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

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
