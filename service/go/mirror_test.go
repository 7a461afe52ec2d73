package espalier_test

import (
	"context"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/servertest"
)

// patience bounds what a test waits for; only a test that fails takes so long.
const patience = 2 * time.Minute

func dial(t *testing.T, address string, options ...espalier.Option) *espalier.Client {
	t.Helper()
	client, err := espalier.Dial(address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func background(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// startMirror runs a mirror until the test ends.
func startMirror(t *testing.T, client *espalier.Client, options espalier.MirrorOptions) *espalier.Mirror {
	t.Helper()
	mirror, err := espalier.NewMirror(client, espalier.Informers{}, options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(background(t))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = mirror.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-ended })
	return mirror
}

func checksum(t *testing.T, client *espalier.Client) uint64 {
	t.Helper()
	summary, err := client.Summary(background(t))
	if err != nil {
		t.Fatal(err)
	}
	if summary.Checksum == 0 {
		t.Fatalf("nothing is loaded: %+v", summary)
	}
	return summary.Checksum
}

func flush(t *testing.T, mirror *espalier.Mirror) espalier.Position {
	t.Helper()
	position, err := mirror.Flush(background(t))
	if err != nil {
		t.Fatal(err)
	}
	return position
}

// loadFiles lets the command load what it makes of files into a server, and returns the checksum.
func loadFiles(t *testing.T, server *servertest.Server, files ...string) uint64 {
	t.Helper()
	arguments := append([]string{"place", "--connect", server.Address, "--load", "-o", "json"}, files...)
	command := exec.Command(servertest.Binary(t), arguments...)
	if output, err := command.CombinedOutput(); err != nil && command.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %v\n%s", arguments, err, output)
	}
	return checksum(t, dial(t, server.Address))
}

func dumps(t *testing.T, names ...string) []string {
	t.Helper()
	var files []string
	for _, name := range names {
		files = append(files, filepath.Join(servertest.Repository(t), "tests", "data", "dumps", name))
	}
	return files
}

func TestMirrorMakesTheStateThatTheCommandMakesOfTheSameObjects(t *testing.T) {
	for _, name := range []string{"before.json.gz", "after.json.gz"} {
		t.Run(name, func(t *testing.T) {
			server := servertest.Start(t)
			files := dumps(t, name, "extra.json")
			want := loadFiles(t, server, files...)

			client := dial(t, server.Address, espalier.WithState("mirror"))
			mirror := startMirror(t, client, espalier.MirrorOptions{})
			for _, object := range servertest.Objects(t, files...) {
				set(mirror, object)
			}
			flush(t, mirror)
			if got := checksum(t, client); got != want {
				t.Errorf("checksum %016x, of the files %016x", got, want)
			}
		})
	}
}

// set hands in what a mirror looks at.
func set(mirror *espalier.Mirror, object any) {
	switch object.(type) {
	case *kueue.ClusterQueue, *kueue.LocalQueue:
	default:
		mirror.Set(object)
	}
}

// Deltas lead to the same state as a load, in whatever order the objects come and go.
func TestUpdatesOfAMirrorLeadToTheStateOfALoad(t *testing.T) {
	server := servertest.Start(t)
	files := dumps(t, "after.json.gz", "extra.json")
	want := loadFiles(t, server, files...)
	objects := servertest.Objects(t, files...)
	before := servertest.Objects(t, dumps(t, "before.json.gz")...)

	client := dial(t, server.Address, espalier.WithState("mirror"))
	metrics := espalier.NewMetrics()
	mirror := startMirror(t, client, espalier.MirrorOptions{Metrics: metrics})
	random := rand.New(rand.NewPCG(1, 2))
	shuffle := func(all []any) {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	flush(t, mirror)
	shuffle(objects)
	shuffle(before)
	in := func(all []any, each func(any)) {
		for i, object := range all {
			each(object)
			if i%97 == 0 {
				flush(t, mirror)
			}
		}
	}
	in(before, func(object any) { set(mirror, object) })
	in(objects, func(object any) {
		set(mirror, object)
		if random.IntN(3) == 0 {
			drop(mirror, object)
		}
	})
	shuffle(before)
	in(before, func(object any) { drop(mirror, object) })
	in(objects, func(object any) { set(mirror, object) })
	flush(t, mirror)
	if got := checksum(t, client); got != want {
		t.Errorf("checksum %016x, of the files %016x", got, want)
	}
	if loads, updates := count(t, metrics, "load"), count(t, metrics, "update"); loads != 1 || updates < 50 {
		t.Errorf("%v loads and %v updates, want one load and updates from then on", loads, updates)
	}
}

// count returns how often a call was made, with whatever result.
func count(t *testing.T, metrics *espalier.Metrics, call string) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, family := range families {
		if family.GetName() != "espalier_mirror_calls_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "call" && label.GetValue() == call {
					sum += metric.GetCounter().GetValue()
				}
			}
		}
	}
	return sum
}

func drop(mirror *espalier.Mirror, object any) {
	switch object.(type) {
	case *kueue.ClusterQueue, *kueue.LocalQueue:
	default:
		mirror.Delete(object)
	}
}

func TestMirrorLoadsAnewAfterTheServerWasStartedAnew(t *testing.T) {
	server := servertest.Start(t)
	client := dial(t, server.Address)
	mirror := startMirror(t, client, espalier.MirrorOptions{FirstRetry: time.Millisecond, LastRetry: 50 * time.Millisecond})
	for _, object := range servertest.Objects(t, dumps(t, "before.json.gz")...) {
		set(mirror, object)
	}
	first := flush(t, mirror)
	want := checksum(t, client)

	server.Restart()
	node := &corev1.Node{}
	node.Name = "later"
	mirror.Set(node)
	second := flush(t, mirror)
	if second.Epoch == first.Epoch {
		t.Errorf("position %v after %v: want another epoch", second, first)
	}
	if got := checksum(t, client); got == want {
		t.Error("the node that came meanwhile is not there")
	}
	mirror.Delete(node)
	flush(t, mirror)
	if got := checksum(t, client); got != want {
		t.Errorf("checksum %016x, before the restart %016x", got, want)
	}
}

func TestMirrorLoadsAnewAfterSomebodyElseChangedTheState(t *testing.T) {
	server := servertest.Start(t)
	client := dial(t, server.Address)
	mirror := startMirror(t, client, espalier.MirrorOptions{})
	for _, object := range servertest.Objects(t, dumps(t, "before.json.gz")...) {
		set(mirror, object)
	}
	flush(t, mirror)
	want := checksum(t, client)
	other := loadFiles(t, server, dumps(t, "after.json.gz")...)
	if other == want {
		t.Fatal("the other state is the same")
	}
	class := &nodev1.RuntimeClass{}
	class.Name = "changes-nothing"
	mirror.Set(class)
	node := &corev1.Node{}
	node.Name = "later"
	mirror.Set(node)
	flush(t, mirror)
	mirror.Delete(node)
	flush(t, mirror)
	if got := checksum(t, client); got != want {
		t.Errorf("checksum %016x, before the other load %016x", got, want)
	}
}
