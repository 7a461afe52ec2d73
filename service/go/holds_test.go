package espalier_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"espalier.dev/espalier"
	pb "espalier.dev/espalier/gen/espalier/v1"
	"espalier.dev/espalier/internal/servertest"
)

func TestHoldsCountUntilTheyEnd(t *testing.T) {
	client, _, workloads := loaded(t, dumps(t, "before.json.gz", "extra.json")...)
	key := types.NamespacedName{Namespace: "team-nlp", Name: "job-cbonly-01-56345"}
	gang := espalier.GangOf(workloads[key], "gpu-h100")
	options := espalier.PlaceOptions{Sequential: true, Hold: time.Minute, HoldOwner: "tester"}
	placed, err := client.Place(background(t), options, gang)
	if err != nil {
		t.Fatal(err)
	}
	if len(placed.Holds) != 1 || placed.Holds[0] == "" {
		t.Fatalf("holds %q of %s", placed.Holds, text(t, placed.Answers))
	}
	id := placed.Holds[0]
	holds, err := client.Holds(background(t))
	if err != nil || len(holds) != 1 || holds[0].ID != id || holds[0].Workload != key ||
		holds[0].Owner != "tester" || holds[0].Pods == 0 {
		t.Errorf("%+v, %v", holds, err)
	}
	if summary, err := client.Summary(background(t)); err != nil || summary.Position != placed.Committed {
		t.Errorf("%+v, %v; want %v", summary, err, placed.Committed)
	}
	_, err = client.Place(background(t), options, gang)
	expectProblem(t, err, codes.AlreadyExists, id, pb.HoldProblemReason_HOLD_PROBLEM_REASON_HELD)
	if err := client.ExtendHolds(background(t), time.Hour, id); err != nil {
		t.Error(err)
	}
	_, err = client.ConfirmHolds(background(t), &pb.UpdateStateRequest{}, id)
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("confirmed by nothing: %v", err)
	}
	if _, err := client.ConfirmHolds(background(t), nil, id); err != nil {
		t.Error(err)
	}
	_, err = client.ReleaseHolds(background(t), id)
	expectProblem(t, err, codes.AlreadyExists, id, pb.HoldProblemReason_HOLD_PROBLEM_REASON_CONFIRMED)
	err = client.ExtendHolds(background(t), time.Second, "none@1")
	expectProblem(t, err, codes.NotFound, "none@1", pb.HoldProblemReason_HOLD_PROBLEM_REASON_UNKNOWN)
	if err := client.ExtendHolds(background(t), time.Millisecond, id); err == nil {
		t.Error("a millisecond is held")
	}
}

func TestAMirrorGoesOnFromHoldsThatAreMadeWithinChange(t *testing.T) {
	server := servertest.Start(t)
	client := dial(t, server.Address)
	mirror := startMirror(t, client, espalier.MirrorOptions{})
	workloads := map[types.NamespacedName]*kueue.Workload{}
	for _, object := range servertest.Objects(t, dumps(t, "before.json.gz", "extra.json")...) {
		if workload, is := object.(*kueue.Workload); is {
			workloads[types.NamespacedName{Namespace: workload.Namespace, Name: workload.Name}] = workload
		}
		set(mirror, object)
	}
	gang := espalier.GangOf(workloads[types.NamespacedName{Namespace: "team-nlp", Name: "job-cbonly-01-56345"}], "gpu-h100")
	hold := func() error {
		return mirror.Change(background(t), func(ctx context.Context, now *espalier.Summary) (espalier.Position, error) {
			placed, err := client.Place(ctx, espalier.PlaceOptions{State: now.Position, Sequential: true, Hold: time.Minute}, gang)
			if err != nil {
				return espalier.Position{}, err
			}
			return placed.Committed, nil
		})
	}
	if err := hold(); err != nil {
		t.Fatal(err)
	}
	held, _ := mirror.Position()
	node := &corev1.Node{}
	node.Name = "later"
	mirror.Set(node)
	// A load would be a generation of its own.
	if got, want := flush(t, mirror), (espalier.Position{Epoch: held.Epoch, Generation: held.Generation + 1}); got != want {
		t.Errorf("position %v after the next update, want %v", got, want)
	}
	// What fails, and what somebody else changes, is mended by the next call.
	if err := hold(); len(espalier.HoldProblems(err)) != 1 {
		t.Errorf("held twice: %v", err)
	}
	holds, err := client.Holds(background(t))
	if err != nil || len(holds) != 1 {
		t.Fatalf("%+v, %v", holds, err)
	}
	if _, err := client.ReleaseHolds(background(t), holds[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := hold(); err != nil {
		t.Error(err)
	}
}

func expectProblem(t *testing.T, err error, code codes.Code, id string, reason pb.HoldProblemReason) {
	t.Helper()
	want := []espalier.HoldProblem{{ID: id, Reason: reason}}
	if got := espalier.HoldProblems(err); !reflect.DeepEqual(got, want) || status.Code(err) != code {
		t.Errorf("%v: %v, want %v", err, got, want)
	}
}
