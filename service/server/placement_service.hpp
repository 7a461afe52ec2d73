// espalier.v1.Placement on an engine.
#pragma once

#include <memory>
#include <vector>

#include "espalier/v1/placement.grpc.pb.h"
#include "host/engine/engine.hpp"
#include "service/server/calls.hpp"
#include "service/server/place_response_bytes.hpp"
#include "service/server/state_store.hpp"

namespace espalier {

class PlacementService final : public v1::Placement::CallbackService {
 public:
  // `calls` and `store` outlive the service; `gates` hold where a request names none.
  PlacementService(Calls& calls, StateStore& store, std::shared_ptr<Backend> backend,
                   FeatureGates gates);

  grpc::ServerUnaryReactor* Place(grpc::CallbackServerContext* context,
                                  const v1::PlaceRequest* request,
                                  v1::PlaceResponse* response) override;
  grpc::ServerUnaryReactor* Replace(grpc::CallbackServerContext* context,
                                    const v1::PlaceRequest* request,
                                    v1::PlaceResponse* response) override;

 private:
  // The workloads a call takes.
  enum class Workloads { kAny, kWithPodsInPlace };

  grpc::Status Answer(const v1::PlaceRequest& request, Workloads which,
                      v1::PlaceResponse& response);

  Calls& calls_;
  StateStore& store_;
  std::shared_ptr<Backend> backend_;
  FeatureGates gates_;
};

}  // namespace espalier
