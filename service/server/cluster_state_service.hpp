// espalier.v1.ClusterState on a StateStore.
#pragma once

#include <atomic>
#include <functional>

#include "espalier/v1/cluster_state.grpc.pb.h"
#include "service/server/calls.hpp"
#include "service/server/state_store.hpp"

namespace espalier {

class ClusterStateService final : public v1::ClusterState::CallbackService {
 public:
  // Both outlive the service. `on_load` is called after every load.
  ClusterStateService(Calls& calls, StateStore& store, std::function<void()> on_load);

  grpc::ServerReadReactor<v1::LoadStateRequest>* LoadState(
      grpc::CallbackServerContext* context, v1::LoadStateResponse* response) override;
  grpc::ServerUnaryReactor* UpdateState(grpc::CallbackServerContext* context,
                                        const v1::UpdateStateRequest* request,
                                        v1::UpdateStateResponse* response) override;
  grpc::ServerUnaryReactor* GetStateSummary(grpc::CallbackServerContext* context,
                                            const v1::GetStateSummaryRequest* request,
                                            v1::GetStateSummaryResponse* response) override;
  grpc::ServerUnaryReactor* ListLeaves(grpc::CallbackServerContext* context,
                                       const v1::ListLeavesRequest* request,
                                       v1::ListLeavesResponse* response) override;

 private:
  class LoadReactor;

  Calls& calls_;
  StateStore& store_;
  std::function<void()> on_load_;
  std::atomic<int> loads_ = 0;  // under way
};

}  // namespace espalier
