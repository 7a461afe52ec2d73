// espalier.v1.Ungating; keeps no state.
#pragma once

#include "espalier/v1/ungating.grpc.pb.h"
#include "service/server/calls.hpp"

namespace espalier {

class UngatingService final : public v1::Ungating::CallbackService {
 public:
  // `calls` outlives the service.
  explicit UngatingService(Calls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* Ungate(grpc::CallbackServerContext* context,
                                   const v1::UngateRequest* request,
                                   v1::UngateResponse* response) override;

 private:
  Calls& calls_;
};

}  // namespace espalier
