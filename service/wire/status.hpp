// Converts between error classes and gRPC status codes by one table, both ways.
#pragma once

#include <grpcpp/support/status.h>

#include "host/live/state_position.hpp"
#include "host/model/result.hpp"

namespace espalier {

grpc::StatusCode ToStatusCode(ErrorClass error_class);
grpc::Status ToStatus(const Error& error);

// Returns FAILED_PRECONDITION that names the current state, in the message and as a StaleState
// detail.
grpc::Status StaleStatus(const Error& error, const StatePosition& current);

// Returns the error class of a failed call, as its caller sees it.
ErrorClass ToErrorClass(grpc::StatusCode code);

}  // namespace espalier
