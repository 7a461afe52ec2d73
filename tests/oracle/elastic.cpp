// Section 16.
#include "tests/oracle/workload.hpp"

namespace espalier::oracle {
namespace {

std::int64_t PodsOf(const TopologyAssignment& assignment) {
  std::int64_t pods = 0;
  for (const TopologyDomainAssignment& domain : assignment.domains) pods += domain.count;
  return pods;
}

// --- R16.2 ---------------------------------------------------------------------------------------

bool IsStale(const Cluster& cluster, const TopologyAssignment& assignment) {
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    if (!cluster.FindLeaf(JoinWithComma(domain.values))) return true;
  }
  return false;
}

// --- R16.4 ---------------------------------------------------------------------------------------

bool ScaleUp(Evaluation& evaluation, const Group& group, const TopologyAssignment& previous) {
  const bool leader_stays = group.leader && group.leader->previous_assignment;
  evaluation.Assume(previous, group.workers.requests);
  if (leader_stays) {
    evaluation.Assume(*group.leader->previous_assignment, group.leader->requests);
  }

  PodSetRequest delta = group.workers;
  delta.count = static_cast<std::int32_t>(group.workers.count - PodsOf(previous));
  const auto placement = Place(evaluation.cluster, evaluation.input, delta,
                               leader_stays ? nullptr : group.Leader(), evaluation.Here());
  if (!placement) {
    evaluation.reasons[group.workers.name] = placement.error();
    return false;
  }

  evaluation.assignments[group.workers.name] =
      Merge(evaluation.cluster, placement->workers, previous);
  if (leader_stays) {
    evaluation.assignments[group.leader->name] = *group.leader->previous_assignment;
  } else if (group.leader) {
    evaluation.assignments[group.leader->name] = *placement->leader;
    evaluation.Assume(*placement->leader, group.leader->requests);
  }
  evaluation.Assume(placement->workers, group.workers.requests);
  return true;
}

// --- R16.5 ---------------------------------------------------------------------------------------

TopologyAssignment FirstPods(const TopologyAssignment& assignment, std::int64_t pods) {
  TopologyAssignment truncated{assignment.levels, {}};
  for (TopologyDomainAssignment domain : assignment.domains) {
    if (pods <= 0) break;
    if (domain.count > pods) domain.count = static_cast<std::int32_t>(pods);
    pods -= domain.count;
    truncated.domains.push_back(domain);
  }
  return truncated;
}

// --- R16.5, R16.6 --------------------------------------------------------------------------------

bool KeepPrevious(Evaluation& evaluation, const Group& group, const TopologyAssignment& workers) {
  if (group.leader && !group.leader->previous_assignment) {
    const std::string reason = std::string(kUndefined) + "leader without a previous assignment";
    evaluation.reasons[group.workers.name] = reason;
    evaluation.reasons[group.leader->name] = reason;
    return false;
  }
  evaluation.assignments[group.workers.name] = workers;
  evaluation.Assume(workers, group.workers.requests);
  if (group.leader) {
    evaluation.assignments[group.leader->name] = *group.leader->previous_assignment;
    evaluation.Assume(*group.leader->previous_assignment, group.leader->requests);
  }
  return true;
}

}  // namespace

// --- R16.1 to R16.6 ------------------------------------------------------------------------------

bool EvaluateElasticGroup(Evaluation& evaluation, const Group& group) {
  const TopologyAssignment& previous = *group.workers.previous_assignment;
  const bool leader_is_stale = group.leader && group.leader->previous_assignment &&
                               IsStale(evaluation.cluster, *group.leader->previous_assignment);
  if (IsStale(evaluation.cluster, previous) || leader_is_stale) {
    return EvaluateGroup(evaluation, group);
  }
  const std::int64_t pods = PodsOf(previous);
  if (group.workers.count > pods) return ScaleUp(evaluation, group, previous);
  if (group.workers.count == pods) return KeepPrevious(evaluation, group, previous);
  return KeepPrevious(evaluation, group, FirstPods(previous, group.workers.count));
}

// --- R16.7 ---------------------------------------------------------------------------------------

TopologyAssignment Merge(const Cluster& cluster, const TopologyAssignment& a,
                         const TopologyAssignment& b) {
  std::map<Path, TopologyDomainAssignment> by_path;
  for (const TopologyAssignment* assignment : {&a, &b}) {
    for (const TopologyDomainAssignment& domain : assignment->domains) {
      TopologyDomainAssignment& merged = by_path[*cluster.FindLeaf(JoinWithComma(domain.values))];
      merged.values = domain.values;
      merged.count += domain.count;
    }
  }
  TopologyAssignment result{a.levels, {}};
  for (const auto& [path, domain] : by_path) result.domains.push_back(domain);
  return result;
}

}  // namespace espalier::oracle
