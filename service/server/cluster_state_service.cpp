#include "service/server/cluster_state_service.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/packing/flavor_state.hpp"
#include "service/server/store_status.hpp"

namespace espalier {
namespace {

constexpr std::uint32_t kDefaultLeaves = 10'000;
constexpr std::uint32_t kMaxLeaves = 100'000;

// Bytes that a row of an answer takes besides its texts.
constexpr std::int64_t kBytesOfRow = 64;

grpc::Status UpdateState(StateStore& store, const v1::UpdateStateRequest& request,
                         WorkBudget& budget, v1::UpdateStateResponse& response) {
  if (!request.has_base()) {
    return ToStatus(
        {ErrorClass::kBadInput,
         "base: is missing; the position of the state that the update extends expected"});
  }
  Result<StateDelta> delta = FromProto(request, budget);
  if (!delta) return ToStatus(delta.error());
  const auto updated = store.Update(FromProto(request.base()), *std::move(delta), budget);
  if (!updated) return StoreStatus(updated.error(), store);
  *response.mutable_state() = ToProto(*updated);
  return grpc::Status::OK;
}

grpc::Status Summarize(const Snapshot& snapshot, WorkBudget& budget,
                       v1::GetStateSummaryResponse& response) {
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
    for (const std::string& resource : flavor.resources()) {
      if (!budget.Charge(kBytesOfRow + static_cast<std::int64_t>(resource.size())) ||
          !budget.ChargeAnswer(static_cast<std::int64_t>(resource.size()))) {
        return ToStatus(budget.Check().error());
      }
      summary.add_resources(resource);
    }
    if (!budget.Charge(kBytesOfRow) || !budget.Pause()) return ToStatus(budget.Check().error());
  }
  return grpc::Status::OK;
}

grpc::Status ListLeaves(const StateStore& store, const v1::ListLeavesRequest& request,
                        WorkBudget& budget, v1::ListLeavesResponse& response) {
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
            fmt::format("flavor: there is no flavor \"{}\" with a topology",
                        Excerpt(request.flavor()))};
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
      if (!budget.Charge(kBytesOfRow + static_cast<std::int64_t>(value.size()))) {
        return ToStatus(budget.Check().error());
      }
      response.add_values(std::move(value));
    }
  }
  return grpc::Status::OK;
}

}  // namespace

// Collects the chunks of one load. The next one is read when the last one has been taken in, so
// that the client is slowed down to the server's speed.
class ClusterStateService::LoadReactor final : public Calls::Call,
                                               public grpc::ServerReadReactor<grpc::ByteBuffer> {
 public:
  LoadReactor(ClusterStateService& service, grpc::CallbackServerContext& context,
              grpc::ByteBuffer& response)
      : Call(service.calls_, context, service.calls_.state_queue()),
        service_(service),
        response_(response) {
    if (const grpc::Status refusal = Admit(0); !refusal.ok()) {
      End(refusal);
    } else {
      ReadNext();
    }
  }

 private:
  void ReadNext() {
    WaitForClient(true);
    StartRead(&bytes_);
  }

  void OnReadDone(bool ok) override {
    WaitForClient(false);
    if (ended_.load(std::memory_order_acquire)) return;
    if (ok) {
      Post([this] { return TakeChunk(); },
           [this](const grpc::Status& status) { status.ok() ? ReadNext() : End(status); });
    } else if (context().IsCancelled()) {
      End(grpc::Status::CANCELLED);
    } else {
      Post([this] { return Load(); }, [this](const grpc::Status& status) { End(status); });
    }
  }

  void OnCancel() override { StopWork(); }

  void OnDone() override {
    Leave();
    delete this;
  }

  void GiveUp() override {
    End({grpc::StatusCode::DEADLINE_EXCEEDED,
         "the stream made no progress for too long; send the chunks one right after the other"});
  }

  // Once; whoever is first says how.
  void End(const grpc::Status& status) {
    if (!ended_.exchange(true, std::memory_order_acq_rel)) Finish(status);
  }

  grpc::Status TakeChunk() {
    const std::int64_t chunk = chunks_++;
    if (end_) {
      return ToStatus(
          {ErrorClass::kBadInput,
           fmt::format("chunk[{}]: comes after the chunk with `end`; the last chunk has "
                       "it",
                       chunk)});
    }
    const std::int64_t before = budget().charged();
    v1::LoadStateRequest message;
    budget().Charge(static_cast<std::int64_t>(bytes_.Length()));
    if (const auto parsed = Parse(bytes_, budget(), message); !parsed) {
      return ToStatus({parsed.error().error_class,
                       fmt::format("chunk[{}]: {}", chunk, parsed.error().message)});
    }
    const std::int64_t message_bytes = budget().charged() - before;
    const auto taken = AppendChunk(message, chunk, budget(), input_);
    if (!taken) return ToStatus(taken.error());
    if (message.has_end()) end_ = message.end();
    bytes_.Clear();
    budget().Release(message_bytes);
    service_.calls_.NoteFreed(message_bytes);
    return grpc::Status::OK;
  }

  grpc::Status Load() {
    if (!end_) {
      return ToStatus({ErrorClass::kBadInput,
                       fmt::format("the stream broke off after {} chunks: none of them has `end`, "
                                   "which says that this was all; load the state anew",
                                   chunks_)});
    }
    for (const auto& [field, sent, came] :
         {std::tuple("nodes", end_->nodes(), input_.nodes.size()),
          std::tuple("non_tas_usage", end_->non_tas_usage(), input_.non_tas_usage.size()),
          std::tuple("tas_usage", end_->tas_usage(), input_.tas_usage.size())}) {
      if (sent == static_cast<std::int64_t>(came)) continue;
      return ToStatus({ErrorClass::kBadInput,
                       fmt::format("end.{}: is {}, but {} came in {} chunks; load the state anew",
                                   field, sent, came, chunks_)});
    }
    const auto loaded = service_.store_.Load(std::move(input_), budget());
    if (!loaded) return ToStatus(loaded.error());
    v1::LoadStateResponse response;
    *response.mutable_state() = ToProto(*loaded);
    response_ = ToBytes(response);
    service_.on_load_();
    return grpc::Status::OK;
  }

  ClusterStateService& service_;
  grpc::ByteBuffer& response_;
  grpc::ByteBuffer bytes_;
  std::int64_t chunks_ = 0;
  std::optional<v1::LoadStateEnd> end_;
  ClusterStateInput input_;
  std::atomic<bool> ended_ = false;
};

ClusterStateService::ClusterStateService(Calls& calls, StateStore& store,
                                         std::function<void()> on_load)
    : calls_(calls), store_(store), on_load_(std::move(on_load)) {}

grpc::ServerReadReactor<grpc::ByteBuffer>* ClusterStateService::LoadState(
    grpc::CallbackServerContext* context, grpc::ByteBuffer* response) {
  return new LoadReactor(*this, *context, *response);  // deletes itself when done
}

grpc::ServerUnaryReactor* ClusterStateService::UpdateState(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request,
                                                           grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::UpdateStateRequest, v1::UpdateStateResponse>(
      context, calls_.state_queue(), request, response,
      [this](const v1::UpdateStateRequest& message, WorkBudget& budget,
             v1::UpdateStateResponse& answer) {
        return espalier::UpdateState(store_, message, budget, answer);
      });
}

grpc::ServerUnaryReactor* ClusterStateService::GetStateSummary(grpc::CallbackServerContext* context,
                                                               const grpc::ByteBuffer* request,
                                                               grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::GetStateSummaryRequest, v1::GetStateSummaryResponse>(
      context, calls_.state_queue(), request, response,
      [this](const v1::GetStateSummaryRequest&, WorkBudget& budget,
             v1::GetStateSummaryResponse& answer) {
        return Summarize(*store_.Current(), budget, answer);
      });
}

grpc::ServerUnaryReactor* ClusterStateService::ListLeaves(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request,
                                                          grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::ListLeavesRequest, v1::ListLeavesResponse>(
      context, calls_.state_queue(), request, response,
      [this](const v1::ListLeavesRequest& message, WorkBudget& budget,
             v1::ListLeavesResponse& answer) {
        return espalier::ListLeaves(store_, message, budget, answer);
      });
}

}  // namespace espalier
