#include "service/placing/planned_placement.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/cluster_lookup.hpp"
#include "host/nested/gang_tree.hpp"

namespace espalier {
namespace {

// The levels of the topology that a request's flavor has; none where there is no such flavor.
std::span<const std::string> LevelsOf(const WorkloadRequest& request, const ClusterLookup& lookup) {
  if (request.pod_sets.empty()) return {};
  const Topology* topology = lookup.TopologyOf(request.pod_sets.front().flavor);
  return topology == nullptr ? std::span<const std::string>() : topology->levels;
}

// Whether the nodes could hold what was not placed, were they empty.
Result<void> DecideVerdicts(const PlacementPlan& plan, const Nominate& nominate,
                            PlannedAnswers& planned) {
  std::vector<WorkloadRequest> failed;
  std::vector<WorkloadAnswer> why;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < planned.answers.size(); ++i) {
    if (planned.answers[i].FirstFailure() == nullptr) continue;
    failed.push_back(std::get<WorkloadRequest>(plan.workloads[i].plan));
    why.push_back(planned.answers[i]);
    which.push_back(i);
  }
  const auto verdicts = FlatVerdicts(failed, why, nominate);
  if (!verdicts) return tl::unexpected(verdicts.error());
  for (std::size_t i = 0; i < which.size(); ++i) planned.verdicts[which[i]] = (*verdicts)[i];
  return {};
}

}  // namespace

std::string ReasonOf(const WorkloadAnswer& answer) {
  std::vector<std::string> reasons;
  for (const PodSetAnswer& pod_set : answer.pod_sets) {
    if (!pod_set.failure) continue;
    reasons.push_back(fmt::format("couldn't assign flavors to pod set {}: {}", pod_set.name,
                                  pod_set.failure->reason));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

PlannedAnswers BeginPlanned(const ClusterRead& read, bool simulate_empty, PlacementPlan& plan) {
  PlannedAnswers begun;
  begun.answers.resize(plan.workloads.size());
  begun.trees.resize(plan.workloads.size());
  begun.verdicts.resize(plan.workloads.size());
  std::map<std::size_t, std::size_t> gangs;
  for (const TreeIndex& tree : read.trees) gangs.emplace(tree.unit, tree.workload);
  std::optional<ClusterLookup> lookup;  // made when there is a tree
  for (std::size_t i = 0; i < plan.workloads.size(); ++i) {
    PlannedWorkload& planned = plan.workloads[i];
    const auto gang = gangs.find(planned.index);
    const auto* request = std::get_if<WorkloadRequest>(&planned.plan);
    if (gang == gangs.end() || request == nullptr) continue;
    if (!lookup) lookup.emplace(read.cluster);
    Result<NestedRequest> tree =
        TreeOf(read.gang_workloads[gang->second], *request, LevelsOf(*request, *lookup));
    if (!tree) {
      planned.plan = RefusedWorkload{std::move(tree.error().message)};
      continue;
    }
    tree->simulate_empty = simulate_empty;
    begun.trees[i].emplace().request = *std::move(tree);
  }
  return begun;
}

Result<void> DecidePlanned(const PlacementPlan& plan, const DecideMixed& decide,
                           const Nominate& nominate, PlannedAnswers& planned) {
  std::vector<MixedRequest> requests;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < plan.workloads.size(); ++i) {
    const auto* request = std::get_if<WorkloadRequest>(&plan.workloads[i].plan);
    if (request == nullptr) continue;
    if (planned.trees[i]) {
      requests.emplace_back(planned.trees[i]->request);
    } else {
      requests.emplace_back(*request);
    }
    asked.push_back(i);
  }
  Result<std::vector<MixedAnswer>> answered = decide(std::move(requests));
  if (!answered) return tl::unexpected(answered.error());
  for (std::size_t i = 0; i < answered->size(); ++i) {
    if (auto* tree = std::get_if<NestedAnswer>(&(*answered)[i])) {
      planned.trees[asked[i]]->answer = std::move(*tree);
    } else {
      planned.answers[asked[i]] = std::get<WorkloadAnswer>(std::move((*answered)[i]));
    }
  }
  return DecideVerdicts(plan, nominate, planned);
}

}  // namespace espalier
