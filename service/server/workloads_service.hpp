// Implements espalier.v1.Workloads: Kubernetes objects and trees of groups on an engine.
#pragma once

#include <memory>

#include "espalier/v1/workloads.grpc.pb.h"
#include "host/engine/engine.hpp"
#include "host/live/named_states.hpp"
#include "service/server/calls.hpp"
#include "service/server/commits.hpp"

namespace espalier {

using RawPlaceNested = v1::Workloads::WithRawCallbackMethod_PlaceNested<v1::Workloads::Service>;

// Parses messages itself, once there is memory for them. Trees are decided on the CPU, by the
// worker of the call.
class WorkloadsService final
    : public v1::Workloads::WithRawCallbackMethod_PlaceObjects<RawPlaceNested> {
 public:
  // `calls`, `states` and `commits` outlive the service; `gates` hold where a request names none.
  WorkloadsService(Calls& calls, NamedStates& states, Commits& commits,
                   std::shared_ptr<Backend> backend, FeatureGates gates);

  grpc::ServerUnaryReactor* PlaceObjects(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* PlaceNested(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;

 private:
  template <class Request, class Response>
  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request, grpc::ByteBuffer* response);
  template <class Request, class Response>
  grpc::Status Answer(const Request& request, const CommittedReplies::Key& key, WorkBudget& budget,
                      grpc::ByteBuffer& bytes);

  Calls& calls_;
  NamedStates& states_;
  Commits& commits_;
  std::shared_ptr<Backend> backend_;
  FeatureGates gates_;
};

}  // namespace espalier
