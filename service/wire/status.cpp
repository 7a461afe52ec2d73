#include "service/wire/status.hpp"

#include <array>
#include <utility>

#include "espalier/v1/error.pb.h"
#include "host/model/excerpt.hpp"
#include "service/wire/cluster_state.hpp"

namespace espalier {
namespace {

// A status travels in headers, of which clients take 8 KiB.
constexpr std::size_t kMaxStatusBytes = 4096;

// The codes with which the service itself answers come first: a class maps to its first code.
constexpr std::array kCodes = {
    std::pair{ErrorClass::kBadInput, grpc::StatusCode::INVALID_ARGUMENT},
    std::pair{ErrorClass::kNotFound, grpc::StatusCode::NOT_FOUND},
    std::pair{ErrorClass::kStale, grpc::StatusCode::FAILED_PRECONDITION},
    std::pair{ErrorClass::kUnavailable, grpc::StatusCode::UNAVAILABLE},
    std::pair{ErrorClass::kInternal, grpc::StatusCode::INTERNAL},
    std::pair{ErrorClass::kDeviceFault, grpc::StatusCode::INTERNAL},
    std::pair{ErrorClass::kExhausted, grpc::StatusCode::RESOURCE_EXHAUSTED},
    std::pair{ErrorClass::kCancelled, grpc::StatusCode::CANCELLED},
    std::pair{ErrorClass::kCancelled, grpc::StatusCode::DEADLINE_EXCEEDED},
    std::pair{ErrorClass::kNotFound, grpc::StatusCode::UNIMPLEMENTED},
    std::pair{ErrorClass::kBadInput, grpc::StatusCode::ALREADY_EXISTS},  // of holds
    std::pair{ErrorClass::kNotFound, grpc::StatusCode::ABORTED},         // of holds
    std::pair{ErrorClass::kUnavailable, grpc::StatusCode::PERMISSION_DENIED},
};

}  // namespace

grpc::StatusCode ToStatusCode(ErrorClass error_class) {
  for (const auto& [from, code] : kCodes) {
    if (from == error_class) return code;
  }
  return grpc::StatusCode::INTERNAL;
}

grpc::Status ToStatus(const Error& error) {
  return grpc::Status(ToStatusCode(error.error_class), Excerpt(error.message, kMaxStatusBytes));
}

grpc::Status StaleStatus(const Error& error, const StatePosition& current) {
  v1::StaleState stale;
  *stale.mutable_current() = ToProto(current);
  v1::ErrorStatus details;
  details.set_code(ToStatusCode(ErrorClass::kStale));
  const std::string message = Excerpt(error.message, kMaxStatusBytes);
  details.set_message(message);
  details.add_details()->PackFrom(stale);
  return grpc::Status(ToStatusCode(ErrorClass::kStale), message, details.SerializeAsString());
}

ErrorClass ToErrorClass(grpc::StatusCode code) {
  for (const auto& [error_class, to] : kCodes) {
    if (to == code) return error_class;
  }
  return ErrorClass::kInternal;
}

}  // namespace espalier
