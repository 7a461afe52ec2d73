package shadow

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier"
)

// entry is a line of the log of differences. What was chosen and what would have been here have the
// form of `espalier audit -o json`, which reads the log.
type entry struct {
	Time       time.Time `json:"time"` // when it was compared
	Workload   string    `json:"workload"`
	Verdict    string    `json:"verdict"`
	ReservedAt time.Time `json:"reservedAt"`
	Generation uint64    `json:"generation"` // of the state that was asked
	Chosen     answer    `json:"chosen"`
	Here       answer    `json:"here"`
}

type answer struct {
	Fits    bool     `json:"fits"`
	PodSets []podSet `json:"podSets"`
}

type podSet struct {
	Name       string                    `json:"name"`
	Flavor     string                    `json:"flavor,omitempty"`
	Reason     string                    `json:"reason,omitempty"`
	Assignment *kueue.TopologyAssignment `json:"topologyAssignment,omitempty"`
}

func chosenBy(decision *espalier.Decision) answer {
	a := answer{Fits: true}
	for i := range decision.PodSets {
		set := &decision.PodSets[i]
		a.PodSets = append(a.PodSets, podSet{Name: string(set.Name), Flavor: set.Flavor, Assignment: decision.Assignments[i]})
	}
	return a
}

func answerOf(here *espalier.Answer) answer {
	a := answer{Fits: here.Fits()}
	for i := range here.PodSets {
		set := &here.PodSets[i]
		a.PodSets = append(a.PodSets, podSet{Name: set.Name, Flavor: set.Flavor, Reason: reason(set), Assignment: set.Assignment})
	}
	return a
}

// Log is a file of differences, a line of JSON each, that is appended to. One goroutine uses it.
type Log struct {
	path string
	file *os.File // nil: to be opened
}

// OpenLog opens a log, or makes it. Errors name the file.
func OpenLog(path string) (*Log, error) {
	l := &Log{path: path}
	return l, l.open()
}

// open opens the file. Its last line is ended where whoever wrote it was ended in the middle.
func (l *Log) open() error {
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o640)
	if err != nil {
		return err
	}
	l.file = file
	info, err := file.Stat()
	last := [1]byte{'\n'}
	if err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		_, err = file.ReadAt(last[:], info.Size()-1)
	}
	if err == nil && last[0] != '\n' {
		_, err = file.Write([]byte{'\n'})
	}
	if err != nil {
		_ = l.Close()
		return fmt.Errorf("%s: %w", l.path, err)
	}
	return nil
}

// write appends a line in one piece. A file that was moved or removed is made anew. Errors name the
// file, which is opened anew for the next line.
func (l *Log) write(e *entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if l.file != nil && !l.isInPlace() {
		_ = l.Close()
	}
	if l.file == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		_ = l.Close()
		return err
	}
	return nil
}

// isInPlace returns whether the open file is still the one of the path.
func (l *Log) isInPlace() bool {
	there, err := os.Stat(l.path)
	if err != nil {
		return false
	}
	open, err := l.file.Stat()
	return err == nil && os.SameFile(there, open)
}

// Close closes the file; a line that is written after that opens it again.
func (l *Log) Close() error {
	if l.file == nil {
		return nil
	}
	file := l.file
	l.file = nil
	return file.Close()
}
