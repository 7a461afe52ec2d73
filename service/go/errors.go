package espalier

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "espalier.dev/espalier/gen/espalier/v1"
)

// StaleState returns the position that the server is at, where an error says that the state which a
// call named is no longer the current one. Another epoch means that the server was started anew and
// knows nothing.
func StaleState(err error) (current Position, stale bool) {
	s, ok := status.FromError(err)
	if !ok || s.Code() != codes.FailedPrecondition {
		return Position{}, false
	}
	for _, detail := range s.Details() {
		if message, is := detail.(*pb.StaleState); is {
			return positionOf(message.GetCurrent()), true
		}
	}
	return Position{}, false
}

// codeOf returns the code of gRPC of an error, also of one that is wrapped.
func codeOf(err error) codes.Code {
	s, ok := status.FromError(err)
	if !ok {
		return codes.Unknown
	}
	return s.Code()
}
