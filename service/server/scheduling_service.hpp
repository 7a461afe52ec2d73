// Implements espalier.v1.Scheduling on an engine.
#pragma once

#include <memory>

#include "espalier/v1/scheduling.grpc.pb.h"
#include "host/engine/engine.hpp"
#include "host/live/named_states.hpp"
#include "service/server/calls.hpp"

namespace espalier {

// Parses messages itself, once there is memory for them.
class SchedulingService final
    : public v1::Scheduling::WithRawCallbackMethod_Cycle<
          v1::Scheduling::WithRawCallbackMethod_PlanResize<v1::Scheduling::Service>> {
 public:
  // Keeps references to `calls` and `states`, which must outlive the service; `gates` are the
  // defaults of requests.
  SchedulingService(Calls& calls, NamedStates& states, std::shared_ptr<Backend> backend,
                    FeatureGates gates);

  grpc::ServerUnaryReactor* Cycle(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* PlanResize(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;

 private:
  grpc::Status Decide(const v1::CycleRequest& request, WorkBudget& budget,
                      v1::CycleResponse& response);
  grpc::Status Plan(const v1::PlanResizeRequest& request, WorkBudget& budget,
                    v1::PlanResizeResponse& response);

  Calls& calls_;
  NamedStates& states_;
  std::shared_ptr<Backend> backend_;
  FeatureGates gates_;
};

}  // namespace espalier
