// The state that a call asks about.
#pragma once

#include <memory>
#include <optional>

#include <grpcpp/support/status.h>

#include "host/live/named_states.hpp"
#include "service/server/status_with_position.hpp"
#include "service/wire/cluster_state.hpp"

namespace espalier {

// A state and the store that holds it.
struct FoundState {
  std::shared_ptr<StateStore> store;
  std::shared_ptr<const PublishedState> snapshot;

  const StatePosition& position() const { return snapshot->position; }
};

// Returns the position that a request names, if it does.
template <class Request>
std::optional<StatePosition> PositionOf(const Request& request) {
  if (!request.has_state()) return std::nullopt;
  return FromProto(request.state());
}

// Finds the state that a request names, which has to be at the position that it names, if it does.
// NOT_FOUND without it; FAILED_PRECONDITION with the current position where that is another one.
template <class Request>
grpc::Status FindState(const NamedStates& states, const Request& request, FoundState& found) {
  auto store = states.Find(request.state_name());
  if (!store) return ToStatus(store.error());
  auto snapshot = (*store)->At(PositionOf(request));
  if (!snapshot) return StatusWithPosition(snapshot.error(), **store);
  found = {*std::move(store), *std::move(snapshot)};
  return grpc::Status::OK;
}

// Copies the input of the state that a request names, with errors as above.
template <class Request>
grpc::Status FindLoaded(const NamedStates& states, const Request& request, WorkBudget& budget,
                        LoadedInput& found) {
  const auto store = states.Find(request.state_name());
  if (!store) return ToStatus(store.error());
  auto loaded = (*store)->LoadedAt(PositionOf(request), budget);
  if (!loaded) return StatusWithPosition(loaded.error(), **store);
  found = *std::move(loaded);
  return grpc::Status::OK;
}

}  // namespace espalier
