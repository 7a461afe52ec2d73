#include "service/client/remote_engine.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "espalier/v1/cluster_state.grpc.pb.h"
#include "espalier/v1/dispatch.grpc.pb.h"
#include "espalier/v1/placement.grpc.pb.h"
#include "espalier/v1/scheduling.grpc.pb.h"
#include "espalier/v1/ungating.grpc.pb.h"
#include "espalier/v1/workloads.grpc.pb.h"
#include "service/client/connection.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/dispatch.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/nested.hpp"
#include "service/wire/scheduling.hpp"
#include "service/wire/ungating.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {
namespace {

constexpr auto kConnectTimeout = std::chrono::seconds(10);
}  // namespace

class RemoteEngine::Impl {
 public:
  explicit Impl(Connection connection)
      : connection_(std::move(connection)),
        cluster_state_(v1::ClusterState::NewStub(connection_.channel())),
        placement_(v1::Placement::NewStub(connection_.channel())),
        dispatching_(v1::Dispatching::NewStub(connection_.channel())),
        scheduling_(v1::Scheduling::NewStub(connection_.channel())),
        ungating_(v1::Ungating::NewStub(connection_.channel())),
        workloads_(v1::Workloads::NewStub(connection_.channel())) {}

  // Any cheap call shows whether a server is there and speaks our language.
  Result<void> Probe() {
    grpc::ClientContext context;
    context.set_deadline(
        std::chrono::system_clock::now() +
        std::min<std::chrono::milliseconds>(connection_.timeout(), kConnectTimeout));
    v1::GetStateSummaryResponse response;
    return connection_.Check(cluster_state_->GetStateSummary(&context, {}, &response));
  }

  void UseState(std::string name) { state_name_ = std::move(name); }

  Result<void> Load(const ClusterStateInput& input, const std::vector<AdmittedUsage>& workloads,
                    const std::string& kueue_configuration) {
    grpc::ClientContext context;
    connection_.SetDeadline(context);
    v1::LoadStateResponse response;
    const auto writer = cluster_state_->LoadState(&context, &response);
    ToChunks(
        input, [&](const v1::LoadStateRequest& chunk) { return writer->Write(chunk); }, state_name_,
        workloads, kueue_configuration);
    writer->WritesDone();
    if (auto finished = connection_.Check(writer->Finish()); !finished) return finished;
    state_ = response.state();
    whatever_is_current_ = false;
    return {};
  }

  Result<StateSummary> UseStateOfServer() {
    grpc::ClientContext context;
    connection_.SetDeadline(context);
    v1::GetStateSummaryRequest request;
    request.set_state_name(state_name_);
    v1::GetStateSummaryResponse response;
    if (auto got = connection_.Check(cluster_state_->GetStateSummary(&context, request, &response));
        !got) {
      return tl::unexpected(got.error());
    }
    whatever_is_current_ = true;
    StateSummary state{response.state().generation(), response.nodes(), {}};
    state.kueue_configuration = response.kueue_configuration();
    for (const v1::FlavorSummary& flavor : response.flavors()) {
      state.flavors.push_back(
          {flavor.name(), {flavor.levels().begin(), flavor.levels().end()}, flavor.nodes()});
    }
    return state;
  }

  Result<std::vector<std::vector<std::string>>> Leaves(const std::string& flavor) {
    constexpr int kMostTries = 8;
    auto leaves = LeavesOfOneState(flavor);
    for (int tries = 1; tries < kMostTries && !leaves; ++tries) {
      if (leaves.error().error_class != ErrorClass::kStale) break;
      leaves = LeavesOfOneState(flavor);
    }
    return leaves;
  }

  // Fails with kStale when the state changes between two calls.
  Result<std::vector<std::vector<std::string>>> LeavesOfOneState(const std::string& flavor) {
    constexpr std::uint32_t kLeavesPerCall = 50'000;
    std::vector<std::vector<std::string>> leaves;
    std::optional<v1::StatePosition> listed;
    for (std::uint32_t total = 1; leaves.size() < total;) {
      grpc::ClientContext context;
      connection_.SetDeadline(context);
      v1::ListLeavesRequest request;
      request.set_state_name(state_name_);
      request.set_flavor(flavor);
      request.set_first(static_cast<std::uint32_t>(leaves.size()));
      request.set_limit(kLeavesPerCall);
      if (listed) *request.mutable_state() = *listed;
      v1::ListLeavesResponse response;
      if (auto got = connection_.Check(cluster_state_->ListLeaves(&context, request, &response));
          !got) {
        return tl::unexpected(got.error());
      }
      total = response.total();
      listed = response.state();
      const int levels = response.levels_size();
      if (levels == 0 || response.values_size() < levels) break;
      for (int i = 0; i + levels <= response.values_size(); i += levels) {
        const auto value = response.values().begin() + i;
        leaves.emplace_back(value, value + levels);
      }
    }
    return leaves;
  }

  Result<std::vector<WorkloadAnswer>> Place(std::span<const WorkloadRequest> requests,
                                            PlacementMode mode, const FeatureGates& gates) {
    v1::PlaceRequest request;
    request.set_state_name(state_name_);
    if (!whatever_is_current_) *request.mutable_state() = state_;
    request.set_mode(ModeOf(mode));
    request.set_domain_naming(v1::DOMAIN_NAMING_NAME);
    WriteFeatureGates(gates, *request.mutable_feature_gates());
    auto batch = ToProto(requests);
    if (!batch) return tl::unexpected(batch.error());
    *request.mutable_workloads() = *std::move(batch);

    grpc::ClientContext context;
    connection_.SetDeadline(context);
    v1::PlaceResponse response;
    if (auto placed = connection_.Check(placement_->Place(&context, request, &response)); !placed) {
      return tl::unexpected(placed.error());
    }
    WorkBudget budget(kMaxAnswerBytes);
    return connection_.Readable(FromProto(requests, response.answers(), budget));
  }

  Result<SchedulingCyclesResult> RunSchedulingCycles(const Cluster& cluster,
                                                     const FeatureGates& gates,
                                                     const SchedulingCyclesOptions& options) {
    auto request = ToProto(cluster);
    if (!request) return tl::unexpected(request.error());
    request->set_state_name(state_name_);
    *request->mutable_state() = state_;
    WriteFeatureGates(gates, *request->mutable_feature_gates());
    request->set_until_stable(options.until_stable);
    request->set_now_seconds(options.admissibility.now_seconds);
    request->set_release_stopped(options.admissibility.release_stopped);
    if (options.joint_replacement) request->set_profile(v1::PLACEMENT_PROFILE_ESPALIER);

    grpc::ClientContext context;
    connection_.SetDeadline(context);
    v1::CycleResponse response;
    if (auto decided = connection_.Check(scheduling_->Cycle(&context, *request, &response));
        !decided) {
      return tl::unexpected(decided.error());
    }
    WorkBudget budget(kMaxAnswerBytes);
    return connection_.Readable(FromProto(response, budget));
  }

  Result<std::vector<std::vector<ClusterFit>>> Dispatch(std::span<const std::string> states,
                                                        std::span<const WorkloadRequest> requests,
                                                        const FeatureGates& gates) {
    v1::DispatchRequest request;
    for (const std::string& name : states) request.add_states()->set_state_name(name);
    WriteFeatureGates(gates, *request.mutable_feature_gates());
    auto batch = ToProto(requests);
    if (!batch) return tl::unexpected(batch.error());
    *request.mutable_workloads() = *std::move(batch);

    grpc::ClientContext context;
    connection_.SetDeadline(context);
    v1::DispatchResponse response;
    if (auto asked = connection_.Check(dispatching_->Dispatch(&context, request, &response));
        !asked) {
      return tl::unexpected(asked.error());
    }
    return connection_.Readable(FromProto(response, requests.size(), states.size()));
  }

  Result<std::vector<UngatedPod>> UngateWorkload(const Workload& workload,
                                                 std::span<const Pod> pods) {
    const auto request = ToProto(workload, pods);
    if (!request) return tl::unexpected(request.error());
    grpc::ClientContext context;
    connection_.SetDeadline(context);
    v1::UngateResponse response;
    if (auto ungated = connection_.Check(ungating_->Ungate(&context, *request, &response));
        !ungated) {
      return tl::unexpected(ungated.error());
    }
    WorkBudget budget(kMaxAnswerBytes);
    return connection_.Readable(FromProto(response, pods, budget));
  }

 private:
  static v1::PlacementMode ModeOf(PlacementMode mode) {
    return mode == PlacementMode::kNominate ? v1::PLACEMENT_MODE_NOMINATE
                                            : v1::PLACEMENT_MODE_SEQUENTIAL;
  }

  Connection connection_;
  std::unique_ptr<v1::ClusterState::Stub> cluster_state_;
  std::unique_ptr<v1::Placement::Stub> placement_;
  std::unique_ptr<v1::Dispatching::Stub> dispatching_;
  std::unique_ptr<v1::Scheduling::Stub> scheduling_;
  std::unique_ptr<v1::Ungating::Stub> ungating_;
  std::string state_name_;
  std::unique_ptr<v1::Workloads::Stub> workloads_;
  v1::StatePosition state_;  // of the last Load
  bool whatever_is_current_ = false;
};

Result<RemoteEngine> RemoteEngine::Connect(const std::string& address,
                                           std::chrono::milliseconds timeout,
                                           const ClientTls& tls) {
  auto connection = Connection::Open(address, timeout, tls);
  if (!connection) return tl::unexpected(connection.error());
  auto impl = std::make_unique<Impl>(*std::move(connection));
  if (auto probed = impl->Probe(); !probed) return tl::unexpected(probed.error());
  return RemoteEngine(std::move(impl));
}

RemoteEngine::RemoteEngine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RemoteEngine::RemoteEngine(RemoteEngine&&) noexcept = default;
RemoteEngine& RemoteEngine::operator=(RemoteEngine&&) noexcept = default;
RemoteEngine::~RemoteEngine() = default;

void RemoteEngine::UseState(std::string name) { impl_->UseState(std::move(name)); }

Result<void> RemoteEngine::Load(const ClusterStateInput& input,
                                const std::vector<AdmittedUsage>& workloads,
                                const std::string& kueue_configuration) {
  return impl_->Load(input, workloads, kueue_configuration);
}

Result<StateSummary> RemoteEngine::UseStateOfServer() { return impl_->UseStateOfServer(); }

Result<std::vector<std::vector<std::string>>> RemoteEngine::Leaves(const std::string& flavor) {
  return impl_->Leaves(flavor);
}

Result<std::vector<WorkloadAnswer>> RemoteEngine::Place(std::span<const WorkloadRequest> requests,
                                                        PlacementMode mode,
                                                        const FeatureGates& gates) {
  return impl_->Place(requests, mode, gates);
}

Result<std::vector<std::vector<ClusterFit>>> RemoteEngine::Dispatch(
    std::span<const std::string> states, std::span<const WorkloadRequest> requests,
    const FeatureGates& gates) {
  return impl_->Dispatch(states, requests, gates);
}

Result<SchedulingCyclesResult> RemoteEngine::RunSchedulingCycles(
    const Cluster& cluster, const FeatureGates& gates, const SchedulingCyclesOptions& options) {
  return impl_->RunSchedulingCycles(cluster, gates, options);
}

Result<std::vector<UngatedPod>> RemoteEngine::UngateWorkload(const Workload& workload,
                                                             std::span<const Pod> pods) {
  return impl_->UngateWorkload(workload, pods);
}

}  // namespace espalier
