//go:build cluster

package clustertest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"espalier.dev/espalier/internal/servertest"
)

// kubectl runs kubectl as an administrator, with a text as its input, and returns what it prints; empty
// where there is none.
func (c *cluster) kubectl(input string, arguments ...string) string {
	c.t.Helper()
	path, err := exec.LookPath("kubectl")
	if err != nil {
		c.t.Logf("NOT TESTED: %v", err)
		return ""
	}
	command := exec.CommandContext(until(c.t), path, append([]string{"--kubeconfig", c.admin}, arguments...)...)
	command.Stdin = strings.NewReader(input)
	var said bytes.Buffer
	command.Stderr = &said
	output, err := command.Output()
	if err != nil {
		c.t.Errorf("kubectl %v: %v\n%s%s", arguments, err, output, said.Bytes())
	}
	return string(output)
}

// checkManifests lets the API server judge what the kustomizations make.
func (c *cluster) checkManifests() {
	c.t.Helper()
	folders, err := filepath.Glob(filepath.Join(servertest.Repository(c.t), "docker/kustomize/*"))
	if err != nil || len(folders) == 0 {
		c.t.Fatalf("no kustomizations (%v)", err)
	}
	for i, folder := range folders {
		name := filepath.Base(folder)
		if text, err := os.ReadFile(filepath.Join(folder, "kustomization.yaml")); err != nil {
			c.t.Fatal(err)
		} else if strings.Contains(string(text), "kind: Component\n") {
			folder = c.withComponent(fmt.Sprintf("kustomize-%d", i), filepath.Join(filepath.Dir(folder), "bridge"), folder)
		}
		var known []string
		for document := range strings.SplitSeq(c.kubectl("", "kustomize", folder), "\n---\n") {
			if !strings.Contains(document, "apiVersion: monitoring.coreos.com/") { // Prometheus' operator is not here
				known = append(known, document)
			}
		}
		text := c.kubectl(strings.Join(known, "\n---\n"), "apply", "--server-side", "--dry-run=server", "--force-conflicts", "--validate=strict", "-f", "-")
		c.t.Logf("%s: %s", name, strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
	}
}

// withComponent makes a folder with a kustomization of an overlay and a component; returns its path.
func (c *cluster) withComponent(name, overlay, component string) string {
	c.t.Helper()
	folder := c.path(name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		c.t.Fatal(err)
	}
	way := func(path string) string { // kustomizations name nothing from the root
		relative, err := filepath.Rel(folder, path)
		if err != nil {
			c.t.Fatal(err)
		}
		return relative
	}
	c.write(filepath.Join(name, "kustomization.yaml"), fmt.Sprintf("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"+
		"resources: [%s]\ncomponents: [%s]\n", way(overlay), way(component)))
	return folder
}

// checkDescription holds what users see of a workload to an Event.
func checkDescription(t testing.TB, c *cluster, workload, reason string) {
	t.Helper()
	// In full, as this API server has Workloads of scheduling.k8s.io too.
	text := c.kubectl("", "describe", "workloads.kueue.x-k8s.io", "--namespace", "team", workload)
	if text == "" {
		return
	}
	_, events, _ := strings.Cut(text, "\nEvents:")
	t.Logf("kubectl describe workload --namespace team %s\nEvents:%s", workload, events)
	if !strings.Contains(events, reason) {
		t.Errorf("kubectl describe does not say %s:\n%s", reason, text)
	}
}
