//go:build cluster

package clustertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// process is a program that the test started. It ends with the test, however that ends.
type process struct {
	t         testing.TB
	name      string
	path      string
	arguments []string
	log       *os.File

	mu      sync.Mutex
	command *exec.Cmd
	ended   chan struct{} // closed once the command that runs has ended
	stopped bool          // it is not to be started again
}

// tail returns the end of what the program said.
func (p *process) tail() string {
	all, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(all[max(0, len(all)-3000):])
}

func newProcess(t testing.TB, folder, name, path string, arguments ...string) *process {
	t.Helper()
	file, err := os.Create(filepath.Join(folder, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, name: name, path: path, arguments: arguments, log: file}
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("the end of what %s said:\n%s", name, p.tail())
		}
		_ = file.Close()
	})
	return p
}

// start starts the program, which must not run.
func (p *process) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.startLocked(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) startLocked() error {
	p.command = exec.Command(p.path, p.arguments...)
	p.command.Stdout, p.command.Stderr = p.log, p.log
	// If the test is ended by force, what it started ends too.
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.command.Start(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	ended := make(chan struct{})
	p.ended = ended
	go func(command *exec.Cmd) {
		_ = command.Wait()
		close(ended)
	}(p.command)
	return nil
}

// signal sends a signal, if the program runs.
func (p *process) signal(signal syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.command != nil {
		_ = p.command.Process.Signal(signal)
	}
}

// kill ends the program at once.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// supervise starts the program, and again whenever it ends, as a Deployment does, until stop.
func (p *process) supervise() {
	p.start()
	go func() {
		for {
			p.mu.Lock()
			ended := p.ended
			p.mu.Unlock()
			<-ended
			p.mu.Lock()
			stopped := p.stopped
			var err error
			if !stopped {
				err = p.startLocked()
			}
			p.mu.Unlock()
			if stopped {
				return
			}
			if err != nil {
				p.t.Error(err)
				return
			}
		}
	}()
}

// stop ends the program for good.
func (p *process) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.kill()
}

// peakMemory returns the most memory that the program took, as the kernel prints it.
func (p *process) peakMemory() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return err.Error()
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(peak)
}
