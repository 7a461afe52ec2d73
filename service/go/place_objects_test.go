package espalier_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier"
	pb "espalier.dev/espalier/gen/espalier/v1"
)

// objectsOf returns the texts of files, one after the other.
func objectsOf(t *testing.T, files ...string) []byte {
	t.Helper()
	var all bytes.Buffer
	for _, file := range files {
		opened, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		var reader io.Reader = opened
		if strings.HasSuffix(file, ".gz") {
			if reader, err = gzip.NewReader(opened); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.Copy(&all, reader); err != nil {
			t.Fatal(err)
		}
	}
	return all.Bytes()
}

func TestObjectsArePlacedAsTheCommandPlacesFiles(t *testing.T) {
	files := dumps(t, "before.json.gz", "extra.json")
	client, position, _ := loaded(t, files...)
	list := struct{ Items []kueue.Workload }{}
	ask(t, &list, append([]string{"place", "-o", "json"}, files...)...)
	want := map[string]*kueue.Admission{}
	for _, item := range list.Items {
		if item.Status.Admission != nil {
			want[item.Namespace+"/"+item.Name] = item.Status.Admission
		}
	}
	placed, err := client.PlaceObjects(background(t), espalier.ObjectsOptions{State: position, Sequential: true}, objectsOf(t, files...))
	if err != nil {
		t.Fatal(err)
	}
	if placed.State != position || placed.Committed != (espalier.Position{}) {
		t.Errorf("answered on %v and committed %v; want %v and none", placed.State, placed.Committed, position)
	}
	outcomes, verdicts := map[espalier.ObjectOutcome]int{}, map[espalier.Verdict]int{}
	for _, w := range placed.Workloads {
		outcomes[w.Outcome]++
		admission, admitted := want[w.Namespace+"/"+w.Name]
		if w.Outcome == espalier.ObjectPlaced != admitted {
			t.Errorf("%s/%s: %s %s; the command admits it: %v", w.Namespace, w.Name, w.Outcome, w.Reason, admitted)
			continue
		}
		if w.Outcome == espalier.ObjectNotPlaced && w.Reason == "" {
			t.Errorf("%s/%s: no reason", w.Namespace, w.Name)
		}
		verdicts[w.Verdict]++
		if !admitted {
			continue
		}
		for i, podSet := range w.PodSets {
			assigned := admission.PodSetAssignments[i]
			if podSet.Name != string(assigned.Name) || podSet.Pods != *assigned.Count || !reflect.DeepEqual(podSet.Assignment, assigned.TopologyAssignment) {
				t.Errorf("%s/%s: %s\nwant %s", w.Namespace, w.Name, text(t, podSet), text(t, assigned))
			}
		}
	}
	if outcomes[espalier.ObjectPlaced] != len(want) || len(want) < 40 || outcomes[espalier.ObjectNotPlaced] == 0 || outcomes[espalier.NothingToPlace] == 0 {
		t.Errorf("%v; want %d placed", outcomes, len(want))
	}
	if verdicts[espalier.NotNow] == 0 || verdicts[espalier.Never] == 0 {
		t.Errorf("verdicts %v", verdicts)
	}
}

// tree is a set of two pairs, each to be in a rack of its own, which Kueue's profile cannot honour.
const tree = `
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: pairs
  namespace: team
  annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.provider.com/topology-rack}
spec:
  replicatedJobs:
  - name: workers
    replicas: 2
    template:
      spec:
        parallelism: 2
        completions: 2
        template:
          spec:
            restartPolicy: Never
            containers: [{name: main, image: none, resources: {requests: {cpu: 1}}}]
`

func TestTreesOfObjectsArePlacedAndBooked(t *testing.T) {
	client, position, _ := loaded(t, dumps(t, "before.json.gz", "extra.json")...)
	options := espalier.ObjectsOptions{
		State: position, Sequential: true, GuessFlavor: true, Commit: true,
		Profile: pb.PlacementProfile_PLACEMENT_PROFILE_ESPALIER,
	}
	placed, err := client.PlaceObjects(background(t), options, []byte(tree))
	if err != nil {
		t.Fatal(err)
	}
	if len(placed.Workloads) != 1 || placed.Workloads[0].Outcome != espalier.ObjectPlaced {
		t.Fatalf("%s", text(t, placed))
	}
	racks := map[string]bool{}
	pods := int32(0)
	for _, group := range placed.Workloads[0].Tree {
		if group.Assignment == nil {
			continue
		}
		for _, domain := range espalier.Domains(group.Assignment) {
			pods += domain.Count
		}
		racks[strings.Join(group.Values, "/")] = true
	}
	if pods != 4 || len(racks) != 2 {
		t.Errorf("%d pods in %d racks, want 4 in 2: %s", pods, len(racks), text(t, placed.Workloads[0]))
	}
	summary, err := client.Summary(background(t))
	if err != nil || placed.Committed == position || summary.Position != placed.Committed {
		t.Errorf("committed %v; the state is %+v (%v)", placed.Committed, summary, err)
	}
	if _, err := client.PlaceObjects(background(t), options, []byte(tree)); err == nil {
		t.Error("an old position is answered")
	} else if current, stale := espalier.StaleState(err); !stale || current != placed.Committed {
		t.Errorf("%v", err)
	}
}

func TestObjectsThatCannotBeReadAreNamed(t *testing.T) {
	client, _, _ := loaded(t, dumps(t, "before.json.gz")...)
	_, err := client.PlaceObjects(background(t), espalier.ObjectsOptions{}, []byte("kind: [\n"))
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("%v", err)
	}
}
