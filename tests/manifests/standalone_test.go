package manifests

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// secretFiles returns what the kubectl commands of docs/deployment.md put into a Secret: files by key.
func secretFiles(t *testing.T, document, secret string) map[string]string {
	t.Helper()
	_, command, found := strings.Cut(document, "kubectl create secret generic "+secret+" ")
	if !found {
		t.Fatalf("docs/deployment.md does not say how %s is made", secret)
	}
	command, _, _ = strings.Cut(strings.ReplaceAll(command, "\\\n", " "), "\n")
	files := map[string]string{}
	for _, match := range regexp.MustCompile(`--from-file (\S+)`).FindAllStringSubmatch(command, -1) {
		key, file, renamed := strings.Cut(match[1], "=")
		if !renamed {
			file = key
		}
		files[key] = file
	}
	return files
}

// standalone is a server with the arguments of the overlay, in a folder in the place of /.
type standalone struct {
	t       *testing.T
	binary  string
	folder  string
	address string
	client  []string // flags of the controller
}

// inFolder returns an argument with its paths below the folder.
func inFolder(folder, argument string) string {
	for _, path := range []string{"/etc/espalier/", "/run/espalier/"} {
		argument = strings.Replace(argument, path, folder+path, 1)
	}
	return argument
}

// startStandalone makes certificates by the commands of docs/deployment.md, puts what the volumes hold where
// they are mounted, and starts the server on free ports.
func startStandalone(t *testing.T) *standalone {
	t.Helper()
	binary := os.Getenv("ESPALIER")
	if binary == "" {
		t.Skip("ESPALIER does not name the command")
	}
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile("../../docs/deployment.md")
	if err != nil {
		t.Fatal(err)
	}
	document := string(text)
	commands := regexp.MustCompile("(?s)```\n(openssl .*?)```").FindStringSubmatch(document)
	if commands == nil {
		t.Fatal("docs/deployment.md has no commands that make certificates")
	}
	folder, err := os.MkdirTemp("", "espalier") // not t.TempDir: paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	// One more client of the same authority, who is nobody's controller.
	script := strings.Replace(commands[1], "espalier controller;", "espalier controller other;", 1)
	shell := exec.Command("sh", "-euc", script)
	shell.Dir = folder
	if output, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, script, output)
	}

	objects := render(t, "standalone")
	pod := only[*appsv1.Deployment](t, objects).Spec.Template.Spec
	espalier := server(t, pod)
	mounted := map[string]string{}
	for _, mount := range espalier.VolumeMounts {
		mounted[mount.Name] = folder + mount.MountPath
		if err := os.MkdirAll(folder+mount.MountPath, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path string, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, volume := range pod.Volumes {
		switch {
		case volume.Secret != nil:
			for key, file := range secretFiles(t, document, volume.Secret.SecretName) {
				content, err := os.ReadFile(filepath.Join(folder, file))
				if err != nil {
					t.Fatal(err)
				}
				write(filepath.Join(mounted[volume.Name], key), content)
			}
		case volume.ConfigMap != nil:
			rules := only[*corev1.ConfigMap](t, objects)
			if rules.Name != volume.ConfigMap.Name {
				t.Fatalf("there is no ConfigMap %s", volume.ConfigMap.Name)
			}
			for key, content := range rules.Data {
				write(filepath.Join(mounted[volume.Name], key), []byte(content))
			}
		}
	}

	var arguments []string
	for _, argument := range espalier.Args {
		arguments = append(arguments, regexp.MustCompile(`=0\.0\.0\.0:\d+$`).ReplaceAllString(inFolder(folder, argument), "=127.0.0.1:0"))
	}
	command := exec.Command(binary, arguments...)
	// If the test is ended by force, so is the server.
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	output, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout = command.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	s := &standalone{t: t, binary: binary, folder: folder}
	var said []string
	for lines := bufio.NewScanner(output); s.address == "" && lines.Scan(); {
		said = append(said, lines.Text())
		if _, address, found := strings.Cut(lines.Text(), "listening on 127.0.0.1:"); found {
			s.address = "127.0.0.1:" + address
		}
	}
	if s.address == "" {
		t.Fatalf("the server ended before it listened: %v", said)
	}
	go func() { _, _ = io.Copy(io.Discard, output) }() // so that it never waits for a reader
	s.client = s.filesOf(secretFiles(t, document, "espalier-client-tls"))
	return s
}

// filesOf returns the flags of a client that has these files of a Secret.
func (s *standalone) filesOf(files map[string]string) []string {
	return []string{"--tls-ca", filepath.Join(s.folder, files["ca.crt"]), "--tls-cert", filepath.Join(s.folder, files["tls.crt"]),
		"--tls-key", filepath.Join(s.folder, files["tls.key"]), "--tls-server-name", "espalier.espalier-system.svc"}
}

// run returns exit code and output of the command.
func (s *standalone) run(arguments ...string) (int, string) {
	s.t.Helper()
	output, err := exec.Command(s.binary, arguments...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	if exit != nil {
		return exit.ExitCode(), string(output)
	}
	return 0, string(output)
}

func TestStandaloneServesItsControllerByItsCertificate(t *testing.T) {
	s := startStandalone(t)
	load := append([]string{"place", "../cli/data/fits.yaml", "--load", "--connect", s.address}, s.client...)
	if code, output := s.run(load...); code != 0 {
		t.Errorf("the controller may not load a state: %d: %s", code, output)
	}
	other := s.filesOf(map[string]string{"ca.crt": "ca.crt", "tls.crt": "other.crt", "tls.key": "other.key"})
	if code, output := s.run(append([]string{"status", "--connect", s.address}, other...)...); code != 0 {
		t.Errorf("another client may not read: %d: %s", code, output)
	}
	load = append(load[:5:5], other...)
	if code, output := s.run(load...); code != 4 || !strings.Contains(output, "needs the permission write-state; certificate:other.espalier-system.svc") {
		t.Errorf("another client loads a state: %d: %s", code, output)
	}
	for _, stranger := range [][]string{nil, {"--tls-ca", filepath.Join(s.folder, "ca.crt"), "--tls-server-name", "espalier.espalier-system.svc"}} {
		if code, output := s.run(append([]string{"status", "--alive", "--connect", s.address}, stranger...)...); code != 4 {
			t.Errorf("a client without a certificate is served: %d: %s", code, output)
		}
	}
}

func TestProbesOfStandaloneNeedNoCertificate(t *testing.T) {
	s := startStandalone(t)
	espalier := server(t, only[*appsv1.Deployment](t, render(t, "standalone")).Spec.Template.Spec)
	for _, probe := range []*corev1.Probe{espalier.StartupProbe, espalier.LivenessProbe, espalier.ReadinessProbe} {
		var arguments []string
		for _, argument := range probe.Exec.Command[1:] {
			arguments = append(arguments, inFolder(s.folder, argument))
		}
		if code, output := s.run(arguments...); code != 0 {
			t.Errorf("%v: %d: %s", arguments, code, output)
		}
	}
}
