package espalier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"

	pb "espalier.dev/espalier/gen/espalier/v1"
)

// Hold is room that was placed and that counts as usage until its controller confirms it.
type Hold struct {
	ID       string
	Workload types.NamespacedName
	Owner    string
	Pods     int64         // that there is room for
	Age      time.Duration // since it was made, in whole seconds
	Left     time.Duration // until it expires, in whole seconds
}

// HoldProblem says what is wrong with a hold that a call named.
type HoldProblem struct {
	ID     string
	Reason pb.HoldProblemReason
}

// HoldProblems returns what is wrong with which holds, where that is why a call failed: all that it
// named is then as it was.
func HoldProblems(err error) []HoldProblem {
	s, ok := status.FromError(err)
	if !ok {
		return nil
	}
	var problems []HoldProblem
	for _, detail := range s.Details() {
		message, is := detail.(*pb.HoldProblems)
		if !is {
			continue
		}
		for _, problem := range message.GetProblems() {
			problems = append(problems, HoldProblem{problem.GetId(), problem.GetReason()})
		}
	}
	return problems
}

// wholeSeconds returns a duration as the wire has it. Errors: it is none of whole seconds.
func wholeSeconds(duration time.Duration) (int64, error) {
	if duration%time.Second != 0 {
		return 0, fmt.Errorf("hold: is %v; whole seconds expected", duration)
	}
	return int64(duration / time.Second), nil
}

// Holds returns the holds of the state, by id.
func (c *Client) Holds(ctx context.Context) ([]Hold, error) {
	stream, err := c.placement.ListHolds(ctx, &pb.ListHoldsRequest{StateName: c.stateName})
	if err != nil {
		return nil, fmt.Errorf("holds: %w", err)
	}
	var holds []Hold
	for {
		page, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return holds, nil
		}
		if err != nil {
			return nil, fmt.Errorf("holds: %w", err)
		}
		for _, hold := range page.GetHolds() {
			holds = append(holds, Hold{
				ID:       hold.GetId(),
				Workload: types.NamespacedName{Namespace: hold.GetNamespace(), Name: hold.GetName()},
				Owner:    hold.GetOwner(),
				Pods:     hold.GetPods(),
				Age:      time.Duration(hold.GetAgeSeconds()) * time.Second,
				Left:     time.Duration(hold.GetSecondsLeft()) * time.Second,
			})
		}
	}
}

// ConfirmHolds ends holds in whose place `update` reports usage, in one step: their workloads by
// key, or the usage of their leaves. Without an update the state must have that usage already, as a
// Mirror sends it. HoldProblems tells of an error which holds are none.
func (c *Client) ConfirmHolds(ctx context.Context, update *pb.UpdateStateRequest, ids ...string) (Position, error) {
	reply, err := c.placement.ConfirmHolds(ctx, &pb.ConfirmHoldsRequest{
		StateName: c.stateName, Ids: ids, Update: update, Reported: update == nil,
	})
	if err != nil {
		return Position{}, fmt.Errorf("confirm holds: %w", err)
	}
	return positionOf(reply.GetState()), nil
}

// ReleaseHolds ends holds whose room is free again.
func (c *Client) ReleaseHolds(ctx context.Context, ids ...string) (Position, error) {
	reply, err := c.placement.ReleaseHolds(ctx, &pb.ReleaseHoldsRequest{StateName: c.stateName, Ids: ids})
	if err != nil {
		return Position{}, fmt.Errorf("release holds: %w", err)
	}
	return positionOf(reply.GetState()), nil
}

// ExtendHolds lets holds expire after so many seconds from now on.
func (c *Client) ExtendHolds(ctx context.Context, hold time.Duration, ids ...string) error {
	seconds, err := wholeSeconds(hold)
	if err != nil {
		return fmt.Errorf("extend holds: %w", err)
	}
	_, err = c.placement.ExtendHolds(ctx, &pb.ExtendHoldsRequest{StateName: c.stateName, Ids: ids, HoldSeconds: seconds})
	if err != nil {
		return fmt.Errorf("extend holds: %w", err)
	}
	return nil
}
