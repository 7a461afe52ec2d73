#include "service/server/questions_service.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/assignment_check.hpp"
#include "host/kueue/cluster_input.hpp"
#include "host/model/excerpt.hpp"
#include "service/server/asked_workloads.hpp"
#include "service/server/move_plans.hpp"
#include "service/server/question_input.hpp"
#include "service/server/replay_answers.hpp"
#include "service/server/store_status.hpp"
#include "service/server/victim_answers.hpp"
#include "service/server/what_if_answers.hpp"
#include "service/wire/questions.hpp"

namespace espalier {
namespace {

// As many as are counted at a time, as the counts of every node are held meanwhile.
constexpr std::size_t kShapesTogether = 32;

// How many more of one shape after the other.
struct Census {
  AskedWorkloads asked;
  std::optional<ClusterState> changed;  // absent: the state as it is
  std::set<std::string> levels;         // wanted; empty: all
  CensusDomains domains = CensusDomains::kNone;
  std::size_t next = 0;
  std::deque<GangCensus> counted;  // of the shapes from `next` on

  const ClusterState& state() const { return changed ? *changed : asked.state(); }

  Result<void> Read(const v1::CountGangsRequest& request) {
    levels.insert(request.levels().begin(), request.levels().end());
    if (request.domains()) domains = CensusDomains::kWithRoom;
    if (request.all_domains()) domains = CensusDomains::kAll;
    for (std::size_t i = 0; i < asked.workloads.size(); ++i) {
      if (auto sound = CheckShape(asked.workloads[i], i); !sound) return sound;
    }
    if (!asked.budget->Charge(BytesOfCounts())) return asked.budget->Check();
    if (request.drained_nodes().empty()) return {};
    StateStore& store = *asked.found.store;
    auto nodes = store.NodesAt(asked.found.position(),
                               {request.drained_nodes().begin(), request.drained_nodes().end()});
    if (!nodes) return tl::unexpected(nodes.error());
    for (Node& node : *nodes) node.unschedulable = true;
    auto drained = store.WithNodes(asked.found.position(), *std::move(nodes), *asked.budget);
    if (!drained) return tl::unexpected(drained.error());
    changed = *std::move(drained);
    return {};
  }

  Result<void> CheckShape(const WorkloadRequest& shape, std::size_t position) const {
    if (shape.pod_sets.size() != 1 || shape.pod_sets.front().count < 1) {
      return BadInput(fmt::format(
          "shapes: {} (position {}) has {}; want one pod set of 1 or more "
          "pods",
          Excerpt(shape.key.ToString()), position,
          shape.pod_sets.size() == 1 ? fmt::format("{} pods", shape.pod_sets.front().count)
                                     : fmt::format("{} pod sets", shape.pod_sets.size())));
    }
    const FlavorSnapshot& flavor = asked.state().Find(shape.pod_sets.front().flavor)->snapshot();
    for (const std::string& level : levels) {
      if (level.empty() || flavor.FindLevel(level) >= 0) continue;
      return BadInput(fmt::format("levels: flavor {} has no level {}; it has {}",
                                  Excerpt(shape.pod_sets.front().flavor), Excerpt(level),
                                  Excerpt(fmt::format("{}", fmt::join(flavor.levels(), ", ")))));
    }
    return {};
  }

  // Returns the bytes of the counts that are held at a time.
  std::int64_t BytesOfCounts() const {
    if (domains == CensusDomains::kNone) return 0;
    std::int64_t most = 0;
    for (const WorkloadRequest& shape : asked.workloads) {
      const FlavorState& flavor = *asked.state().Find(shape.pod_sets.front().flavor);
      most = std::max<std::int64_t>(most, flavor.snapshot().domain_count());
    }
    return most * static_cast<std::int64_t>(sizeof(StoredCount) *
                                            std::min(kShapesTogether, asked.workloads.size()));
  }

  Result<bool> Next(v1::CountGangsResponse& response) {
    *response.mutable_state() = ToProto(asked.found.position());
    if (next == asked.workloads.size()) return false;
    if (counted.empty()) CountSome();
    const PodSetRequest& shape = asked.workloads[next].pod_sets.front();
    response.set_shape(static_cast<std::uint32_t>(next));
    const auto written = Write(counted.front(), state().Find(shape.flavor)->snapshot(), levels,
                               domains, *asked.budget, response);
    if (!written) return tl::unexpected(written.error());
    counted.pop_front();
    return ++next < asked.workloads.size();
  }

  void CountSome() {
    std::vector<PodSetRequest> gangs;
    const std::size_t end = std::min(next + kShapesTogether, asked.workloads.size());
    for (std::size_t i = next; i < end; ++i) gangs.push_back(asked.workloads[i].pod_sets.front());
    const auto detail =
        domains == CensusDomains::kNone ? CensusDetail::kLevels : CensusDetail::kDomains;
    std::ranges::move(espalier::CountGangs(state(), gangs, detail, asked.gates, *asked.backend),
                      std::back_inserter(counted));
  }
};

// Why not, for one workload after the other.
struct Explanations {
  AskedWorkloads asked;
  ClusterStateInput input;
  std::vector<RunningWorkload> running;
  std::size_t next = 0;

  Result<bool> Next(v1::ExplainResponse& response) {
    *response.mutable_state() = ToProto(asked.found.position());
    if (next == asked.workloads.size()) return false;
    const WorkloadRequest& request = asked.workloads[next];
    const AdmittedWorkloads& admitted = *asked.found.snapshot->admitted;
    const ObjectKey own_job = admitted.JobOf(request.key);
    std::vector<RunningWorkload> others;
    std::ranges::copy_if(running, std::back_inserter(others), [&](const RunningWorkload& workload) {
      return admitted.JobOf(workload.key) != own_job;
    });
    const auto found = espalier::Explain(asked.state(), input, others, request, asked.MakeEngine());
    if (!found) return tl::unexpected(found.error());
    response.set_workload(static_cast<std::uint32_t>(next));
    Write(*found, response);
    if (auto written = asked.WriteAnswer(next, found->answer, *response.mutable_answers());
        !written) {
      return tl::unexpected(written.error());
    }
    if (!found->fits) {
      if (auto written = asked.WriteAnswer(next, found->empty, *response.mutable_empty());
          !written) {
        return tl::unexpected(written.error());
      }
    }
    return ++next < asked.workloads.size();
  }
};

// Returns what makes one message after the other of a stream about a state of `store`.
template <class Answers>
auto NextOf(std::shared_ptr<Answers> answers, std::shared_ptr<const StateStore> store) {
  return [answers = std::move(answers), store = std::move(store)](auto& response, bool& more) {
    const Result<bool> made = answers->Next(response);
    if (!made) return StoreStatus(made.error(), *store);
    more = *made;
    return grpc::Status::OK;
  };
}

// Workloads beside the flavors and topologies of a state.
Cluster ClusterOf(const ClusterState& state, std::vector<Workload> workloads) {
  Cluster cluster;
  cluster.workloads = std::move(workloads);
  std::set<std::string> topologies;
  for (const std::string_view name : state.FlavorNames()) {
    const FlavorSnapshot& flavor = state.Find(name)->snapshot();
    cluster.flavors.push_back(flavor.flavor());
    const std::string topology = flavor.flavor().topology_name.value_or("");
    if (topologies.insert(topology).second) {
      cluster.topologies.push_back({topology, flavor.levels()});
    }
  }
  return cluster;
}

grpc::Status CheckProposals(const v1::ValidateRequest& request, const NamedStates& states,
                            AskedWorkloads asked, v1::ValidateResponse& response) {
  const grpc::Status opened = OpenQuestion(request, states, {}, v1::DOMAIN_NAMING_NAME, asked);
  if (!opened.ok()) return opened;
  auto workloads = FromProto(request, *asked.budget);
  if (!workloads) return ToStatus(workloads.error());
  const Cluster cluster = ClusterOf(asked.state(), *std::move(workloads));
  const ClusterLookup lookup(cluster);
  Result<ClusterState> state = asked.state().Branch(*asked.budget);
  if (!state) return ToStatus(state.error());
  for (const Workload& workload : cluster.workloads) {
    const AdmittedUsage* known = asked.found.snapshot->admitted->Find(workload.key);
    if (known != nullptr) state->ChangeUsage(known->usage, -1, asked.shares_usage());
    state->ChangeUsage(TasUsage(workload, lookup), 1, asked.shares_usage());
    if (!asked.budget->Pause()) return ToStatus(asked.budget->Check().error());
  }
  *response.mutable_state() = ToProto(asked.found.position());
  Write(CheckAssignments(cluster, *state, asked.gates), response);
  return grpc::Status::OK;
}

}  // namespace

QuestionsService::QuestionsService(Calls& calls, NamedStates& states,
                                   std::shared_ptr<Backend> backend, FeatureGates gates)
    : calls_(calls), states_(states), backend_(std::move(backend)), gates_(gates) {}

QuestionsService::Stream* QuestionsService::WhatIf(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request) {
  return calls_.StreamParsed<v1::WhatIfRequest, v1::WhatIfResponse>(
      context, calls_.queue(), request,
      [this](const v1::WhatIfRequest& message, WorkBudget& budget,
             Calls::NextMessage<v1::WhatIfResponse>& next) {
        AskedWorkloads asked{.backend = backend_, .gates = gates_, .budget = &budget};
        const grpc::Status opened = OpenQuestion(message, states_, asked);
        if (!opened.ok()) return opened;
        const std::shared_ptr<StateStore> store = asked.found.store;
        auto answers = std::make_shared<WhatIfAnswers>(std::move(asked));
        if (const auto read = answers->Read(message); !read) {
          return StoreStatus(read.error(), *store);
        }
        next = NextOf(answers, store);
        return grpc::Status::OK;
      });
}

QuestionsService::Stream* QuestionsService::FindVictims(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) {
  return calls_.StreamParsed<v1::FindVictimsRequest, v1::FindVictimsResponse>(
      context, calls_.queue(), request,
      [this](const v1::FindVictimsRequest& message, WorkBudget& budget,
             Calls::NextMessage<v1::FindVictimsResponse>& next) {
        AskedWorkloads asked{.backend = backend_, .gates = gates_, .budget = &budget};
        const grpc::Status opened = OpenQuestion(message, states_, asked);
        if (!opened.ok()) return opened;
        const std::shared_ptr<StateStore> store = asked.found.store;
        auto answers = std::make_shared<VictimAnswers>(std::move(asked));
        if (const auto read = answers->Read(message); !read) {
          return StoreStatus(read.error(), *store);
        }
        next = NextOf(answers, store);
        return grpc::Status::OK;
      });
}

QuestionsService::Stream* QuestionsService::CountGangs(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request) {
  return calls_.StreamParsed<v1::CountGangsRequest, v1::CountGangsResponse>(
      context, calls_.queue(), request,
      [this](const v1::CountGangsRequest& message, WorkBudget& budget,
             Calls::NextMessage<v1::CountGangsResponse>& next) {
        auto census = std::make_shared<Census>();
        census->asked = {.backend = backend_, .gates = gates_, .budget = &budget};
        const grpc::Status opened =
            OpenQuestion(message, states_, message.shapes(), v1::DOMAIN_NAMING_NAME, census->asked);
        if (!opened.ok()) return opened;
        if (const auto read = census->Read(message); !read) {
          return StoreStatus(read.error(), *census->asked.found.store);
        }
        next = NextOf(census, census->asked.found.store);
        return grpc::Status::OK;
      });
}

QuestionsService::Stream* QuestionsService::Explain(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request) {
  return calls_.StreamParsed<v1::ExplainRequest, v1::ExplainResponse>(
      context, calls_.queue(), request,
      [this](const v1::ExplainRequest& message, WorkBudget& budget,
             Calls::NextMessage<v1::ExplainResponse>& next) {
        auto found = std::make_shared<Explanations>();
        found->asked = {.backend = backend_, .gates = gates_, .budget = &budget};
        const grpc::Status opened = OpenQuestion(message, states_, found->asked);
        if (!opened.ok()) return opened;
        const Snapshot& snapshot = *found->asked.found.snapshot;
        found->running = AllAdmitted(snapshot);
        if (message.has_victims()) {
          auto named = ReadVictims(message.victims(), snapshot, budget);
          if (!named) return ToStatus(named.error());
          found->running = *std::move(named);
        }
        const std::shared_ptr<StateStore> store = found->asked.found.store;
        auto loaded = store->LoadedAt(snapshot.position, budget);
        if (!loaded) return StoreStatus(loaded.error(), *store);
        found->input = std::move(loaded->input);
        next = NextOf(found, store);
        return grpc::Status::OK;
      });
}

grpc::ServerUnaryReactor* QuestionsService::Validate(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request,
                                                     grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::ValidateRequest, v1::ValidateResponse>(
      context, calls_.queue(), request, response,
      [this](const v1::ValidateRequest& message, WorkBudget& budget, v1::ValidateResponse& answer) {
        return CheckProposals(message, states_,
                              {.backend = backend_, .gates = gates_, .budget = &budget}, answer);
      });
}

grpc::ServerUnaryReactor* QuestionsService::Drain(grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::DrainRequest, v1::DrainResponse>(
      context, calls_.queue(), request, response,
      [this](const v1::DrainRequest& message, WorkBudget& budget, v1::DrainResponse& answer) {
        AskedWorkloads asked{.backend = backend_, .gates = gates_, .budget = &budget};
        const grpc::Status opened = OpenQuestion(message, states_, asked);
        return opened.ok() ? PlanDrain(message, asked, answer) : opened;
      });
}

grpc::ServerUnaryReactor* QuestionsService::Defragment(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request,
                                                       grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::DefragmentRequest, v1::DefragmentResponse>(
      context, calls_.queue(), request, response,
      [this](const v1::DefragmentRequest& message, WorkBudget& budget,
             v1::DefragmentResponse& answer) {
        AskedWorkloads asked{.backend = backend_, .gates = gates_, .budget = &budget};
        const grpc::Status opened = OpenQuestion(message, states_, asked);
        return opened.ok() ? PlanDefragment(message, asked, answer) : opened;
      });
}

QuestionsService::Stream* QuestionsService::Replay(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request) {
  return calls_.StreamParsed<v1::ReplayRequest, v1::ReplayResponse>(
      context, calls_.queue(), request,
      [this](const v1::ReplayRequest& message, WorkBudget& budget,
             Calls::NextMessage<v1::ReplayResponse>& next) {
        AskedWorkloads asked{.backend = backend_, .gates = gates_, .budget = &budget};
        const grpc::Status opened = OpenQuestion(message, states_, asked);
        if (!opened.ok()) return opened;
        const std::shared_ptr<StateStore> store = asked.found.store;
        auto answers = std::make_shared<ReplayAnswers>(std::move(asked));
        if (const auto read = answers->Read(message); !read) return ToStatus(read.error());
        next = NextOf(answers, store);
        return grpc::Status::OK;
      });
}

}  // namespace espalier
