#include "service/server/cluster_state_service.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "host/packing/flavor_state.hpp"
#include "service/server/store_status.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kMaxStateBytes = std::int64_t{16} << 30;
constexpr std::int64_t kMaxUpdateBytes = std::int64_t{2} << 30;
constexpr int kMaxLoads = 4;  // each holds a state that is not in use yet
constexpr std::uint32_t kDefaultLeaves = 10'000;
constexpr std::uint32_t kMaxLeaves = 100'000;

grpc::Status UpdateState(StateStore& store, const v1::UpdateStateRequest& request,
                         v1::UpdateStateResponse& response) {
  ExpansionBudget budget{kMaxUpdateBytes};
  Result<StateDelta> delta = FromProto(request, budget);
  if (!delta) return ToStatus(delta.error());
  const auto updated = store.Update(FromProto(request.base()), *std::move(delta));
  if (!updated) return StoreStatus(updated.error(), store);
  *response.mutable_state() = ToProto(*updated);
  return grpc::Status::OK;
}

grpc::Status Summarize(const Snapshot& snapshot, v1::GetStateSummaryResponse& response) {
  *response.mutable_state() = ToProto(snapshot.position);
  response.set_nodes(snapshot.nodes);
  for (const std::string_view name : snapshot.state.FlavorNames()) {
    const FlavorSnapshot& flavor = snapshot.state.Find(name)->snapshot();
    v1::FlavorSummary& summary = *response.add_flavors();
    summary.set_name(std::string(name));
    const TreeView tree = flavor.tree();
    for (std::int32_t level = 0; level < tree.level_count; ++level) {
      summary.add_levels(flavor.levels()[level]);
      summary.add_domain_counts(tree.LevelEnd(level) - tree.LevelBegin(level));
    }
    summary.set_nodes(flavor.node_count());
    for (const std::string& resource : flavor.resources()) summary.add_resources(resource);
  }
  return grpc::Status::OK;
}

grpc::Status ListLeaves(const StateStore& store, const v1::ListLeavesRequest& request,
                        v1::ListLeavesResponse& response) {
  std::optional<StatePosition> position;
  if (request.has_state()) position = FromProto(request.state());
  const auto snapshot = store.At(position);
  if (!snapshot) return StoreStatus(snapshot.error(), store);
  if (request.limit() > kMaxLeaves) {
    return {grpc::StatusCode::INVALID_ARGUMENT,
            fmt::format("limit: is {}; at most {} leaves can be listed at once", request.limit(),
                        kMaxLeaves)};
  }
  const FlavorState* state = (*snapshot)->state.Find(request.flavor());
  if (!state) {
    return {grpc::StatusCode::NOT_FOUND,
            fmt::format("flavor: there is no flavor \"{}\" with a topology", request.flavor())};
  }
  const FlavorSnapshot& flavor = state->snapshot();
  const auto total = static_cast<std::uint32_t>(flavor.leaf_count());
  const std::uint32_t first = std::min(request.first(), total);
  const std::uint32_t limit = request.limit() == 0 ? kDefaultLeaves : request.limit();
  *response.mutable_state() = ToProto((*snapshot)->position);
  response.mutable_levels()->Add(flavor.levels().begin(), flavor.levels().end());
  response.set_total(total);
  for (std::uint32_t leaf = first; leaf < first + std::min(limit, total - first); ++leaf) {
    const LeafId id(static_cast<std::int32_t>(leaf));
    for (std::string& value : flavor.Path(flavor.LeafDomain(id))) {
      response.add_values(std::move(value));
    }
  }
  return grpc::Status::OK;
}

}  // namespace

// Collects the chunks of one load. The next one is read when the last one has been taken in, so
// that the client is slowed down to the server's speed.
class ClusterStateService::LoadReactor final
    : public grpc::ServerReadReactor<v1::LoadStateRequest> {
 public:
  LoadReactor(ClusterStateService& service, grpc::CallbackServerContext& context,
              v1::LoadStateResponse& response)
      : service_(service), ticket_(service.calls_), context_(context), response_(response) {
    ++service_.loads_;
    if (const grpc::Status refusal = Admit(); !refusal.ok()) {
      End(refusal);
    } else {
      StartRead(&chunk_);
    }
  }

 private:
  // Before the client is answered, or its next load could be one too many.
  void End(const grpc::Status& status) {
    --service_.loads_;
    Finish(status);
  }

  grpc::Status Admit() const {
    if (service_.loads_ > kMaxLoads) {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many loads at once; retry later"};
    }
    return service_.calls_.Admit(context_);
  }

  void OnReadDone(bool ok) override {
    if (ok) {
      service_.calls_.Post(
          context_, [this] { return TakeChunk(); },
          [this](const grpc::Status& status) {
            if (status.ok()) {
              StartRead(&chunk_);
            } else {
              End(status);
            }
          });
    } else if (context_.IsCancelled()) {
      End(grpc::Status::CANCELLED);
    } else {
      service_.calls_.Post(
          context_, [this] { return Load(); }, [this](const grpc::Status& status) { End(status); });
    }
  }

  void OnDone() override { delete this; }

  grpc::Status TakeChunk() {
    const auto taken = AppendChunk(chunk_, chunks_++, budget_, input_);
    chunk_.Clear();
    return taken ? grpc::Status::OK : ToStatus(taken.error());
  }

  grpc::Status Load() {
    const auto loaded = service_.store_.Load(std::move(input_));
    if (!loaded) return ToStatus(loaded.error());
    *response_.mutable_state() = ToProto(*loaded);
    service_.on_load_();
    return grpc::Status::OK;
  }

  ClusterStateService& service_;
  Calls::Ticket ticket_;
  grpc::CallbackServerContext& context_;
  v1::LoadStateResponse& response_;
  v1::LoadStateRequest chunk_;
  std::int64_t chunks_ = 0;
  ExpansionBudget budget_{kMaxStateBytes};
  ClusterStateInput input_;
};

ClusterStateService::ClusterStateService(Calls& calls, StateStore& store,
                                         std::function<void()> on_load)
    : calls_(calls), store_(store), on_load_(std::move(on_load)) {}

grpc::ServerReadReactor<v1::LoadStateRequest>* ClusterStateService::LoadState(
    grpc::CallbackServerContext* context, v1::LoadStateResponse* response) {
  return new LoadReactor(*this, *context, *response);  // deletes itself when done
}

grpc::ServerUnaryReactor* ClusterStateService::UpdateState(grpc::CallbackServerContext* context,
                                                           const v1::UpdateStateRequest* request,
                                                           v1::UpdateStateResponse* response) {
  return calls_.Run(context, [this, request, response] {
    return espalier::UpdateState(store_, *request, *response);
  });
}

grpc::ServerUnaryReactor* ClusterStateService::GetStateSummary(
    grpc::CallbackServerContext* context, const v1::GetStateSummaryRequest*,
    v1::GetStateSummaryResponse* response) {
  return calls_.Run(context, [this, response] { return Summarize(*store_.Current(), *response); });
}

grpc::ServerUnaryReactor* ClusterStateService::ListLeaves(grpc::CallbackServerContext* context,
                                                          const v1::ListLeavesRequest* request,
                                                          v1::ListLeavesResponse* response) {
  return calls_.Run(context, [this, request, response] {
    return espalier::ListLeaves(store_, *request, *response);
  });
}

}  // namespace espalier
