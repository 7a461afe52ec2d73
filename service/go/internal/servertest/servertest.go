// Package servertest starts the real server for tests and reads files of objects.
package servertest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// BinaryVariable names the environment variable that says where the binary is. A test that finds
// none there fails; without the variable one in build/release is used, or the test is skipped.
const BinaryVariable = "ESPALIER_BINARY"

// Repository returns the folder of the whole project.
func Repository(t testing.TB) string {
	t.Helper()
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("where this file is is not known")
	}
	return filepath.Join(filepath.Dir(file), "..", "..", "..", "..")
}

// Binary returns the path of the real binary, or ends the test.
func Binary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(BinaryVariable); path != "" {
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("%s: %v", BinaryVariable, err)
		}
		return path
	}
	path := filepath.Join(Repository(t), "build", "release", "espalier")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("NOT TESTED against the real server: %v; run `make build`, or set %s", err, BinaryVariable)
	}
	return path
}

// Server is a running server.
type Server struct {
	Address string
	t       testing.TB
	flags   []string
	command *exec.Cmd
}

// Start starts a server on a socket of its own, and waits until it listens. It ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	// Not t.TempDir: paths of sockets are short.
	folder, err := os.MkdirTemp("", "espalier")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, Address: "unix:" + filepath.Join(folder, "s")}
	t.Cleanup(func() {
		s.Kill()
		_ = os.RemoveAll(folder)
	})
	s.Restart()
	return s
}

// StartTCP starts a server on a port of its own with more flags, such as those of TLS, and waits until
// it listens. It ends with the test.
func StartTCP(t testing.TB, flags ...string) *Server {
	t.Helper()
	s := &Server{t: t, Address: "127.0.0.1:0", flags: flags}
	t.Cleanup(s.Kill)
	s.Restart()
	return s
}

// Kill ends the server at once, if it runs.
func (s *Server) Kill() {
	if s.command == nil {
		return
	}
	_ = s.command.Process.Signal(syscall.SIGKILL)
	_ = s.command.Wait()
	s.command = nil
}

// Restart ends the server at once and starts one anew at the same address.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	s.command = exec.Command(Binary(s.t), append([]string{"serve", "--listen", s.Address, "--threads", "2"}, s.flags...)...)
	// If the test is ended by force, so is the server.
	s.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	output, err := s.command.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.command.Stdout = s.command.Stderr
	if err := s.command.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if _, address, listens := strings.Cut(lines.Text(), "listening on "); listens {
			s.Address = address
			go func() { // so that the server never waits for a reader
				for lines.Scan() {
					continue
				}
			}()
			return
		}
	}
	s.t.Fatalf("the server ended before it listened: %s", strings.Join(said, "\n"))
}
