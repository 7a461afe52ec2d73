#include "bench/scenarios/run_nested.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/scenarios/answer_checks.hpp"
#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/run_gangs.hpp"
#include "host/engine/assignments.hpp"
#include "host/nested/place_nested.hpp"

namespace espalier {
namespace {

// Every kReplicasTogether gangs of the mix are one workload; what is left at its end is none.
std::vector<NestedRequest> NestedRequestsOf(const LoadedScenario& loaded) {
  std::vector<NestedRequest> requests;
  const auto workloads = static_cast<std::int64_t>(loaded.mix.gangs.size()) / kReplicasTogether;
  for (std::int64_t w = 0; w < workloads; ++w) {
    const GangRow& gang = loaded.mix.gangs[static_cast<std::size_t>(w * kReplicasTogether)];
    const PodSetRequest& pods = loaded.mix.shapes[static_cast<std::size_t>(gang.shape)].workers;
    NestedGroup workers;
    workers.name = "workers";
    workers.pods = NestedPodSet{pods.requests, pods.pod_template, gang.pods, gang.pods};
    NestedGroup replica;
    replica.name = "replica";
    replica.copies = replica.min_copies = static_cast<std::int32_t>(kReplicasTogether);
    replica.required = pods.topology_request->required;
    replica.groups = {workers};
    NestedRequest& request = requests.emplace_back();
    request.key = {"bench", fmt::format("nested-{}", w)};
    request.flavor = loaded.flavor_name;
    request.root.name = "workload";
    request.root.required = BlockLevel(loaded.cluster);
    request.root.groups = {replica};
  }
  return requests;
}

// The replicas of all workloads as answers to the gangs they stand for.
GangAnswers ReplicasOf(const std::vector<NestedAnswer>& answers, const FlavorSnapshot& snapshot) {
  GangAnswers replicas;
  for (const NestedAnswer& answer : answers) {
    std::vector<const TopologyAssignment*> placed;
    for (const NestedGroupAnswer& group : answer.groups) {
      if (group.assignment) placed.push_back(&*group.assignment);
    }
    placed.resize(static_cast<std::size_t>(kReplicasTogether));
    for (const TopologyAssignment* assignment : placed) {
      replicas.status.push_back(assignment != nullptr ? PlacementStatus::kPlaced
                                                      : PlacementStatus::kDoesNotFit);
      replicas.level.push_back(0);
      if (assignment != nullptr) {
        std::ranges::copy(ToShares(*assignment, snapshot),
                          std::back_inserter(replicas.shares.Own()));
      }
      replicas.share_end.push_back(static_cast<std::uint32_t>(replicas.shares.size()));
    }
  }
  return replicas;
}

// Returns a digest of the first `count` replicas: whether each is placed, and where.
std::string DigestOfReplicas(const GangAnswers& replicas, std::size_t count) {
  Sha256 sha;
  std::size_t share = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sha.Add(static_cast<std::int64_t>(replicas.status[i]));
    for (; share < replicas.share_end[i]; ++share) {
      sha.Add(std::int64_t{replicas.shares[share].leaf.value});
      sha.Add(replicas.shares[share].pods);
    }
  }
  return sha.Hex();
}

// A workload whose replicas are not in one domain of the block's level.
std::vector<std::string> CheckBlocks(const LoadedScenario& loaded, const GangAnswers& replicas) {
  const FlavorSnapshot& snapshot = loaded.flavor().snapshot();
  const std::int32_t level = snapshot.FindLevel(BlockLevel(loaded.cluster));
  std::vector<std::string> problems;
  std::size_t share = 0;
  for (std::size_t end = kReplicasTogether; end <= replicas.status.size();
       end += kReplicasTogether) {
    std::optional<DomainId> block;
    for (; share < replicas.share_end[end - 1]; ++share) {
      const DomainId here = snapshot.Ancestor(replicas.shares[share].leaf, level);
      if (block && *block != here) {
        problems.push_back(
            fmt::format("workload {} is in two blocks", end / kReplicasTogether - 1));
        break;
      }
      block = here;
    }
    share = replicas.share_end[end - 1];
  }
  return problems;
}

}  // namespace

Result<void> RunNested(const LoadedScenario& loaded, const RunOptions& options,
                       ScenarioResult& result) {
  const std::unique_ptr<NestedRunner> runner = options.make_nested_runner();
  const std::vector<NestedRequest> requests = NestedRequestsOf(loaded);
  std::optional<ClusterState> state;
  std::vector<NestedAnswer> answers;
  result.stages = Repeat(options.repeat, [&](StageTimes& times) {
    state.emplace(loaded.state.Clone());
    times.Time("compute", [&] {
      answers = PlaceNested(*runner, *state, requests, PlacementMode::kSequential);
    });
  });
  result.least = CountingOnce(loaded);
  const GangAnswers replicas = ReplicasOf(answers, loaded.flavor().snapshot());
  const std::size_t asked = replicas.status.size();
  result.digest = DigestOfReplicas(replicas, asked);
  const auto placed = std::ranges::count_if(
      answers, [](const NestedAnswer& answer) { return IsPlaced(answer.status); });
  result.quality = {{"placed", placed}};
  if (!options.check) return {};
  auto problems = CheckAnswers({.before = loaded.flavor(),
                                .in_order = true,
                                .after = state->Find(loaded.flavor_name),
                                .shapes = loaded.mix.shapes,
                                .gangs = std::span(loaded.mix.gangs).first(asked),
                                .answers = replicas});
  std::ranges::move(CheckBlocks(loaded, replicas), std::back_inserter(problems));
  if (problems.empty()) result.checks.emplace_back("capacity, all or nothing and levels are kept");
  std::ranges::move(problems, std::back_inserter(result.problems));
  ComparePlainForm(
      options,
      [&](std::size_t gangs) {
        return DigestOfReplicas(replicas, std::min(asked, gangs - gangs % kReplicasTogether));
      },
      result);
  return {};
}

}  // namespace espalier
