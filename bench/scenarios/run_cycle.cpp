#include "bench/scenarios/run_cycle.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "bench/scenarios/answer_checks.hpp"
#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/queues.hpp"
#include "bench/scenarios/run_gangs.hpp"
#include "host/engine/assignments.hpp"
#include "host/kueue/cycle/scheduling_cycle.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

std::string DigestOf(const SchedulingCyclesResult& cycles) {
  Sha256 sha;
  for (const Decision& decision : cycles.decisions) {
    sha.Add(decision.cycle);
    sha.Add(decision.workload.name);
    sha.Add(ToString(decision.status));
    sha.Add(decision.reason);
    for (const PodSetAssignment& assignment : decision.assignments) {
      if (!assignment.topology_assignment) continue;
      for (const TopologyDomainAssignment& domain : assignment.topology_assignment->domains) {
        sha.Add(domain.values.back());
        sha.Add(std::int64_t{domain.count});
      }
    }
  }
  return sha.Hex();
}

// The gang a workload of QueuesOf stands for: its number is behind "gang-".
std::size_t GangOf(const Decision& decision) {
  std::size_t gang = 0;
  const std::string& name = decision.workload.name;
  std::from_chars(name.data() + sizeof("gang-") - 1, name.data() + name.size(), gang);
  return gang;
}

// Returns what was admitted, in order, as answers to the gangs it was admitted for.
std::vector<std::string> CheckAdmissions(const LoadedScenario& loaded,
                                         const SchedulingCyclesResult& cycles) {
  const FlavorSnapshot& snapshot = loaded.flavor().snapshot();
  std::vector<GangRow> gangs;
  GangAnswers answers;
  for (const Decision& decision : cycles.decisions) {
    if (decision.status != DecisionStatus::kAssumed) continue;
    gangs.push_back(loaded.mix.gangs[GangOf(decision)]);
    std::vector<LeafShare> shares;
    for (const PodSetAssignment& assignment : decision.assignments) {
      if (!assignment.topology_assignment) continue;
      std::vector<LeafShare> more = ToShares(*assignment.topology_assignment, snapshot);
      if (assignment.name == "leader") {
        for (LeafShare& share : more) {
          share.leaders = static_cast<std::int32_t>(std::exchange(share.pods, 0));
        }
      }
      shares = MergeShares(shares, more);
    }
    answers.status.push_back(PlacementStatus::kPlaced);
    answers.level.push_back(0);
    std::ranges::move(shares, std::back_inserter(answers.shares.Own()));
    answers.share_end.push_back(static_cast<std::uint32_t>(answers.shares.size()));
  }
  return CheckAnswers({.before = loaded.flavor(),
                       .in_order = true,
                       .after = nullptr,
                       .shapes = loaded.mix.shapes,
                       .gangs = gangs,
                       .answers = answers,
                       .pod_slots = false});
}

}  // namespace

Result<void> RunCycle(const LoadedScenario& loaded, std::shared_ptr<Backend> backend,
                      const RunOptions& options, ScenarioResult& result) {
  const Cluster queues = QueuesOf(loaded, result.scenario.queues);
  const Engine engine(std::move(backend), loaded.mix.gates);
  SchedulingCyclesResult cycles;
  result.stages = Repeat(options.repeat, [&](StageTimes& times) {
    Cluster cluster = queues;
    ClusterState state = loaded.state.Clone();
    times.Time("compute", [&] {
      cycles =
          RunSchedulingCycles(std::move(cluster), std::move(state), engine, {.until_stable = true});
    });
  });
  result.least = CountingOnce(loaded);
  result.digest = DigestOf(cycles);
  const auto admitted =
      std::ranges::count(cycles.decisions, DecisionStatus::kAssumed, &Decision::status);
  result.quality = {{"placed", admitted},
                    {"evaluations", static_cast<std::int64_t>(cycles.decisions.size())},
                    {"cycles", cycles.cycles}};
  if (!options.check) return {};
  auto problems = CheckAdmissions(loaded, cycles);
  if (problems.empty()) result.checks.emplace_back("capacity, all or nothing and levels are kept");
  std::ranges::move(problems, std::back_inserter(result.problems));
  // Cycles have no prefix: the other process is asked for all of them.
  if (options.plain_digest) {
    const Result<std::string> plain = options.plain_digest(result.scenario, options.gangs);
    if (!plain) {
      result.problems.push_back("the one-thread plain form: " + plain.error().message);
    } else if (*plain != result.digest) {
      result.problems.emplace_back("decisions differ from those of the one-thread plain form");
    } else {
      result.checks.emplace_back("decisions equal the one-thread plain form's");
    }
  }
  return {};
}

}  // namespace espalier
