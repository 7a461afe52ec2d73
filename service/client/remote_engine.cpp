#include "service/client/remote_engine.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "espalier/v1/cluster_state.grpc.pb.h"
#include "espalier/v1/placement.grpc.pb.h"
#include "espalier/v1/scheduling.grpc.pb.h"
#include "espalier/v1/ungating.grpc.pb.h"
#include "service/wire/address.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/scheduling.hpp"
#include "service/wire/status.hpp"
#include "service/wire/ungating.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {
namespace {

constexpr auto kConnectTimeout = std::chrono::seconds(10);
constexpr std::int64_t kMaxAnswerBytes = std::int64_t{8} << 30;

std::shared_ptr<grpc::Channel> MakeChannel(const Address& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
  return grpc::CreateCustomChannel(address.GrpcTarget(), grpc::InsecureChannelCredentials(),
                                   arguments);
}

}  // namespace

class RemoteEngine::Impl {
 public:
  Impl(const Address& address, std::chrono::milliseconds timeout)
      : address_(address.ToString()),
        timeout_(timeout),
        channel_(MakeChannel(address)),
        cluster_state_(v1::ClusterState::NewStub(channel_)),
        placement_(v1::Placement::NewStub(channel_)),
        scheduling_(v1::Scheduling::NewStub(channel_)),
        ungating_(v1::Ungating::NewStub(channel_)) {}

  // Any cheap call shows whether a server is there and speaks our language.
  Result<void> Probe() {
    grpc::ClientContext context;
    SetDeadline(context, std::min<std::chrono::milliseconds>(timeout_, kConnectTimeout));
    v1::GetStateSummaryResponse response;
    return Check(cluster_state_->GetStateSummary(&context, {}, &response));
  }

  Result<void> Load(const ClusterStateInput& input) {
    grpc::ClientContext context;
    SetDeadline(context, timeout_);
    v1::LoadStateResponse response;
    const auto writer = cluster_state_->LoadState(&context, &response);
    ToChunks(input, [&](const v1::LoadStateRequest& chunk) { return writer->Write(chunk); });
    writer->WritesDone();
    if (auto finished = Check(writer->Finish()); !finished) return finished;
    state_ = response.state();
    whatever_is_current_ = false;
    return {};
  }

  Result<RemoteState> UseStateOfServer() {
    grpc::ClientContext context;
    SetDeadline(context, timeout_);
    v1::GetStateSummaryResponse response;
    if (auto got = Check(cluster_state_->GetStateSummary(&context, {}, &response)); !got) {
      return tl::unexpected(got.error());
    }
    whatever_is_current_ = true;
    RemoteState state{response.state().generation(), response.nodes(), {}};
    for (const v1::FlavorSummary& flavor : response.flavors()) {
      state.flavors.push_back(
          {flavor.name(), {flavor.levels().begin(), flavor.levels().end()}, flavor.nodes()});
    }
    return state;
  }

  Result<std::vector<std::vector<std::string>>> Leaves(const std::string& flavor) {
    constexpr std::uint32_t kLeavesPerCall = 50'000;
    std::vector<std::vector<std::string>> leaves;
    for (std::uint32_t total = 1; leaves.size() < total;) {
      grpc::ClientContext context;
      SetDeadline(context, timeout_);
      v1::ListLeavesRequest request;
      request.set_flavor(flavor);
      request.set_first(static_cast<std::uint32_t>(leaves.size()));
      request.set_limit(kLeavesPerCall);
      v1::ListLeavesResponse response;
      if (auto got = Check(cluster_state_->ListLeaves(&context, request, &response)); !got) {
        return tl::unexpected(got.error());
      }
      total = response.total();
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
    if (!whatever_is_current_) *request.mutable_state() = state_;
    request.set_mode(mode == PlacementMode::kNominate ? v1::PLACEMENT_MODE_NOMINATE
                                                      : v1::PLACEMENT_MODE_SEQUENTIAL);
    request.set_domain_naming(v1::DOMAIN_NAMING_NAME);
    WriteFeatureGates(gates, *request.mutable_feature_gates());
    auto batch = ToProto(requests);
    if (!batch) return tl::unexpected(batch.error());
    *request.mutable_workloads() = *std::move(batch);

    grpc::ClientContext context;
    SetDeadline(context, timeout_);
    v1::PlaceResponse response;
    if (auto placed = Check(placement_->Place(&context, request, &response)); !placed) {
      return tl::unexpected(placed.error());
    }
    WorkBudget budget(kMaxAnswerBytes);
    return Readable(FromProto(requests, response.answers(), budget));
  }

  Result<SchedulingCyclesResult> RunSchedulingCycles(const Cluster& cluster,
                                                     const FeatureGates& gates,
                                                     const SchedulingCyclesOptions& options) {
    auto request = ToProto(cluster);
    if (!request) return tl::unexpected(request.error());
    *request->mutable_state() = state_;
    WriteFeatureGates(gates, *request->mutable_feature_gates());
    request->set_until_stable(options.until_stable);
    request->set_now_seconds(options.admissibility.now_seconds);
    request->set_release_stopped(options.admissibility.release_stopped);

    grpc::ClientContext context;
    SetDeadline(context, timeout_);
    v1::CycleResponse response;
    if (auto decided = Check(scheduling_->Cycle(&context, *request, &response)); !decided) {
      return tl::unexpected(decided.error());
    }
    WorkBudget budget(kMaxAnswerBytes);
    return Readable(FromProto(response, budget));
  }

  Result<std::vector<UngatedPod>> UngateWorkload(const Workload& workload,
                                                 std::span<const Pod> pods) {
    const auto request = ToProto(workload, pods);
    if (!request) return tl::unexpected(request.error());
    grpc::ClientContext context;
    SetDeadline(context, timeout_);
    v1::UngateResponse response;
    if (auto ungated = Check(ungating_->Ungate(&context, *request, &response)); !ungated) {
      return tl::unexpected(ungated.error());
    }
    WorkBudget budget(kMaxAnswerBytes);
    return Readable(FromProto(response, pods, budget));
  }

 private:
  static void SetDeadline(grpc::ClientContext& context, std::chrono::milliseconds timeout) {
    context.set_deadline(std::chrono::system_clock::now() + timeout);
  }

  // An answer that cannot be read is no fault of the caller.
  template <class T>
  Result<T> Readable(Result<T> answer) const {
    if (answer) return answer;
    return tl::unexpected(
        Error{ErrorClass::kInternal, fmt::format("the server at {} sent an answer that cannot be "
                                                 "read: {}",
                                                 address_, answer.error().message)});
  }

  Result<void> Check(const grpc::Status& status) const {
    if (status.ok()) return {};
    return tl::unexpected(Error{ToErrorClass(status.error_code()), Explain(status)});
  }

  std::string Explain(const grpc::Status& status) const {
    switch (status.error_code()) {
      case grpc::StatusCode::UNAVAILABLE:
        return fmt::format("no server answers at {}: {}", address_, status.error_message());
      case grpc::StatusCode::UNIMPLEMENTED:
        return fmt::format(
            "the server at {} does not offer this call of espalier.v1; is it an "
            "espalier of this version?",
            address_);
      case grpc::StatusCode::DEADLINE_EXCEEDED:
        return fmt::format("the server at {} did not answer in time", address_);
      default:
        return fmt::format("the server at {}: {}", address_, status.error_message());
    }
  }

  std::string address_;
  std::chrono::milliseconds timeout_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::ClusterState::Stub> cluster_state_;
  std::unique_ptr<v1::Placement::Stub> placement_;
  std::unique_ptr<v1::Scheduling::Stub> scheduling_;
  std::unique_ptr<v1::Ungating::Stub> ungating_;
  v1::StatePosition state_;  // of the last Load
  bool whatever_is_current_ = false;
};

Result<RemoteEngine> RemoteEngine::Connect(const std::string& address,
                                           std::chrono::milliseconds timeout) {
  const auto parsed = ParseAddress(address);
  if (!parsed) return tl::unexpected(parsed.error());
  auto impl = std::make_unique<Impl>(*parsed, timeout);
  if (auto probed = impl->Probe(); !probed) return tl::unexpected(probed.error());
  return RemoteEngine(std::move(impl));
}

RemoteEngine::RemoteEngine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RemoteEngine::RemoteEngine(RemoteEngine&&) noexcept = default;
RemoteEngine& RemoteEngine::operator=(RemoteEngine&&) noexcept = default;
RemoteEngine::~RemoteEngine() = default;

Result<void> RemoteEngine::Load(const ClusterStateInput& input) { return impl_->Load(input); }

Result<RemoteState> RemoteEngine::UseStateOfServer() { return impl_->UseStateOfServer(); }

Result<std::vector<std::vector<std::string>>> RemoteEngine::Leaves(const std::string& flavor) {
  return impl_->Leaves(flavor);
}

Result<std::vector<WorkloadAnswer>> RemoteEngine::Place(std::span<const WorkloadRequest> requests,
                                                        PlacementMode mode,
                                                        const FeatureGates& gates) {
  return impl_->Place(requests, mode, gates);
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
