// espalier.v1.ClusterState on a StateStore.
#pragma once

#include <functional>

#include "espalier/v1/cluster_state.grpc.pb.h"
#include "service/server/calls.hpp"
#include "service/server/state_store.hpp"

namespace espalier {

// Parses messages itself, so that one that cannot be parsed is told from the end of a stream, and
// only once there is memory for it.
class ClusterStateService final
    : public v1::ClusterState::WithRawCallbackMethod_LoadState<
          v1::ClusterState::WithRawCallbackMethod_UpdateState<
              v1::ClusterState::WithRawCallbackMethod_GetStateSummary<
                  v1::ClusterState::WithRawCallbackMethod_ListLeaves<v1::ClusterState::Service>>>> {
 public:
  // Both outlive the service. `on_load` is called after every load.
  ClusterStateService(Calls& calls, StateStore& store, std::function<void()> on_load);

  grpc::ServerReadReactor<grpc::ByteBuffer>* LoadState(grpc::CallbackServerContext* context,
                                                       grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* UpdateState(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetStateSummary(grpc::CallbackServerContext* context,
                                            const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListLeaves(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;

 private:
  class LoadReactor;

  Calls& calls_;
  StateStore& store_;
  std::function<void()> on_load_;
};

}  // namespace espalier
