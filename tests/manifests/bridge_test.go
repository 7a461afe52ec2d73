package manifests

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

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
