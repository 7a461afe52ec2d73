// Implements espalier.v1.Dispatching on an engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "espalier/v1/dispatch.grpc.pb.h"
#include "host/engine/engine.hpp"
#include "host/live/named_states.hpp"
#include "service/server/calls.hpp"

namespace espalier {

// A state that a dispatch asks.
struct DispatchTarget {
  std::string name;
  std::shared_ptr<const PublishedState> snapshot;  // null: none of that name is loaded
};

// Finds the states that `request` names, or all that have a name where it names none. A state that
// lost its contents counts as not loaded. INVALID_ARGUMENT for a name that comes twice,
// FAILED_PRECONDITION with the current position where a state is not at the position that is named.
grpc::Status FindDispatchTargets(const NamedStates& states, const v1::DispatchRequest& request,
                                 std::vector<DispatchTarget>& asked);

// Parses messages itself, once there is memory for them.
class DispatchService final
    : public v1::Dispatching::WithRawCallbackMethod_Dispatch<v1::Dispatching::Service> {
 public:
  // Keeps references to `calls` and `states`, which must outlive the service; `gates` are the
  // defaults of requests.
  DispatchService(Calls& calls, const NamedStates& states, std::shared_ptr<Backend> backend,
                  FeatureGates gates);

  grpc::ServerUnaryReactor* Dispatch(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;

 private:
  grpc::Status Answer(const v1::DispatchRequest& request, WorkBudget& budget,
                      v1::DispatchResponse& response);

  Calls& calls_;
  const NamedStates& states_;
  std::shared_ptr<Backend> backend_;
  FeatureGates gates_;
};

}  // namespace espalier
