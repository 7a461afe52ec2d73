package espalier_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"espalier.dev/espalier/internal/servertest"
)

// The program of docs/go.md, in a module of its own that finds this one as the page says.
func TestTheProgramOfTheDocumentationRuns(t *testing.T) {
	server := servertest.Start(t)
	repository := servertest.Repository(t)
	page, err := os.ReadFile(filepath.Join(repository, "docs", "go.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(page), "```go\n")
	program, _, ended := strings.Cut(after, "```")
	if !found || !ended {
		t.Fatal("docs/go.md has no program")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(repository, "service", "go")
	sums, err := os.ReadFile(filepath.Join(module, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "go.sum"), sums, 0o600); err != nil {
		t.Fatal(err)
	}
	var output []byte
	for _, arguments := range [][]string{
		{"mod", "init", "example.com/controller"},
		{"mod", "edit", "-require", "espalier.dev/espalier@v0.0.0", "-replace", "espalier.dev/espalier=" + module},
		{"mod", "tidy"},
		{"run", ".", server.Address},
	} {
		command := exec.Command("go", arguments...)
		command.Dir = folder
		var complaints strings.Builder
		command.Stderr = &complaints
		if output, err = command.Output(); err != nil {
			t.Fatalf("go %v: %v\n%s", arguments, err, complaints.String())
		}
	}
	if want := "host-0: 1 pods\nhost-1: 1 pods\n"; string(output) != want {
		t.Errorf("%q, want %q", output, want)
	}
}
