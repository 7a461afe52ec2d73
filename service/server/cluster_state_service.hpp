// Implements espalier.v1.ClusterState on NamedStates.
#pragma once

#include <functional>

#include "espalier/v1/cluster_state.grpc.pb.h"
#include "host/live/named_states.hpp"
#include "service/server/calls.hpp"

namespace espalier {

// Parses messages itself, so that one that cannot be parsed differs from the end of a stream, and
// only once there is memory for it.
class ClusterStateService final
    : public v1::ClusterState::WithRawCallbackMethod_LoadState<
          v1::ClusterState::WithRawCallbackMethod_UpdateState<
              v1::ClusterState::WithRawCallbackMethod_GetStateSummary<
                  v1::ClusterState::WithRawCallbackMethod_ListLeaves<
                      v1::ClusterState::WithRawCallbackMethod_ReadState<
                          v1::ClusterState::WithRawCallbackMethod_ListStates<
                              v1::ClusterState::WithRawCallbackMethod_UnloadState<
                                  v1::ClusterState::Service>>>>>>> {
 public:
  // Keeps references to the first two, which must outlive the service. `feature_gates` is the value
  // of the server's flag. `on_change` is called after every load and unload.
  ClusterStateService(Calls& calls, NamedStates& states, std::string feature_gates,
                      std::function<void()> on_change);

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
  grpc::ServerWriteReactor<grpc::ByteBuffer>* ReadState(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* ListStates(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* UnloadState(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;

 private:
  class LoadReactor;

  Calls& calls_;
  NamedStates& states_;
  const std::string feature_gates_;
  std::function<void()> on_change_;
};

}  // namespace espalier
