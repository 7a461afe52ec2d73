#include "service/cli/bench/bench_updates.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/run_gangs.hpp"
#include "host/engine/engine.hpp"
#include "host/live/indexed_input.hpp"
#include "host/model/splitmix64.hpp"
#include "host/packing/flavor_state.hpp"
#include "service/cli/bench/bench_server.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/cluster_state.hpp"

namespace espalier {
namespace {

constexpr std::size_t kPlacedInCycle = 500;

// A client that keeps the position of the state and the first error.
class Controller {
 public:
  explicit Controller(BenchServer& server) : server_(server) {
    v1::GetStateSummaryResponse summary;
    grpc::ClientContext context;
    Note(server_.cluster_state().GetStateSummary(&context, {}, &summary));
    position_ = summary.state();
  }

  Result<void> result() const { return result_; }

  // Asks for next to nothing: what any call takes.
  void ListStates() {
    v1::ListStatesResponse states;
    grpc::ClientContext context;
    Note(server_.cluster_state().ListStates(&context, {}, &states));
  }

  void Update(v1::UpdateStateRequest& update) {
    *update.mutable_base() = position_;
    v1::UpdateStateResponse response;
    grpc::ClientContext context;
    Note(server_.cluster_state().UpdateState(&context, update, &response));
    if (response.has_state()) position_ = response.state();
  }

  const v1::PlaceResponse& Place(v1::PlaceRequest& request) {
    *request.mutable_state() = position_;
    grpc::ClientContext context;
    Note(server_.placement().Place(&context, request, &placed_));
    if (placed_.has_committed()) position_ = placed_.committed();
    return placed_;
  }

 private:
  void Note(const grpc::Status& status) {
    if (status.ok() || !result_) return;
    result_ = tl::unexpected(Error{ErrorClass::kInternal, status.error_message()});
  }

  BenchServer& server_;
  v1::StatePosition position_;
  v1::PlaceResponse placed_;
  Result<void> result_;
};

// Changes of one kind, each taken back by the next.
class Changes {
 public:
  Changes(const ClusterStateInput& input, std::string kind)
      : followed_(input), kind_(std::move(kind)), random_(input.nodes.size()) {}

  v1::UpdateStateRequest Next() {
    StateDelta delta = taken_back_ ? Change() : std::move(undo_);
    taken_back_ = !taken_back_;
    v1::UpdateStateRequest message = ToProto(delta);
    auto undo = followed_.Apply(std::move(delta));
    if (undo) undo_ = *std::move(undo);  // changes that Change makes can be applied
    return message;
  }

  // Returns the state's input as the changes so far have made it.
  const ClusterStateInput& input() const { return followed_.input(); }

 private:
  const Node& AnyNode() {
    const auto& nodes = followed_.input().nodes;
    return nodes[static_cast<std::size_t>(random_.Below(static_cast<std::int64_t>(nodes.size())))];
  }

  StateDelta Change() {
    StateDelta delta;
    if (kind_ == "leaves" || kind_ == "queue" || kind_ == "leaf") {
      const std::size_t leaves = kind_ == "leaf" ? 1 : kLeavesOfUpdate;
      for (std::size_t i = 0; i < leaves; ++i) {
        const Node& node = AnyNode();
        Resources usage;
        for (const auto& [name, amount] : node.allocatable) usage.Set(name, amount / 8);
        delta.set_tas_usage.push_back({std::string(kBenchFlavor), node.name, std::move(usage)});
      }
      return delta;
    }
    Node node = AnyNode();
    if (kind_ == "remove") {
      delta.remove_nodes.push_back(node.name);
      return delta;
    }
    if (kind_ == "amounts") {
      for (const auto& [name, amount] : Resources(node.allocatable)) {
        node.allocatable.Set(name, amount / 2);
      }
    } else if (kind_ == "ready") {
      node.ready = !node.ready;
    } else if (kind_ == "taint") {
      node.taints.push_back({"maintenance", "", "NoSchedule"});
    } else {
      node.name += "-joins";
      node.labels.Set(kHostnameLabel, node.name);
    }
    delta.upsert_nodes.push_back(std::move(node));
    return delta;
  }

  IndexedInput followed_;
  std::string kind_;
  SplitMix64 random_;
  bool taken_back_ = true;
  StateDelta undo_;
};

// Returns whether a server's answers are those of the engine on a state that was built of the
// input.
Result<bool> AnswersAsBuilt(const v1::PlaceResponse& response, const ClusterStateInput& input,
                            const LoadedScenario& loaded,
                            const std::vector<WorkloadRequest>& requests,
                            const std::shared_ptr<Backend>& backend) {
  const auto built = ClusterState::Build(input);
  if (!built) return tl::unexpected(built.error());
  const auto answers = Engine(backend, loaded.mix.gates).Nominate(*built, requests);
  const auto batch =
      ToProto(requests, answers, LeavesOf(built->Find(loaded.flavor_name)->snapshot()));
  if (!batch) return tl::unexpected(batch.error());
  return batch->SerializeAsString() == response.answers().SerializeAsString();
}

// A server and the question that nominates all gangs.
struct AskedBesideUpdates {
  std::unique_ptr<BenchServer> server;
  std::vector<WorkloadRequest> requests;
  v1::PlaceRequest nominate;
};

Result<AskedBesideUpdates> Start(const LoadedScenario& loaded, const RunOptions& options) {
  AskedBesideUpdates asked;
  auto server = BenchServer::Start(loaded, options);
  if (!server) return tl::unexpected(server.error());
  asked.server = *std::move(server);
  asked.requests = RequestsOf(loaded.mix);
  auto nominate = NominateByNumber(asked.requests, loaded.mix.gates);
  if (!nominate) return tl::unexpected(nominate.error());
  asked.nominate = *std::move(nominate);
  return asked;
}

// Notes what the server answers at the end, and whether it is right.
Result<void> CheckAtTheEnd(Controller& controller, AskedBesideUpdates& asked,
                           const ClusterStateInput& input, const LoadedScenario& loaded,
                           const RunOptions& options, ScenarioResult& result) {
  const v1::PlaceResponse& response = controller.Place(asked.nominate);
  if (!controller.result()) return controller.result();
  Sha256 sha;
  sha.Add(response.answers().SerializeAsString());
  result.digest = sha.Hex();
  if (!options.check) return {};
  const auto right =
      AnswersAsBuilt(response, input, loaded, asked.requests, asked.server->backend());
  if (!right) return tl::unexpected(right.error());
  if (*right) {
    result.checks.emplace_back("the server's answers equal those on a state built anew");
  } else {
    result.problems.emplace_back("the server's answers differ from those on a state built anew");
  }
  return {};
}

}  // namespace

Result<void> RunUpdates(const LoadedScenario& loaded, const RunOptions& options,
                        ScenarioResult& result) {
  auto asked = Start(loaded, options);
  if (!asked) return tl::unexpected(asked.error());
  BenchServer& server = *asked->server;
  const std::vector<WorkloadRequest>& requests = asked->requests;
  auto gang = NominateByNumber({requests.front()}, loaded.mix.gates);
  if (!gang) return tl::unexpected(gang.error());
  if (result.scenario.variant == "load") {
    Result<void> load;
    result.floor_stage = "load";
    result.stages = Repeat(options.repeat, [&](StageTimes& times) {
      times.Time("load", [&] {
        if (auto done = server.remote().Load(server.input()); !done) load = done;
      });
    });
    if (!load) return load;
    Controller controller(server);
    return CheckAtTheEnd(controller, *asked, server.input(), loaded, options, result);
  }
  Controller controller(server);
  Changes changes(server.input(), result.scenario.variant);
  controller.Place(asked->nominate);
  const bool whole_queue = result.scenario.variant == "queue";
  const char* stage = whole_queue ? "queue" : "gang";
  v1::PlaceRequest& known = whole_queue ? asked->nominate : *gang;
  result.floor_stage = "update";
  result.stages = Repeat(options.repeat, [&](StageTimes& times) {
    v1::UpdateStateRequest update = changes.Next();
    times.Time("update", [&] { controller.Update(update); });
    times.Time(stage, [&] { controller.Place(known); });
    times.Time("undisturbed", [&] { controller.Place(known); });
    times.Time("empty", [&] { controller.ListStates(); });
  });
  if (!controller.result()) return controller.result();
  return CheckAtTheEnd(controller, *asked, changes.input(), loaded, options, result);
}

Result<void> RunControllerCycle(const LoadedScenario& loaded, const RunOptions& options,
                                ScenarioResult& result) {
  auto asked = Start(loaded, options);
  if (!asked) return tl::unexpected(asked.error());
  BenchServer& server = *asked->server;
  const std::vector<WorkloadRequest>& requests = asked->requests;
  auto place = NominateByNumber(
      {requests.begin(),
       requests.begin() + static_cast<std::ptrdiff_t>(std::min(kPlacedInCycle, requests.size()))},
      loaded.mix.gates);
  if (!place) return tl::unexpected(place.error());
  place->set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  place->set_commit(true);

  const FlavorSnapshot& snapshot = loaded.flavor().snapshot();
  std::unordered_map<std::string, const Resources*> usage_of;
  for (const FlavorLeafUsage& usage : server.input().tas_usage) {
    usage_of.emplace(usage.leaf, &usage.usage);
  }
  // Returns the usage of a leaf as it was before anything was booked.
  const auto usage_before = [&](std::int32_t leaf) {
    FlavorLeafUsage usage{loaded.flavor_name, snapshot.LeafIdText(LeafId(leaf)), {}};
    if (const auto known = usage_of.find(usage.leaf); known != usage_of.end()) {
      usage.usage = *known->second;
    }
    return usage;
  };
  Controller controller(server);
  v1::UpdateStateRequest update;
  v1::UpdateStateRequest rest;
  result.floor_stage = "cycle";
  result.stages = Repeat(options.repeat, [&](StageTimes& times) {
    controller.Update(rest);
    const double start = Now();
    times.Time("update", [&] { controller.Update(update); });
    times.Time("nominate", [&] { controller.Place(asked->nominate); });
    const v1::PlaceResponse* placed = nullptr;
    times.Time("commit", [&] { placed = &controller.Place(*place); });
    times.Add("cycle", Now() - start);
    std::vector<std::int32_t> leaves;
    for (const std::int32_t domain : placed->answers().domains()) {
      if (domain >= 0) leaves.push_back(domain);
    }
    std::ranges::sort(leaves);
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    StateDelta first;
    StateDelta others;
    for (const std::int32_t booked : leaves) {
      const bool is_first = first.set_tas_usage.size() < kLeavesOfUpdate;
      (is_first ? first : others).set_tas_usage.push_back(usage_before(booked));
    }
    update = ToProto(first);
    rest = ToProto(others);
  });
  controller.Update(update);
  controller.Update(rest);
  if (!controller.result()) return controller.result();
  return CheckAtTheEnd(controller, *asked, server.input(), loaded, options, result);
}

}  // namespace espalier
