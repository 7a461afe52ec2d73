package espalier

import (
	"context"
	"fmt"
	"io"

	pb "espalier.dev/espalier/gen/espalier/v1"
)

// Room says how many more gangs of a shape fit.
type Room struct {
	Failure string        `json:"failure,omitempty"` // why none can be placed, whatever is free
	Levels  []RoomOfLevel `json:"levels,omitempty"`  // the whole flavor first; none with a failure
}

// RoomOfLevel says how many gangs fit that may not leave a domain of one level.
type RoomOfLevel struct {
	Level   string         `json:"level,omitempty"` // key of a label; empty: anywhere in the flavor
	Gangs   int64          `json:"gangs"`           // side by side, in all domains
	Domains []RoomOfDomain `json:"domains,omitempty"`
}

// RoomOfDomain says how many gangs, or single pods, one domain holds.
type RoomOfDomain struct {
	Values []string `json:"values"` // coarsest first
	Gangs  int64    `json:"gangs"`
	Pods   int64    `json:"pods"`
}

// CountGangs answers how many more gangs of each shape fit, a gang of one pod set each. Domains are
// those with room for a pod.
func (c *Client) CountGangs(ctx context.Context, state Position, shapes ...Gang) ([]Room, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.questions.CountGangs(ctx, &pb.CountGangsRequest{
		State: state.message(), Shapes: batch(shapes), Domains: true, StateName: c.stateName,
	})
	if err != nil {
		return nil, fmt.Errorf("count gangs: %w", err)
	}
	var rooms []Room
	for {
		reply, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("count gangs: %w", err)
		}
		room := Room{Failure: reply.GetFailure()}
		for depth, level := range reply.GetLevels() {
			of := RoomOfLevel{Level: level.GetLevel(), Gangs: level.GetGangs()}
			for i, gangs := range level.GetDomainGangs() {
				end := (i + 1) * depth // the whole flavor, which has no values, comes first
				if end > len(level.GetValues()) || i >= len(level.GetDomainPods()) {
					return nil, fmt.Errorf("count gangs: the server's answer is broken: level %q has too few values", of.Level)
				}
				of.Domains = append(of.Domains, RoomOfDomain{
					Values: level.GetValues()[i*depth : end], Gangs: gangs, Pods: level.GetDomainPods()[i],
				})
			}
			room.Levels = append(room.Levels, of)
		}
		rooms = append(rooms, room)
	}
	if len(rooms) != len(shapes) {
		return nil, fmt.Errorf("count gangs: %d answers to %d shapes", len(rooms), len(shapes))
	}
	return rooms, nil
}

// Leaves returns the level values, coarsest first, of each leaf of a flavor in the order in which
// ranks are placed. Errors: the state changed over and over.
func (c *Client) Leaves(ctx context.Context, flavor string) (levels []string, leaves [][]string, err error) {
	const tries, leavesPerCall = 8, 50_000
	for range tries {
		var listed *pb.StatePosition
		leaves = nil
		for {
			var reply *pb.ListLeavesResponse
			reply, err = c.state.ListLeaves(ctx, &pb.ListLeavesRequest{
				State: listed, Flavor: flavor, First: uint32(len(leaves)), Limit: leavesPerCall, StateName: c.stateName,
			})
			if _, stale := StaleState(err); stale {
				break
			}
			if err != nil {
				return nil, nil, fmt.Errorf("leaves of flavor %q: %w", flavor, err)
			}
			levels, listed = reply.GetLevels(), reply.GetState()
			values := reply.GetValues()
			for n := len(levels); n > 0 && len(values) >= n; values = values[n:] {
				leaves = append(leaves, values[:n])
			}
			if len(leaves) >= int(reply.GetTotal()) || len(reply.GetValues()) == 0 {
				return levels, leaves, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("leaves of flavor %q: %w", flavor, err)
}
