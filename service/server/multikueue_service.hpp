// Implements espalier.v1.MultiKueue on the objects of a request.
#pragma once

#include <memory>

#include "espalier/v1/multikueue.grpc.pb.h"
#include "host/engine/engine.hpp"
#include "service/server/calls.hpp"

namespace espalier {

// Parses messages itself, once there is memory for them.
class MultiKueueService final
    : public v1::MultiKueue::WithRawCallbackMethod_PlanFlow<v1::MultiKueue::Service> {
 public:
  // Keeps a reference to `calls`, which must outlive the service; `gates` are the defaults of
  // requests.
  MultiKueueService(Calls& calls, std::shared_ptr<Backend> backend, FeatureGates gates);

  grpc::ServerUnaryReactor* PlanFlow(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;

 private:
  grpc::Status Plan(const v1::PlanFlowRequest& request, WorkBudget& budget,
                    v1::PlanFlowResponse& response);

  Calls& calls_;
  std::shared_ptr<Backend> backend_;
  FeatureGates gates_;
};

}  // namespace espalier
