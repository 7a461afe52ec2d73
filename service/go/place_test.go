package espalier_test

import (
	"encoding/json"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/servertest"
)

// ask runs a command that answers with JSON.
func ask(t *testing.T, answer any, arguments ...string) {
	t.Helper()
	command := exec.Command(servertest.Binary(t), arguments...)
	var complaints strings.Builder
	command.Stderr = &complaints
	output, err := command.Output()
	if err != nil && command.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %v\n%s", arguments, err, complaints.String())
	}
	if err := json.Unmarshal(output, answer); err != nil {
		t.Fatalf("%v: %v", arguments, err)
	}
}

// loaded returns a client of a server that holds the state of files, and their workloads.
func loaded(t *testing.T, files ...string) (*espalier.Client, espalier.Position, map[types.NamespacedName]*kueue.Workload) {
	t.Helper()
	client := dial(t, servertest.Start(t).Address)
	mirror := startMirror(t, client, espalier.MirrorOptions{})
	workloads := map[types.NamespacedName]*kueue.Workload{}
	for _, object := range servertest.Objects(t, files...) {
		set(mirror, object)
		if workload, is := object.(*kueue.Workload); is {
			workloads[types.NamespacedName{Namespace: workload.Namespace, Name: workload.Name}] = workload
		}
	}
	return client, flush(t, mirror), workloads
}

func TestPlaceGivesTheAssignmentsOfTheCommand(t *testing.T) {
	files := dumps(t, "before.json.gz", "extra.json")
	client, position, workloads := loaded(t, files...)
	list := struct{ Items []kueue.Workload }{}
	ask(t, &list, append([]string{"place", "--mode", "nominate", "-o", "json"}, files...)...)

	var gangs []espalier.Gang
	var want []kueue.Workload
	for _, item := range list.Items {
		workload, known := workloads[types.NamespacedName{Namespace: item.Namespace, Name: item.Name}]
		if !known || item.Status.Admission == nil {
			continue
		}
		gang := espalier.GangOf(workload, "")
		for i := range gang.PodSets {
			assigned := item.Status.Admission.PodSetAssignments[i]
			gang.PodSets[i].Flavor = string(assigned.Flavors["cpu"])
			gang.PodSets[i].Count = *assigned.Count // fewer where it is admitted in part
		}
		gangs, want = append(gangs, gang), append(want, item)
	}
	if len(gangs) < 40 {
		t.Fatalf("only %d workloads of the command's answer are placed", len(gangs))
	}
	placed, err := client.Place(background(t), espalier.PlaceOptions{State: position}, gangs...)
	if err != nil {
		t.Fatal(err)
	}
	if placed.State != position {
		t.Errorf("answered on %v, want %v", placed.State, position)
	}
	for g, answer := range placed.Answers {
		for i, podSet := range answer.PodSets {
			assigned := want[g].Status.Admission.PodSetAssignments[i]
			if assigned.TopologyAssignment == nil {
				continue // a flavor without a topology
			}
			if !reflect.DeepEqual(podSet.Assignment, assigned.TopologyAssignment) {
				t.Errorf("%s/%s: %s\nwant %s", gangs[g].Name, podSet.Name, text(t, podSet), text(t, assigned))
			}
		}
	}
}

func text(t *testing.T, value any) string {
	t.Helper()
	bytes, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes)
}

func TestPlaceSaysWhyAGangDoesNotFit(t *testing.T) {
	client, _, workloads := loaded(t, dumps(t, "before.json.gz", "extra.json")...)
	key := types.NamespacedName{Namespace: "team-vision", Name: "job-diffusion-04-fa10c"}
	gang := espalier.GangOf(workloads[key], "gpu-h100")
	placed, err := client.Place(background(t), espalier.PlaceOptions{}, gang)
	if err != nil {
		t.Fatal(err)
	}
	answer := placed.Answers[0]
	if answer.Fits() || !strings.HasPrefix(answer.Reason(), `topology "default" allows to fit only `) {
		t.Errorf("%s", text(t, answer))
	}
	if failure := answer.PodSets[0].Failure; failure.Total != 17 || failure.Fit >= 17 || failure.Fit <= 0 {
		t.Errorf("%+v", failure)
	}
}

func TestPlaceTellsOfAStaleState(t *testing.T) {
	client, position, workloads := loaded(t, dumps(t, "before.json.gz")...)
	for _, workload := range workloads {
		_, err := client.Place(background(t), espalier.PlaceOptions{
			State: espalier.Position{Epoch: position.Epoch, Generation: position.Generation + 1},
		}, espalier.GangOf(workload, "gpu-h100"))
		if current, stale := espalier.StaleState(err); !stale || current != position {
			t.Errorf("%v: %v, stale %v; want %v", err, current, stale, position)
		}
		break
	}
}

func TestExplainGivesTheVerdictsOfTheCommand(t *testing.T) {
	files := dumps(t, "before.json.gz", "extra.json")
	client, _, workloads := loaded(t, files...)
	for _, c := range []struct {
		workload types.NamespacedName
		want     espalier.Verdict
		near     bool
	}{
		{types.NamespacedName{Namespace: "team-vision", Name: "job-diffusion-04-fa10c"}, espalier.Never, true},
		{types.NamespacedName{Namespace: "team-nlp", Name: "job-cbonly-01-56345"}, espalier.Fits, false},
	} {
		command := struct {
			Flavor  string
			Now     struct{ Fits bool }
			Nearest *struct {
				Values []string
			}
		}{}
		ask(t, &command, append([]string{"explain", c.workload.String(), "-o", "json"}, files...)...)
		explained, err := client.Explain(background(t), espalier.PlaceOptions{},
			espalier.GangOf(workloads[c.workload], command.Flavor))
		if err != nil {
			t.Fatal(err)
		}
		got := explained[0]
		if got.Verdict != c.want || (got.Verdict == espalier.Fits) != command.Now.Fits {
			t.Errorf("%v: %s, want %v", c.workload, text(t, got), c.want)
		}
		if (got.Nearest != nil) != c.near || (c.near && len(got.Changes) == 0) {
			t.Errorf("%v: %s", c.workload, text(t, got))
		}
	}
}

func TestDomainsReadWhatNewTopologyAssignmentWrites(t *testing.T) {
	levels := []string{"rack", "kubernetes.io/hostname"}
	for _, domains := range [][]espalier.Domain{
		nil,
		{{Values: []string{"r1", "a"}, Count: 3}},
		{{Values: []string{"r1", "node-1-x"}, Count: 3}, {Values: []string{"r1", "node-11-x"}, Count: 3}},
		{{Values: []string{"aa", "aa"}, Count: 1}, {Values: []string{"aaa", "a"}, Count: 2}},
		{{Values: []string{"", "ab"}, Count: 1}, {Values: []string{"x", "cab"}, Count: 1}},
	} {
		got := espalier.Domains(espalier.NewTopologyAssignment(levels, domains))
		if !reflect.DeepEqual(got, domains) {
			t.Errorf("%v, want %v", got, domains)
		}
	}
}

func TestDomainsLeaveOutWhatASliceDoesNotSay(t *testing.T) {
	assignment := &kueue.TopologyAssignment{Levels: []string{"host"}, Slices: []kueue.TopologyAssignmentSlice{{
		DomainCount: 3,
		ValuesPerLevel: []kueue.TopologyAssignmentSliceLevelValues{{
			Individual: &kueue.TopologyAssignmentSliceLevelIndividualValues{Roots: []string{"a", "b"}},
		}},
		PodCounts: kueue.TopologyAssignmentSlicePodCounts{Individual: []int32{5}},
	}}}
	want := []espalier.Domain{{Values: []string{"a"}, Count: 5}, {Values: []string{"b"}}}
	if got := espalier.Domains(assignment); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDialRefusesWhatIsNoAddress(t *testing.T) {
	for _, address := range []string{"", "unix:", "localhost", "localhost:", "/tmp/s"} {
		if _, err := espalier.Dial(address); err == nil || !strings.Contains(err.Error(), "want unix:/path/to/socket") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
