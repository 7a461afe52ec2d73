// Section 15.
#include "tests/oracle/workload.hpp"

#include <utility>

namespace espalier::oracle {
namespace {

// --- R15.4 ---------------------------------------------------------------------------------------

std::vector<std::vector<PodSetRequest>> GroupMembers(const std::vector<PodSetRequest>& pod_sets) {
  std::vector<std::string> names;  // in order of first appearance
  std::map<std::string, std::vector<PodSetRequest>> members;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    const std::string name = pod_sets[i].group.value_or(std::to_string(i));
    if (!members.contains(name)) names.push_back(name);
    members[name].push_back(pod_sets[i]);
  }
  std::vector<std::vector<PodSetRequest>> groups;
  for (const std::string& name : names) groups.push_back(members[name]);
  return groups;
}

// --- R15.5, R16.1 --------------------------------------------------------------------------------

bool EvaluateMembers(Evaluation& evaluation, const std::vector<PodSetRequest>& members) {
  if (members.size() > 2) {
    for (const PodSetRequest& member : members) {
      evaluation.reasons[member.name] = std::string(kUndefined) + "group of more than two pod sets";
    }
    return false;
  }
  Group group{members.front(), std::nullopt};
  if (members.size() == 2) {
    group.leader = members.back();
    if (group.leader->count > group.workers.count) std::swap(group.workers, *group.leader);
  }
  const bool elastic = evaluation.input.gates.elastic_jobs_via_workload_slices_with_tas &&
                       group.workers.previous_assignment;
  return elastic ? EvaluateElasticGroup(evaluation, group) : EvaluateGroup(evaluation, group);
}

void EvaluateGroups(Evaluation& evaluation) {
  for (const auto& members : GroupMembers(evaluation.request.pod_sets)) {
    if (!EvaluateMembers(evaluation, members)) return;
  }
}

// --- R15.9 ---------------------------------------------------------------------------------------

void EvaluateReplacements(Evaluation& evaluation) {
  for (const PodSetRequest& pod_set : evaluation.request.pod_sets) {
    if (!EvaluateReplacement(evaluation, pod_set)) return;
  }
}

}  // namespace

// --- R5.8 ----------------------------------------------------------------------------------------

void Evaluation::Assume(const TopologyAssignment& assignment, const Resources& requests) {
  std::map<std::string, Vector> usage;  // a map, so the last of two equal entries stays
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    const Vector pods = Plus({}, ToVector(requests), domain.count);
    usage[JoinWithComma(domain.values)] = Plus(pods, {{std::string(kPodsResource), domain.count}});
  }
  for (const auto& [leaf, vector] : usage) assumed[leaf] = Plus(assumed[leaf], vector);
}

// --- R15.6 ---------------------------------------------------------------------------------------

bool EvaluateGroup(Evaluation& evaluation, const Group& group) {
  const auto placement =
      Place(evaluation.cluster, evaluation.input, group.workers, group.Leader(), evaluation.Here());
  if (!placement) {
    evaluation.reasons[group.workers.name] = placement.error();
    if (group.leader) evaluation.reasons[group.leader->name] = placement.error();
    return false;
  }
  evaluation.assignments[group.workers.name] = placement->workers;
  evaluation.Assume(placement->workers, group.workers.requests);
  if (group.leader) {
    evaluation.assignments[group.leader->name] = *placement->leader;
    evaluation.Assume(*placement->leader, group.leader->requests);
  }
  return true;
}

// --- R15.1 to R15.3, R15.8 -----------------------------------------------------------------------

WorkloadAnswer Answer(const OracleInput& input, const WorkloadRequest& request) {
  Evaluation evaluation{input, request, BuildCluster(input), {}, {}, {}};
  if (input.gates.handle_overlapping_flavors) {
    for (const LeafUsage& usage : request.assumed_usage) {
      Vector& assumed = evaluation.assumed[usage.leaf];
      assumed = Plus(assumed, ToVector(usage.usage));
    }
  }
  if (request.replacement && !request.replacement->unhealthy_nodes.empty()) {
    EvaluateReplacements(evaluation);
  } else {
    EvaluateGroups(evaluation);
  }

  WorkloadAnswer answer;
  for (const PodSetRequest& pod_set : request.pod_sets) {
    PodSetAnswer entry{pod_set.name, input.flavor.name, std::nullopt, std::nullopt};
    const auto assignment = evaluation.assignments.find(pod_set.name);
    const auto reason = evaluation.reasons.find(pod_set.name);
    if (assignment != evaluation.assignments.end()) entry.assignment = assignment->second;
    if (reason != evaluation.reasons.end()) {
      entry.failure = PlacementFailure{reason->second, std::nullopt};
    }
    if (entry.assignment || entry.failure) answer.pod_sets.push_back(entry);
  }
  return answer;
}

}  // namespace espalier::oracle
