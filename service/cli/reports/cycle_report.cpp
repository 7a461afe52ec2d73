#include "service/cli/reports/cycle_report.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/gangs/gang_counts.hpp"
#include "host/kueue/objects/lost_pods.hpp"
#include "host/kueue/objects/node_participation.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/by_name.hpp"
#include "service/cli/options/input.hpp"
#include "service/cli/reports/admission_writer.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/reports/domain_text.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/text_table.hpp"

namespace espalier {
namespace {

using WorkloadsByKey = std::map<ObjectKey, const Workload*>;

WorkloadsByKey ByKey(const Cluster& cluster) {
  WorkloadsByKey workloads;
  for (const Workload& workload : cluster.workloads) workloads.emplace(workload.key, &workload);
  return workloads;
}

std::string OutcomeText(const Decision& decision, const Workload& workload) {
  switch (decision.status) {
    case DecisionStatus::kAssumed:
      // Admission checks are still to come.
      return HasCondition(workload, kAdmitted) ? "admitted" : "quota reserved";
    case DecisionStatus::kNotAdmitted:
      return "requeued";
    case DecisionStatus::kReplaced:
      return "replaced";
    case DecisionStatus::kEvicted:
      return "evicted";
    case DecisionStatus::kKept:
      return "kept";
  }
  return "";
}

Color OutcomeColor(DecisionStatus status) {
  const bool bad = status == DecisionStatus::kNotAdmitted || status == DecisionStatus::kEvicted;
  return bad ? Color::kBad : Color::kGood;
}

// Returns lines that tell where the pods of one pod set go.
std::vector<std::string> PodSetLines(const PodSetAssignment& assignment,
                                     const NamesByFlavor& names) {
  std::vector<std::string> flavors;
  for (const auto& [resource, flavor] : assignment.flavors) {
    if (std::ranges::find(flavors, flavor) == flavors.end()) flavors.push_back(flavor);
  }
  if (!assignment.topology_assignment) {
    return {fmt::format("flavor {}", fmt::join(flavors, ", "))};
  }
  // At most one of them has a topology (R20.3).
  const auto with_topology = std::ranges::find_if(
      flavors, [&](const std::string& flavor) { return !names.Of(flavor).levels().empty(); });
  return DomainLines(*assignment.topology_assignment,
                     names.Of(with_topology == flavors.end() ? "" : *with_topology), Detail::kShort,
                     kLinesPerPodSet);
}

std::int64_t LostPodsOf(const PodSetAssignment& assignment) {
  return LostPods(assignment.count.value_or(0), assignment.topology_assignment);
}

// The pods that a workload waits for, by pod set: all of them where none needs another, else those
// that its gangs require, each replica being one.
std::vector<std::int64_t> PodsWaitedFor(const Workload& workload) {
  const GangWorkload& tree = *workload.tree;
  std::vector<std::int64_t> pods;
  if (std::ranges::all_of(tree.gang_groups,
                          [&](const GangGroup& gang) { return IsBestEffort(tree, gang); })) {
    for (const PodSet& pod_set : workload.pod_sets) pods.push_back(pod_set.count);
    return pods;
  }
  const std::int64_t copies = CopiesOfGang(tree);
  for (const GangGroup& gang : tree.gang_groups) {
    for (const PodCounts& counts : PodCountsOf(tree, gang)) {
      pods.push_back(copies * counts.required);
    }
  }
  return pods;
}

// Returns whether pods or gangs that need no others were left without a place.
bool LeavesPodsBehind(const Workload& workload) {
  if (workload.tree == nullptr || !workload.admission) return false;
  const std::vector<std::int64_t> wanted = PodsWaitedFor(workload);
  const auto assignments = ByName(workload.admission->pod_set_assignments);
  for (std::size_t i = 0; i < std::min(wanted.size(), workload.pod_sets.size()); ++i) {
    const PodSet& pod_set = workload.pod_sets[i];
    const PodSetAssignment* got = FindOrNull(assignments, pod_set.name);
    if (got != nullptr && got->count.value_or(pod_set.count) < wanted[i]) return true;
  }
  return false;
}

std::vector<std::string> PlaceLines(const Decision& decision, const Workload& workload,
                                    const NamesByFlavor& names) {
  std::vector<std::string> lines;
  const auto pod_sets = ByName(workload.pod_sets);
  for (const PodSetAssignment& assignment : decision.assignments) {
    const PodSet* pod_set = FindOrNull(pod_sets, assignment.name);
    std::string prefix = decision.assignments.size() > 1 ? assignment.name + ": " : "";
    const std::int64_t placed = assignment.count.value_or(0) - LostPodsOf(assignment);
    if (pod_set != nullptr && placed < pod_set->count) {
      prefix += fmt::format("{} of {} pods, ", placed, pod_set->count);
    }
    for (const std::string& line : PodSetLines(assignment, names)) {
      lines.push_back(prefix + line);
      prefix.assign(prefix.size(), ' ');
    }
  }
  std::ranges::move(NotHonouredLines(workload), std::back_inserter(lines));
  return lines;
}

// A place, why there is none, or both for one that is kept.
TableCell OutcomeCell(const Decision& decision, const Workload& workload,
                      const NamesByFlavor& names) {
  if (decision.status == DecisionStatus::kKept) {
    std::vector<std::string> lines = PlaceLines(decision, workload, names);
    lines.push_back(decision.reason);
    return lines;
  }
  if (!decision.reason.empty()) return decision.reason;
  return PlaceLines(decision, workload, names);
}

std::string SummaryLine(const SchedulingCyclesResult& result) {
  const CycleCounts counts = CountDecisions(result);
  std::string line =
      fmt::format("{} admitted, {} not admitted", counts.admitted, counts.not_admitted);
  if (counts.replaced > 0) line += fmt::format(", {} replaced", counts.replaced);
  if (counts.kept > 0) line += fmt::format(", {} kept", counts.kept);
  if (counts.evicted > 0) line += fmt::format(", {} evicted", counts.evicted);
  if (counts.not_evaluated > 0) line += fmt::format(", {} not evaluated", counts.not_evaluated);
  if (counts.lost_pods > 0) {
    line +=
        fmt::format(", {} of the admitted without a place", CountWithNoun(counts.lost_pods, "pod"));
  }
  if (counts.not_as_asked > 0) {
    line += fmt::format(", {} of the admitted not as asked", counts.not_as_asked);
  }
  if (counts.left_behind > 0) {
    line += fmt::format(", {} of the admitted in part", counts.left_behind);
  }
  return line + fmt::format(
                    " ({} in {})",
                    CountWithNoun(static_cast<std::int64_t>(result.decisions.size()), "evaluation"),
                    CountWithNoun(result.cycles, "cycle"));
}

// The members of a decision, without the braces.
void WriteDecision(const Decision& decision, const WorkloadsByKey& workloads, ObjectWriter& out) {
  out.Field("evaluation", decision.evaluation);
  out.Field("cycle", decision.cycle);
  out.Field("clusterQueue", std::string_view(decision.cluster_queue));
  out.Field("workload", std::string_view(decision.workload.ToString()));
  out.Field("status", ToString(decision.status));
  if (!decision.reason.empty()) out.Field("reason", std::string_view(decision.reason));
  const Workload& workload = *workloads.at(decision.workload);
  if (decision.status != DecisionStatus::kAssumed || workload.not_honoured.empty()) return;
  out.Field("notHonoured", workload.not_honoured);
}

}  // namespace

CycleCounts CountDecisions(const SchedulingCyclesResult& result) {
  std::map<DecisionStatus, std::set<ObjectKey>> seen;
  std::map<ObjectKey, DecisionStatus> last;
  std::map<ObjectKey, std::int64_t> lost_pods;
  for (const Decision& decision : result.decisions) {
    seen[decision.status].insert(decision.workload);
    last[decision.workload] = decision.status;
    std::int64_t& lost = lost_pods[decision.workload];
    if (decision.status != DecisionStatus::kNotAdmitted) lost = 0;
    for (const PodSetAssignment& assignment : decision.assignments) lost += LostPodsOf(assignment);
  }
  CycleCounts counts;
  counts.admitted = seen[DecisionStatus::kAssumed].size();
  counts.replaced = seen[DecisionStatus::kReplaced].size();
  counts.kept = seen[DecisionStatus::kKept].size();
  counts.evicted = seen[DecisionStatus::kEvicted].size();
  for (const auto& [workload, lost] : lost_pods) counts.lost_pods += lost;
  for (const auto& [workload, status] : last) {
    if (status == DecisionStatus::kNotAdmitted) ++counts.not_admitted;
  }
  for (const Workload& workload : result.cluster.workloads) {
    const auto it = last.find(workload.key);
    const bool admitted = it != last.end() && it->second == DecisionStatus::kAssumed;
    if (admitted && !workload.not_honoured.empty()) ++counts.not_as_asked;
    if (admitted && LeavesPodsBehind(workload)) ++counts.left_behind;
    const bool evaluated = it != last.end() && it->second != DecisionStatus::kEvicted;
    if (IsPending(workload) && !evaluated) ++counts.not_evaluated;
  }
  return counts;
}

std::string CycleTable(const SchedulingCyclesResult& result, const TextStyle& style) {
  const std::string nodes = NodeLines(result.cluster);
  if (result.decisions.empty()) return "No workloads to evaluate.\n" + nodes + "\n";
  const NamesByFlavor names(result.cluster.flavors, result.cluster.topologies,
                            result.cluster.nodes);
  const WorkloadsByKey workloads = ByKey(result.cluster);
  std::vector<TableRow> rows;
  for (const Decision& decision : result.decisions) {
    const Workload& workload = *workloads.at(decision.workload);
    rows.push_back({std::to_string(decision.cycle),
                    decision.cluster_queue,
                    decision.workload.ToString(),
                    {OutcomeText(decision, workload), OutcomeColor(decision.status)},
                    OutcomeCell(decision, workload, names)});
  }
  return RenderTable({"CYCLE", "CLUSTER QUEUE", "WORKLOAD", "OUTCOME", "PLACEMENT OR REASON"}, rows,
                     style) +
         "\n" + nodes + "\n" + SummaryLine(result) + "\n";
}

std::string CycleLines(const SchedulingCyclesResult& result) {
  const WorkloadsByKey workloads = ByKey(result.cluster);
  std::string lines;
  for (const Decision& decision : result.decisions) {
    const auto writer = MakeJsonLineWriter();
    writer->BeginMap();
    WriteDecision(decision, workloads, *writer);
    writer->EndMap();
    lines += writer->Finish();
  }
  return lines;
}

std::string CycleJson(const SchedulingCyclesResult& result, const FeatureGates& gates) {
  const WorkloadsByKey workloads = ByKey(result.cluster);
  const auto writer = MakeJsonWriter();
  writer->BeginMap();
  writer->Field("cycles", result.cycles);
  writer->Key("decisions");
  writer->BeginList();
  for (const Decision& decision : result.decisions) {
    writer->BeginMap();
    WriteDecision(decision, workloads, *writer);
    if (!decision.assignments.empty()) {
      writer->Key("admission");
      WriteAdmission({decision.cluster_queue, decision.assignments}, gates, *writer);
    }
    writer->EndMap();
  }
  writer->EndList();
  writer->EndMap();
  return writer->Finish();
}

std::vector<ReportedGang> CycleGangs(const SchedulingCyclesResult& result,
                                     std::span<const PlannedWorkload> planned,
                                     NearMissReader& misses) {
  const Cluster& cluster = result.cluster;
  const NamesByFlavor names(cluster.flavors, cluster.topologies, {});
  const WorkloadsByKey workloads = ByKey(cluster);
  std::map<std::string, const Decision*, std::less<>> last;
  for (const Decision& decision : result.decisions) last[decision.workload.ToString()] = &decision;
  const auto status_of = [&](const Decision& decision) {
    return fmt::format("{} in cycle {}", OutcomeText(decision, *workloads.at(decision.workload)),
                       decision.cycle);
  };
  std::vector<ReportedGang> gangs = RunningGangs(cluster);
  for (ReportedGang& gang : gangs) {
    const auto decision = last.find(gang.name);
    if (decision == last.end()) continue;
    gang.state = ReportedGang::State::kPlaced;
    gang.status = status_of(*decision->second);
  }
  for (const PlannedWorkload& waiting : planned) {
    const auto* request = std::get_if<WorkloadRequest>(&waiting.plan);
    ReportedGang& gang = gangs.emplace_back(
        WaitingGang(cluster.workloads[waiting.index], waiting.cluster_queue, request, names));
    const auto decision = last.find(gang.name);
    if (decision != last.end()) {
      gang.status = status_of(*decision->second);
      gang.reasons.push_back(decision->second->reason);
    } else {
      gang.reasons.emplace_back("no cycle has looked at it");
    }
    if (request != nullptr) misses.Read(*request, gang);
  }
  return gangs;
}

}  // namespace espalier
