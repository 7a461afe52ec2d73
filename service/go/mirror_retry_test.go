package espalier

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"

	pb "espalier.dev/espalier/gen/espalier/v1"
)

// scripted is a server without a network. It keeps a position and fails as it is told.
type scripted struct {
	mu                sync.Mutex
	epoch, generation uint64
	fail              []error // of the next calls that change the state; nil: none
	lose              bool    // the reply of the next update
	start             time.Time
	calls             []string
}

func (s *scripted) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *scripted) position() *pb.StatePosition {
	return &pb.StatePosition{Epoch: s.epoch, Generation: s.generation}
}

func (s *scripted) log(format string, values ...any) {
	at := time.Since(s.start).Round(100 * time.Millisecond)
	s.calls = append(s.calls, fmt.Sprintf("%v ", at)+fmt.Sprintf(format, values...))
}

func (s *scripted) nextFailure() error {
	if len(s.fail) == 0 {
		return nil
	}
	failure := s.fail[0]
	s.fail = s.fail[1:]
	return failure
}

func (s *scripted) Invoke(_ context.Context, method string, request, reply any, _ ...grpc.CallOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r := request.(type) {
	case *pb.GetStateSummaryRequest:
		proto.Merge(reply.(proto.Message), &pb.GetStateSummaryResponse{State: s.position()})
		return nil
	case *pb.UpdateStateRequest:
		s.log("update %d+%d", len(r.GetUpsertNodes()), len(r.GetRemoveNodes()))
		if err := s.nextFailure(); err != nil {
			return err
		}
		if !proto.Equal(r.GetBase(), s.position()) {
			return s.stale()
		}
		s.generation++
		if s.lose {
			s.lose = false
			return status.Error(codes.Unavailable, "the connection broke")
		}
		proto.Merge(reply.(proto.Message), &pb.UpdateStateResponse{State: s.position()})
		return nil
	}
	return fmt.Errorf("unexpected call of %s", method)
}

func (s *scripted) stale() error {
	failure := status.New(codes.FailedPrecondition, "the state is not current")
	detailed, err := failure.WithDetails(&pb.StaleState{Current: s.position()})
	if err != nil {
		return err
	}
	return detailed.Err()
}

func (s *scripted) NewStream(ctx context.Context, _ *grpc.StreamDesc, _ string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return &loadStream{server: s, ctx: ctx}, nil
}

type loadStream struct {
	grpc.ClientStream
	server *scripted
	ctx    context.Context
	nodes  int
	err    error
}

func (l *loadStream) SendMsg(message any) error {
	if l.err != nil {
		return io.EOF
	}
	l.nodes += len(message.(*pb.LoadStateRequest).GetNodes())
	return nil
}

func (l *loadStream) CloseSend() error             { return nil }
func (l *loadStream) Context() context.Context     { return l.ctx }
func (l *loadStream) Header() (metadata.MD, error) { return nil, nil }

func (l *loadStream) RecvMsg(reply any) error {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	l.server.log("load %d", l.nodes)
	if err := l.server.nextFailure(); err != nil {
		return err
	}
	l.server.generation++
	proto.Merge(reply.(proto.Message), &pb.LoadStateResponse{State: l.server.position()})
	return nil
}

func node(name string) *corev1.Node {
	n := &corev1.Node{}
	n.Name = name
	return n
}

func TestMirrorRetriesAndLoadsAnew(t *testing.T) {
	unavailable := status.Error(codes.Unavailable, "draining")
	for _, c := range []struct {
		name string
		// what happens after the load, of one node, at 0s
		do   func(s *scripted, m *Mirror)
		want []string
	}{
		{
			name: "changes of one window are one update",
			do: func(_ *scripted, m *Mirror) {
				m.Set(node("b"))
				time.Sleep(50 * time.Millisecond)
				m.Set(node("c"))
				m.Delete(node("a"))
				time.Sleep(time.Second)
				m.Set(node("c")) // nothing new
			},
			want: []string{"100ms update 2+1"},
		},
		{
			name: "an update that fails is sent again, with what came meanwhile",
			do: func(s *scripted, m *Mirror) {
				s.set(func() { s.fail = []error{unavailable, unavailable} })
				m.Set(node("b"))
				time.Sleep(150 * time.Millisecond)
				m.Delete(node("a"))
			},
			// The pauses are a half to a whole of 1 s and 2 s.
			want: []string{"100ms update 1+0", "1s update 1+1", "2.7s update 1+1"},
		},
		{
			name: "a reply that was lost shows by the position, and the state is loaded anew",
			do: func(s *scripted, m *Mirror) {
				s.set(func() { s.lose = true })
				m.Set(node("b"))
			},
			want: []string{"100ms update 1+0", "1s update 1+0", "1s load 2"},
		},
		{
			name: "a server that was started anew is noticed without a change",
			do: func(s *scripted, _ *Mirror) {
				s.set(func() { s.epoch, s.generation = 9, 0 })
			},
			want: []string{"9.9s load 1"},
		},
		{
			name: "a server that was started anew is noticed by a change",
			do: func(s *scripted, m *Mirror) {
				s.set(func() { s.epoch, s.generation = 9, 0 })
				m.Set(node("b"))
			},
			want: []string{"100ms update 1+0", "100ms load 2"},
		},
		{
			name: "an update that is refused leads to a load, which tells what is wrong until it is mended",
			do: func(s *scripted, m *Mirror) {
				refused := status.Error(codes.InvalidArgument, "update.remove_nodes[0]: unknown")
				s.set(func() { s.fail = []error{refused, refused} })
				m.Set(node("b"))
			},
			want: []string{"100ms update 1+0", "1s load 2", "2.7s load 2"},
		},
		{
			name: "a state that somebody unloaded is loaded anew",
			do: func(s *scripted, m *Mirror) {
				s.set(func() { s.fail = []error{status.Error(codes.NotFound, "no state of that name")} })
				m.Set(node("b"))
			},
			want: []string{"100ms update 1+0", "1s load 2"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &scripted{epoch: 1, start: time.Now()}
				mirror, err := NewMirror(NewClient(server), Informers{}, MirrorOptions{
					FirstRetry: time.Second, Logger: slog.New(slog.DiscardHandler),
				})
				if err != nil {
					t.Fatal(err)
				}
				mirror.Set(node("a"))
				ctx, stop := context.WithCancel(t.Context())
				go func() { _ = mirror.Run(ctx) }()
				synctest.Wait()
				time.Sleep(200 * time.Millisecond) // lets the token of the first node pass
				server.set(func() { server.calls, server.start = nil, time.Now() })
				c.do(server, mirror)
				time.Sleep(30 * time.Second)
				stop()
				synctest.Wait()
				if got := withoutJitter(server.calls); !reflect.DeepEqual(got, withoutJitter(c.want)) {
					t.Errorf("%q, want %q", server.calls, c.want)
				}
				if position, err := mirror.Position(); err != nil || position != positionOf(server.position()) {
					t.Errorf("position %v, %v; the server is at %v", position, err, server.position())
				}
			})
		})
	}
}

// withoutJitter leaves out when a call that follows a pause was made.
func withoutJitter(calls []string) []string {
	var texts []string
	for _, call := range calls {
		at, what, _ := strings.Cut(call, " ")
		if after, err := time.ParseDuration(at); err != nil || (after > 100*time.Millisecond && after < 5*time.Second) {
			at = "later"
		}
		texts = append(texts, at+" "+what)
	}
	return texts
}

func TestFlushDoesNotWaitForTheWindowAndTellsWhyItFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &scripted{epoch: 1, start: time.Now()}
		mirror, err := NewMirror(NewClient(server), Informers{}, MirrorOptions{
			BatchWindow: time.Hour, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = mirror.Run(ctx) }()
		mirror.Set(node("a"))
		before := time.Now()
		position, err := mirror.Flush(ctx)
		if err != nil || time.Since(before) != 0 || position.Generation == 0 {
			t.Errorf("%v, %v after %v", position, err, time.Since(before))
		}
		server.set(func() {
			for range 100 {
				server.fail = append(server.fail, status.Error(codes.ResourceExhausted, "the queue is full"))
			}
		})
		mirror.Set(node("b"))
		short, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		if _, err := mirror.Flush(short); err == nil || !strings.Contains(err.Error(), "the queue is full") {
			t.Errorf("%v: want why", err)
		}
	})
}

func TestPausesDoubleUpToTheLastAndKeepAtLeastHalf(t *testing.T) {
	b := backoff{first: time.Second, last: 5 * time.Second}
	for i, most := range []time.Duration{1, 2, 4, 5, 5} {
		if pause := b.next(); pause < most*time.Second/2 || pause > most*time.Second {
			t.Errorf("pause %d: %v, want a half to a whole of %v", i, pause, most*time.Second)
		}
	}
	b.reset()
	if pause := b.next(); pause > time.Second {
		t.Errorf("%v after a success", pause)
	}
}
