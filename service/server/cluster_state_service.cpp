#include "service/server/cluster_state_service.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <google/protobuf/arena.h>

#include "host/model/excerpt.hpp"
#include "host/packing/flavor_state.hpp"
#include "service/server/found_state.hpp"
#include "service/server/read_configuration.hpp"
#include "service/server/row_bytes.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/holds.hpp"

namespace espalier {
namespace {

constexpr std::uint32_t kDefaultLeaves = 10'000;
constexpr std::uint32_t kMaxLeaves = 100'000;

grpc::Status UpdateState(const NamedStates& states, const std::string& feature_gates,
                         const v1::UpdateStateRequest& request, WorkBudget& budget,
                         v1::UpdateStateResponse& response) {
  if (!request.has_base()) {
    return ToStatus(
        {ErrorClass::kBadInput,
         "base: is missing; the position of the state that the update extends expected"});
  }
  const auto store = states.Find(request.state_name());
  if (!store) return ToStatus(store.error());
  Result<StateDelta> delta = FromProto(request, budget);
  if (!delta) return ToStatus(delta.error());
  std::optional<SharedConfiguration> configuration;
  if (request.has_set_kueue_configuration()) {
    auto read = ReadConfiguration(request.set_kueue_configuration(), feature_gates, budget);
    if (!read) return ToStatus({read.error().error_class, "set_" + read.error().message});
    configuration = *std::move(read);
    AddWarnings(*configuration, response);
  }
  std::vector<LostHold> broken;
  const auto updated = (*store)->Update(FromProto(request.base()), *std::move(delta), budget,
                                        std::move(configuration), &broken);
  if (!updated) return StatusWithPosition(updated.error(), **store);
  for (const LostHold& hold : broken) *response.add_broken_holds() = ToProto(hold);
  *response.mutable_state() = ToProto(*updated);
  return grpc::Status::OK;
}

// A state on its way to a client, chunk by chunk.
struct SentState {
  SentState(StateStore::Contents of_state, std::string name)
      : contents(std::move(of_state)),
        state_name(std::move(name)),
        configuration(contents.loaded.configuration == nullptr
                          ? ""
                          : contents.loaded.configuration->configuration.json),
        chunks(contents.loaded.input, contents.workloads, state_name, configuration) {}

  const StateStore::Contents contents;
  const std::string state_name;
  const std::string configuration;
  StateChunks chunks;
  std::size_t held = 0;  // entries that were sent
};

// Sends the next of what holds use, before the chunks. Returns false when all of it was sent.
bool SendHeld(SentState& sent, v1::ReadStateResponse& response) {
  constexpr std::size_t kEntries = 2000;
  const std::vector<FlavorLeafUsage>& held = sent.contents.held;
  if (sent.held == held.size()) return false;
  const std::size_t end = std::min(sent.held + kEntries, held.size());
  StringTable strings(response.mutable_chunk()->mutable_strings());
  for (; sent.held < end; ++sent.held) Fill(held[sent.held], strings, *response.add_held_usage());
  return true;
}

grpc::Status Summarize(const NamedStates& states, const v1::GetStateSummaryRequest& request,
                       WorkBudget& budget, v1::GetStateSummaryResponse& response) {
  const auto store = states.Find(request.state_name());
  if (!store) return ToStatus(store.error());
  const auto current = (*store)->CurrentChecked(budget);
  if (!current) return ToStatus(current.error());
  const PublishedState& snapshot = *current->snapshot;
  *response.mutable_state() = ToProto(snapshot.position);
  response.set_checksum(current->checksum);
  response.set_nodes(snapshot.nodes);
  if (snapshot.configuration != nullptr) {
    const std::string& json = snapshot.configuration->configuration.json;
    if (!budget.Charge(std::ssize(json)) || !budget.ChargeAnswer(std::ssize(json))) {
      return ToStatus(budget.Check().error());
    }
    response.set_kueue_configuration(json);
  }
  response.set_workloads(static_cast<std::int64_t>(snapshot.admitted->size()));
  response.set_holds(snapshot.holds);
  for (const std::string_view name : snapshot.state.FlavorNames()) {
    const FlavorSnapshot& flavor = snapshot.state.Find(name)->snapshot();
    v1::FlavorSummary& summary = *response.add_flavors();
    summary.set_name(std::string(name));
    const TreeView tree = flavor.tree();
    for (std::int32_t level = 0; level < tree.level_count; ++level) {
      summary.add_levels(flavor.levels()[level]);
      summary.add_domain_counts(level == tree.lowest()
                                    ? flavor.occupied_leaf_count()
                                    : tree.LevelEnd(level) - tree.LevelBegin(level));
    }
    summary.set_nodes(flavor.node_count());
    for (const std::string& resource : flavor.resources()) {
      if (!budget.Charge(kBytesOfRow + static_cast<std::int64_t>(resource.size())) ||
          !budget.ChargeAnswer(static_cast<std::int64_t>(resource.size()))) {
        return ToStatus(budget.Check().error());
      }
      summary.add_resources(resource);
    }
    if (!budget.Charge(kBytesOfRow) || !budget.MayContinue())
      return ToStatus(budget.Check().error());
  }
  return grpc::Status::OK;
}

grpc::Status ListLeaves(const NamedStates& states, const v1::ListLeavesRequest& request,
                        WorkBudget& budget, v1::ListLeavesResponse& response) {
  FoundState found;
  if (const grpc::Status status = FindState(states, request, found); !status.ok()) return status;
  if (request.limit() > kMaxLeaves) {
    return {grpc::StatusCode::INVALID_ARGUMENT,
            fmt::format("limit: is {}; at most {} leaves can be listed at once", request.limit(),
                        kMaxLeaves)};
  }
  const FlavorState* state = found.snapshot->state.Find(request.flavor());
  if (!state) {
    return {grpc::StatusCode::NOT_FOUND,
            fmt::format("flavor: there is no flavor \"{}\" with a topology",
                        Excerpt(request.flavor()))};
  }
  const FlavorSnapshot& flavor = state->snapshot();
  const auto total = static_cast<std::uint32_t>(flavor.occupied_leaf_count());
  const std::uint32_t first = std::min(request.first(), total);
  const std::uint32_t limit = request.limit() == 0 ? kDefaultLeaves : request.limit();
  *response.mutable_state() = ToProto(found.position());
  response.mutable_levels()->Add(flavor.levels().begin(), flavor.levels().end());
  response.set_total(total);
  const std::uint32_t end = first + std::min(limit, total - first);
  for (auto leaf = static_cast<std::int32_t>(first); leaf < flavor.leaf_count(); ++leaf) {
    const LeafId id(leaf);
    const auto index = static_cast<std::uint32_t>(flavor.IndexOf(id));
    if (index < first || flavor.leaf_nodes().IsVacant(id)) continue;
    if (index >= end) break;
    for (std::string& value : flavor.Path(flavor.LeafDomain(id))) {
      if (!budget.Charge(kBytesOfRow + static_cast<std::int64_t>(value.size()))) {
        return ToStatus(budget.Check().error());
      }
      response.add_values(std::move(value));
    }
  }
  return grpc::Status::OK;
}

grpc::Status ListStates(const NamedStates& states, WorkBudget& budget,
                        v1::ListStatesResponse& response) {
  for (const auto& [name, store] : states.All()) {
    if (!budget.Charge(kBytesOfRow + static_cast<std::int64_t>(name.size()))) {
      return ToStatus(budget.Check().error());
    }
    const auto snapshot = store->Current();
    v1::NamedState& state = *response.add_states();
    state.set_state_name(name);
    *state.mutable_state() = ToProto(snapshot->position);
    state.set_nodes(snapshot->nodes);
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
    // A chunk is ten thousands of small messages, which an arena takes and frees in one go.
    google::protobuf::Arena arena;
    auto& message = *google::protobuf::Arena::CreateMessage<v1::LoadStateRequest>(&arena);
    budget().Charge(static_cast<std::int64_t>(bytes_.Length()));
    if (const auto parsed = Parse(bytes_, budget(), message); !parsed) {
      return ToStatus({parsed.error().error_class,
                       fmt::format("chunk[{}]: {}", chunk, parsed.error().message)});
    }
    const std::int64_t message_bytes = budget().charged() - before;
    if (const auto named = TakeName(message.state_name(), chunk); !named) {
      return ToStatus(named.error());
    }
    if (chunk > 0 && !message.kueue_configuration().empty()) {
      return ToStatus({ErrorClass::kBadInput,
                       fmt::format("chunk[{}]: kueue_configuration: is not in the first chunk; "
                                   "nothing or the first chunk expected",
                                   chunk)});
    }
    if (chunk == 0) kueue_configuration_ = message.kueue_configuration();
    const auto taken = AppendChunk(message, chunk, budget(), input_, workloads_);
    if (!taken) return ToStatus(taken.error());
    if (message.has_end()) end_ = message.end();
    bytes_.Clear();
    budget().Release(message_bytes);
    service_.calls_.NoteFreed(message_bytes);
    return grpc::Status::OK;
  }

  // Refuses a state that may not be loaded before it is sent.
  Result<void> TakeName(const std::string& name, std::int64_t chunk) {
    if (chunk == 0) {
      name_ = name;
      return service_.states_.CheckLoad(name);
    }
    if (name.empty() || name == name_) return {};
    return BadInput(
        fmt::format("chunk[{}]: state_name: is \"{}\", but \"{}\" in the first chunk; a load is of "
                    "one state",
                    chunk, Excerpt(name), Excerpt(name_)));
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
          std::tuple("tas_usage", end_->tas_usage(), input_.tas_usage.size()),
          std::tuple("workloads", end_->workloads(), workloads_.size())}) {
      if (sent == static_cast<std::int64_t>(came)) continue;
      return ToStatus({ErrorClass::kBadInput,
                       fmt::format("end.{}: is {}, but {} came in {} chunks; load the state anew",
                                   field, sent, came, chunks_)});
    }
    const auto configuration =
        ReadConfiguration(kueue_configuration_, service_.feature_gates_, budget());
    if (!configuration) return ToStatus(configuration.error());
    std::vector<LostHold> dropped;
    const auto loaded = service_.states_.Load(name_, std::move(input_), budget(),
                                              std::move(workloads_), *configuration, &dropped);
    if (!loaded) return ToStatus(loaded.error());
    v1::LoadStateResponse response;
    for (const LostHold& hold : dropped) *response.add_dropped_holds() = ToProto(hold);
    AddWarnings(*configuration, response);
    *response.mutable_state() = ToProto(*loaded);
    response_ = ToBytes(response);
    service_.on_change_();
    return grpc::Status::OK;
  }

  ClusterStateService& service_;
  grpc::ByteBuffer& response_;
  grpc::ByteBuffer bytes_;
  std::int64_t chunks_ = 0;
  std::string name_;
  std::string kueue_configuration_;
  std::optional<v1::LoadStateEnd> end_;
  ClusterStateInput input_;
  std::vector<AdmittedUsage> workloads_;
  std::atomic<bool> ended_ = false;
};

ClusterStateService::ClusterStateService(Calls& calls, NamedStates& states,
                                         std::string feature_gates, std::function<void()> on_change)
    : calls_(calls),
      states_(states),
      feature_gates_(std::move(feature_gates)),
      on_change_(std::move(on_change)) {}

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
        return espalier::UpdateState(states_, feature_gates_, message, budget, answer);
      });
}

grpc::ServerUnaryReactor* ClusterStateService::GetStateSummary(grpc::CallbackServerContext* context,
                                                               const grpc::ByteBuffer* request,
                                                               grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::GetStateSummaryRequest, v1::GetStateSummaryResponse>(
      context, calls_.state_queue(), request, response,
      [this](const v1::GetStateSummaryRequest& message, WorkBudget& budget,
             v1::GetStateSummaryResponse& answer) {
        return Summarize(states_, message, budget, answer);
      });
}

grpc::ServerUnaryReactor* ClusterStateService::ListLeaves(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request,
                                                          grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::ListLeavesRequest, v1::ListLeavesResponse>(
      context, calls_.state_queue(), request, response,
      [this](const v1::ListLeavesRequest& message, WorkBudget& budget,
             v1::ListLeavesResponse& answer) {
        return espalier::ListLeaves(states_, message, budget, answer);
      });
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* ClusterStateService::ReadState(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return calls_.StreamParsed<v1::ReadStateRequest, v1::ReadStateResponse>(
      context, calls_.state_queue(), request,
      [this](const v1::ReadStateRequest& message, WorkBudget& budget,
             Calls::NextMessage<v1::ReadStateResponse>& next) {
        const auto store = states_.Find(message.state_name());
        if (!store) return ToStatus(store.error());
        auto contents = (*store)->ContentsAt(PositionOf(message), budget);
        if (!contents) return StatusWithPosition(contents.error(), **store);
        auto sent = std::make_shared<SentState>(*std::move(contents), message.state_name());
        next = [sent](v1::ReadStateResponse& response, bool& more) {
          *response.mutable_state() = ToProto(sent->contents.loaded.position);
          more = SendHeld(*sent, response) || sent->chunks.Next(*response.mutable_chunk());
          return grpc::Status::OK;
        };
        return grpc::Status::OK;
      });
}

grpc::ServerUnaryReactor* ClusterStateService::ListStates(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request,
                                                          grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::ListStatesRequest, v1::ListStatesResponse>(
      context, calls_.state_queue(), request, response,
      [this](const v1::ListStatesRequest&, WorkBudget& budget, v1::ListStatesResponse& answer) {
        return espalier::ListStates(states_, budget, answer);
      });
}

grpc::ServerUnaryReactor* ClusterStateService::UnloadState(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request,
                                                           grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::UnloadStateRequest, v1::UnloadStateResponse>(
      context, calls_.state_queue(), request, response,
      [this](const v1::UnloadStateRequest& message, WorkBudget&, v1::UnloadStateResponse&) {
        const auto unloaded = states_.Unload(message.state_name());
        if (!unloaded) return ToStatus(unloaded.error());
        on_change_();
        return grpc::Status::OK;
      });
}

}  // namespace espalier
