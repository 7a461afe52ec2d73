#include "service/cli/reports/placement_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/objects/lost_pods.hpp"
#include "host/model/by_name.hpp"
#include "host/model/excerpt.hpp"

namespace espalier {

Outcome OutcomeOf(const PlannedWorkload& workload, const WorkloadAnswer& answer) {
  if (std::holds_alternative<NothingToPlace>(workload.plan)) return Outcome::kNothingToPlace;
  if (std::holds_alternative<RefusedWorkload>(workload.plan)) return Outcome::kNotPlaced;
  return Fits(answer) ? Outcome::kPlaced : Outcome::kNotPlaced;
}

std::string ReasonOf(const PlannedWorkload& workload, const WorkloadAnswer& answer) {
  if (const auto* refused = std::get_if<RefusedWorkload>(&workload.plan)) {
    return refused->reason + GuessText(workload);
  }
  if (const auto* nothing = std::get_if<NothingToPlace>(&workload.plan)) return nothing->reason;
  const std::string reason = ReasonOf(answer);
  return reason.empty() ? "" : reason + GuessText(workload);
}

std::optional<PlacedTree> PlacementReport::TreeAt(std::size_t workload) const {
  const auto& answer = answers[workload].tree;
  if (!answer) return std::nullopt;
  return PlacedTree{*std::get<WorkloadRequest>(workloads[workload].plan).tree, *answer};
}

std::optional<NestedStatus> PlacementReport::VerdictAt(std::size_t workload) const {
  return workload < verdicts.size() ? verdicts[workload] : std::nullopt;
}

Outcome OutcomeOf(const PlacementReport& report, std::size_t workload) {
  return OutcomeOf(report.workloads[workload], report.answers[workload]);
}

std::vector<std::string> PlacementReport::OtherReasonsAt(std::size_t workload) const {
  if (workload >= other_answers.size()) return {};
  return OtherReasons(workloads[workload], other_answers[workload]);
}

std::string ReasonOf(const PlacementReport& report, std::size_t workload) {
  std::string reason = ReasonOf(report.workloads[workload], report.answers[workload]);
  for (const std::string& other : report.OtherReasonsAt(workload)) reason += "; " + other;
  return reason;
}

std::string VerdictText(std::optional<NestedStatus> verdict, const std::string& flavors) {
  const std::string nodes = flavors.empty() ? "the nodes" : "the nodes of " + flavors;
  if (verdict == NestedStatus::kNotNow) {
    return fmt::format("not now: {} could hold it, were they empty", nodes);
  }
  if (verdict == NestedStatus::kNever) {
    return "never: the nodes could not hold it, were they all empty";
  }
  if (verdict == NestedStatus::kUndecided) {
    return fmt::format("undecided: whether {} could hold it, were they empty, is not known", nodes);
  }
  return "";
}

std::string GuessText(const PlannedWorkload& workload) {
  if (workload.guessed_flavor.empty()) return "";
  return fmt::format(" (flavor {} is a guess)", workload.guessed_flavor);
}

std::vector<std::int64_t> LostPodsOf(const WorkloadRequest& request, const WorkloadAnswer& answer) {
  std::vector<std::int64_t> lost(request.pod_sets.size());
  if (!Fits(answer)) return lost;
  const auto answers = ByName(answer.pod_sets);
  for (std::size_t p = 0; p < lost.size(); ++p) {
    const PodSetRequest& pod_set = request.pod_sets[p];
    const PodSetAnswer* placed = FindOrNull(answers, pod_set.name);
    if (placed != nullptr) lost[p] = LostPods(pod_set.count, placed->assignment);
  }
  return lost;
}

namespace {

// Names what of the pods binds them and is not looked at, once for each workload.
std::vector<std::string> IgnoredConstraints(const PlacementReport& report) {
  constexpr std::size_t kMostNotes = 20;
  std::vector<std::string> notes;
  std::size_t more = 0;
  for (const PlannedWorkload& planned : report.workloads) {
    const Workload& workload = report.cluster.workloads[planned.index];
    for (const PodSet& pod_set : workload.pod_sets) {
      const std::vector<std::string>& ignored = pod_set.pod_template.ignored_constraints;
      if (ignored.empty()) continue;
      if (notes.size() == kMostNotes) {
        ++more;
        continue;
      }
      notes.push_back(fmt::format("workload {}, pod set {}: not looked at, as in Kueue: {}",
                                  Excerpt(workload.key.ToString()), Excerpt(pod_set.name),
                                  fmt::join(ignored, ", ")));
    }
  }
  if (more > 0) notes.push_back(fmt::format("the same of {} more pod sets", more));
  return notes;
}

}  // namespace

std::vector<std::string> NotesOf(const PlacementReport& report) {
  std::vector<std::string> notes = IgnoredConstraints(report);
  for (std::size_t i = 0; i < report.workloads.size(); ++i) {
    const auto* request = std::get_if<WorkloadRequest>(&report.workloads[i].plan);
    if (request == nullptr || report.TreeAt(i)) continue;
    const std::vector<std::int64_t> lost = LostPodsOf(*request, report.answers[i]);
    for (std::size_t p = 0; p < lost.size(); ++p) {
      if (lost[p] == 0) continue;
      const PodSetRequest& pod_set = request->pod_sets[p];
      notes.push_back(LostPodsNote(request->key, pod_set.name, pod_set.count, lost[p],
                                   pod_set.topology_request));
    }
  }
  return notes;
}

bool LeavesBehind(const PlacedTree& tree) {
  const NestedGroup& root = tree.request.root;
  return !RequiresPods(root) ||
         std::ranges::any_of(tree.answer.groups, [&](const NestedGroupAnswer& group) {
           const NestedGroup* gang = GroupAt(root, group.path);
           return !IsPlaced(group.status) && group.path.find('/') == std::string::npos &&
                  gang != nullptr && gang->min_copies == 0;
         });
}

OutcomeCounts CountOutcomes(const PlacementReport& report) {
  OutcomeCounts counts;
  for (std::size_t i = 0; i < report.workloads.size(); ++i) {
    const PlannedWorkload& workload = report.workloads[i];
    if (!workload.guessed_flavor.empty()) ++counts.on_a_guess;
    switch (OutcomeOf(report, i)) {
      case Outcome::kPlaced:
        ++counts.placed;
        if (workload.admits_fewer) ++counts.with_fewer;
        if (!report.cluster.workloads[workload.index].not_honoured.empty()) ++counts.not_as_asked;
        if (const auto tree = report.TreeAt(i)) {
          if (tree->answer.status != NestedStatus::kPlacedInPart) break;
          ++counts.in_part;
          if (LeavesBehind(*tree)) ++counts.left_behind;
          break;
        }
        for (const std::int64_t lost :
             LostPodsOf(std::get<WorkloadRequest>(workload.plan), report.answers[i])) {
          counts.lost_pods += lost;
        }
        break;
      case Outcome::kNotPlaced:
        ++counts.not_placed;
        break;
      case Outcome::kNothingToPlace:
        ++counts.nothing_to_place;
        break;
    }
  }
  return counts;
}

std::string SummaryLine(const OutcomeCounts& counts) {
  std::string line = fmt::format("{} placed, {} not placed, {} with nothing to place",
                                 counts.placed, counts.not_placed, counts.nothing_to_place);
  if (counts.lost_pods > 0) {
    line += fmt::format("; {} pod{} of the placed without a place", counts.lost_pods,
                        counts.lost_pods == 1 ? "" : "s");
  }
  if (counts.in_part > 0) line += fmt::format("; {} of the placed in part", counts.in_part);
  if (counts.with_fewer > 0) {
    line += fmt::format("; {} of the placed with fewer pods", counts.with_fewer);
  }
  if (counts.not_as_asked > 0) {
    line += fmt::format("; {} of the placed not as asked", counts.not_as_asked);
  }
  if (counts.on_a_guess > 0) line += fmt::format("; {} on a guessed flavor", counts.on_a_guess);
  return line;
}

}  // namespace espalier
