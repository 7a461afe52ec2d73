package bridge_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	kueuefake "sigs.k8s.io/kueue/client-go/clientset/versioned/fake"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge"
	"espalier.dev/espalier/internal/bridge/config"
	"espalier.dev/espalier/internal/bridge/gate"
	"espalier.dev/espalier/internal/servertest"
)

// running is a bridge that runs.
type running struct {
	address string
	ended   chan error
	stop    context.CancelFunc
}

func run(t *testing.T, c config.Config, clients bridge.Clients) *running {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	r := &running{ended: make(chan error, 1), stop: stop}
	c.Listen = "127.0.0.1:0"
	listening := make(chan string, 1)
	go func() {
		r.ended <- bridge.Run(ctx, c, clients, slog.New(slog.DiscardHandler), func(a net.Addr) { listening <- a.String() })
	}()
	t.Cleanup(stop)
	select {
	case r.address = <-listening:
	case err := <-r.ended:
		t.Fatal(err)
	}
	return r
}

func (r *running) get(t *testing.T, path string) (int, string) {
	t.Helper()
	reply, err := http.Get("http://" + r.address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(body)
}

// watched returns a channel of the objects of a resource that come into being.
func watched(t *testing.T, client *fake.Clientset, resource string) <-chan runtime.Object {
	t.Helper()
	created := make(chan runtime.Object, 1000)
	client.PrependReactor("*", resource, func(action clienttesting.Action) (bool, runtime.Object, error) {
		if create, is := action.(clienttesting.CreateAction); is {
			created <- create.GetObject()
		}
		return false, nil, nil
	})
	return created
}

func next(t *testing.T, created <-chan runtime.Object) runtime.Object {
	t.Helper()
	select {
	case object := <-created:
		return object
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing was written")
		return nil
	}
}

// loadedNodes waits until the server has a state, which has to have so many nodes.
func loadedNodes(t *testing.T, client *espalier.Client, events <-chan runtime.Object, nodes int64) *espalier.Summary {
	t.Helper()
	next(t, events) // the bridge speaks once the state is loaded
	summary, err := client.Summary(t.Context())
	if err != nil || summary.Nodes != nodes {
		t.Fatalf("%+v, %v: want %d nodes", summary, err, nodes)
	}
	return summary
}

func TestABridgeMirrorsAndExplainsARealCluster(t *testing.T) {
	server := servertest.Start(t)
	dumps := filepath.Join(servertest.Repository(t), "tests", "data", "dumps")
	files := []string{filepath.Join(dumps, "before.json.gz"), filepath.Join(dumps, "extra.json")}
	var core, ofKueue []runtime.Object
	for _, object := range servertest.Objects(t, files...) {
		o := object.(runtime.Object)
		if strings.HasPrefix(o.GetObjectKind().GroupVersionKind().Group, "kueue") {
			ofKueue = append(ofKueue, o)
		} else {
			core = append(core, o)
		}
	}
	client := fake.NewClientset(core...)
	events := watched(t, client, "events")
	c := config.Default()
	c.Server, c.State, c.Explain.Enabled = server.Address, "bridge", true
	r := run(t, c, bridge.Clients{Kubernetes: client, Kueue: kueuefake.NewSimpleClientset(ofKueue...)})

	direct, err := espalier.Dial(server.Address, espalier.WithState("bridge"))
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	mirrored := loadedNodes(t, direct, events, 336)
	command := exec.Command(servertest.Binary(t), append([]string{"place", "--connect", server.Address, "--load", "-o", "json"}, files...)...)
	if output, err := command.CombinedOutput(); err != nil && command.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v\n%s", err, output)
	}
	plain, err := espalier.Dial(server.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	loaded, err := plain.Summary(t.Context())
	if err != nil || loaded.Checksum != mirrored.Checksum {
		t.Errorf("checksum %016x, of the files %016x, %v", mirrored.Checksum, loaded.Checksum, err)
	}
	for path, says := range map[string]string{
		"/readyz":  "ok",
		"/metrics": "espalier_mirror_calls_total",
		"/workloads/team-vision/job-diffusion-04-fa10c": `"verdict": "Never"`,
		"/topology": "gpu-h100",
		"/":         `"name":"team-vision/job-diffusion-04-fa10c","state":"waiting","status":"never fits"`,
	} {
		if code, body := r.get(t, path); code != http.StatusOK || !strings.Contains(body, says) {
			t.Errorf("%s: %d, want %q: %.500s", path, code, says, body)
		}
	}
	r.stop()
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
}

func TestWithoutKueueNodesAndPodsAreMirrored(t *testing.T) {
	server := servertest.Start(t)
	client := fake.NewClientset(host("a"), host("b"))
	gated := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "solo", UID: "1"}}
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: gate.Name}}
	if err := client.Tracker().Add(gated); err != nil {
		t.Fatal(err)
	}
	pods, err := client.CoreV1().Pods("team").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Server, c.Gate.Enabled, c.LeaderElection.Enabled, c.LeaderElection.Namespace = server.Address, true, true, "espalier"
	c.Topology = &config.Topology{Levels: []string{corev1.LabelHostname}}
	r := run(t, c, bridge.Clients{Kubernetes: client})
	for opened := false; !opened; {
		select {
		case event := <-pods.ResultChan():
			p := event.Object.(*corev1.Pod)
			opened = event.Type == watch.Modified && len(p.Spec.SchedulingGates) == 0
		case err := <-r.ended:
			t.Fatal(err)
		}
	}
	if code, body := r.get(t, "/report"); code != http.StatusOK || !strings.Contains(body, `"names":[["a","b"]]`) || !strings.Contains(body, `"name":"team/pod/solo","state":"running"`) {
		t.Errorf("%d %s", code, body)
	}
	lease, err := client.CoordinationV1().Leases("espalier").Get(t.Context(), "espalier-bridge", metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		t.Errorf("%+v, %v: want a holder", lease, err)
	}
}

func TestAReplicaWithoutTheLeaseDoesNothing(t *testing.T) {
	server := servertest.Start(t)
	client := fake.NewClientset(host("a"))
	leases := make(chan struct{}, 100)
	client.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		select {
		case leases <- struct{}{}:
		default:
		}
		return true, nil, errors.New("the API server is away")
	})
	c := config.Default()
	c.Server, c.LeaderElection.Enabled, c.LeaderElection.Namespace = server.Address, true, "espalier"
	r := run(t, c, bridge.Clients{Kubernetes: client})
	<-leases
	if code, _ := r.get(t, "/readyz"); code != http.StatusOK {
		t.Errorf("a replica that waits for the Lease is not ready: %d", code)
	}
	direct, err := espalier.Dial(server.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	r.stop()
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
	if summary, err := direct.Summary(t.Context()); err != nil || summary.Position.Generation != 0 {
		t.Errorf("%+v, %v: it has loaded a state", summary, err)
	}
}

func host(name string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
	n.Status.Allocatable = corev1.ResourceList{"pods": resource.MustParse("10")}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return n
}

func TestWhatKeepsItFromStartingIsSaid(t *testing.T) {
	for name, change := range map[string]func(*config.Config){
		"want unix:/path/to/socket":             func(c *config.Config) { c.Server = "nowhere" },
		"listen: ":                              func(c *config.Config) { c.Listen = "nowhere" },
		"mirror.kueueConfigurationFile: open /": func(c *config.Config) { c.Mirror.KueueConfigurationFile = "/nowhere/x" },
		"leaderElection.namespace: is empty":    func(c *config.Config) { c.Listen = ""; c.LeaderElection.Enabled = true },
	} {
		c := config.Default()
		change(&c)
		err := bridge.Run(t.Context(), c, bridge.Clients{Kubernetes: fake.NewClientset()}, slog.New(slog.DiscardHandler), nil)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}
