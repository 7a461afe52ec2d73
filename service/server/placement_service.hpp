// Implements espalier.v1.Placement on an engine.
#pragma once

#include <memory>
#include <vector>

#include "espalier/v1/placement.grpc.pb.h"
#include "host/engine/engine.hpp"
#include "host/live/named_states.hpp"
#include "service/server/calls.hpp"
#include "service/server/commits.hpp"

namespace espalier {

// Reads and writes bytes itself, as most of the time of a large call is spent between them and
// integers.
class PlacementService final
    : public v1::Placement::WithRawCallbackMethod_Place<
          v1::Placement::WithRawCallbackMethod_Replace<v1::Placement::Service>> {
 public:
  // `calls`, `states` and `commits` outlive the service; `gates` hold where a request names none.
  PlacementService(Calls& calls, NamedStates& states, Commits& commits,
                   std::shared_ptr<Backend> backend, FeatureGates gates);

  grpc::ServerUnaryReactor* Place(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Replace(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override;

 private:
  // The workloads a call takes.
  enum class Workloads { kAny, kWithPodsInPlace };

  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request, Workloads which,
                                grpc::ByteBuffer* response);
  grpc::Status Answer(const v1::PlaceRequest& request, Workloads which, WorkBudget& budget,
                      grpc::ByteBuffer& bytes);
  grpc::Status Decide(const v1::PlaceRequest& request, const CommittedReplies::Key& key,
                      Workloads which, WorkBudget& budget, grpc::ByteBuffer& bytes);

  Calls& calls_;
  NamedStates& states_;
  Commits& commits_;
  std::shared_ptr<Backend> backend_;
  FeatureGates gates_;
};

}  // namespace espalier
