// Implements espalier.v1.Ungating, which keeps no state.
#pragma once

#include "espalier/v1/ungating.grpc.pb.h"
#include "service/server/calls.hpp"

namespace espalier {

// Parses messages itself, once there is memory for them.
class UngatingService final
    : public v1::Ungating::WithRawCallbackMethod_Ungate<v1::Ungating::Service> {
 public:
  // Keeps a reference to `calls`, which must outlive the service.
  explicit UngatingService(Calls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* Ungate(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override;

 private:
  Calls& calls_;
};

}  // namespace espalier
