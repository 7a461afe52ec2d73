// Makes the status of a call that failed on the state: a stale position comes with the current one.
#pragma once

#include "host/live/state_store.hpp"
#include "service/wire/status.hpp"

namespace espalier {

inline grpc::Status StatusWithPosition(const Error& error, const StateStore& store) {
  if (error.error_class != ErrorClass::kStale) return ToStatus(error);
  return StaleStatus(error, store.Current()->position);
}

}  // namespace espalier
