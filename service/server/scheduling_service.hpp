// espalier.v1.Scheduling on an engine.
#pragma once

#include <memory>

#include "espalier/v1/scheduling.grpc.pb.h"
#include "host/engine/engine.hpp"
#include "service/server/calls.hpp"
#include "service/server/state_store.hpp"

namespace espalier {

// Parses messages itself, once there is memory for them.
class SchedulingService final
    : public v1::Scheduling::WithRawCallbackMethod_Cycle<v1::Scheduling::Service> {
 public:
  // `calls` and `store` outlive the service; `gates` hold where a request names none.
  SchedulingService(Calls& calls, StateStore& store, std::shared_ptr<Backend> backend,
                    FeatureGates gates);

  grpc::ServerUnaryReactor* Cycle(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override;

 private:
  grpc::Status Decide(const v1::CycleRequest& request, WorkBudget& budget,
                      v1::CycleResponse& response);

  Calls& calls_;
  StateStore& store_;
  std::shared_ptr<Backend> backend_;
  FeatureGates gates_;
};

}  // namespace espalier
