// Implements espalier.v1.Placement on an engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "espalier/v1/placement.grpc.pb.h"
#include "host/engine/engine.hpp"
#include "host/live/hold_expiry.hpp"
#include "host/live/named_states.hpp"
#include "service/server/calls.hpp"
#include "service/server/commits.hpp"

namespace espalier {

// Reads and writes bytes itself, as most of the time of a large call is spent between them and
// integers.
class PlacementService final : public v1::Placement::WithRawCallbackMethod_Place<
                                   v1::Placement::WithRawCallbackMethod_Replace<
                                       v1::Placement::WithRawCallbackMethod_ConfirmHolds<
                                           v1::Placement::WithRawCallbackMethod_ReleaseHolds<
                                               v1::Placement::WithRawCallbackMethod_ExtendHolds<
                                                   v1::Placement::WithRawCallbackMethod_ListHolds<
                                                       v1::Placement::Service>>>>>> {
 public:
  // `calls`, `states`, `commits` and `expiry` outlive the service; `gates` hold where a request
  // names none; `feature_gates` is the value of the server's flag.
  PlacementService(Calls& calls, NamedStates& states, Commits& commits, HoldExpiry& expiry,
                   std::shared_ptr<Backend> backend, FeatureGates gates, std::string feature_gates);

  grpc::ServerUnaryReactor* Place(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Replace(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ConfirmHolds(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ReleaseHolds(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ExtendHolds(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* ListHolds(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) override;

 private:
  // The workloads a call takes.
  enum class Workloads { kAny, kWithPodsInPlace };

  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request, Workloads which,
                                grpc::ByteBuffer* response);
  // `context` tells who asks.
  grpc::Status Answer(const v1::PlaceRequest& request, const grpc::CallbackServerContext& context,
                      Workloads which, WorkBudget& budget, grpc::ByteBuffer& bytes);
  grpc::Status Decide(const v1::PlaceRequest& request, const CommittedReplies::Key& key,
                      const grpc::CallbackServerContext& context, Workloads which,
                      WorkBudget& budget, grpc::ByteBuffer& bytes);

  Calls& calls_;
  NamedStates& states_;
  Commits& commits_;
  HoldExpiry& expiry_;
  std::shared_ptr<Backend> backend_;
  FeatureGates gates_;
  const std::string feature_gates_;
};

}  // namespace espalier
