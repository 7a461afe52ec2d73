// The table form of a placement report.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "host/model/by_name.hpp"
#include "service/cli/options/input.hpp"
#include "service/cli/reports/domain_text.hpp"
#include "service/cli/reports/placement_report.hpp"
#include "service/cli/reports/tree_text.hpp"
#include "service/cli/terminal/text_table.hpp"

namespace espalier {
namespace {

std::int64_t PodsOfSpec(const Workload& workload, const std::string& pod_set) {
  const auto found = std::ranges::find(workload.pod_sets, pod_set, &PodSet::name);
  return found == workload.pod_sets.end() ? 0 : found->count;
}

class Rows {
 public:
  Rows(const PlacementReport& report, Detail detail)
      : report_(report),
        detail_(detail),
        names_(report.state.flavors, report.state.topologies, report.state.nodes) {}

  void Add(std::size_t index) {
    const PlannedWorkload& planned = report_.workloads[index];
    const WorkloadAnswer& answer = report_.answers[index];
    const Workload& workload = report_.cluster.workloads[planned.index];
    if (const auto tree = report_.TreeAt(index)) return AddTree(index, workload, *tree);
    const auto* request = std::get_if<WorkloadRequest>(&planned.plan);
    if (request == nullptr) {
      if (workload.pod_sets.empty()) AddUnasked(planned, workload, {.name = "-"});
      for (const PodSet& pod_set : workload.pod_sets) AddUnasked(planned, workload, pod_set);
      return;
    }
    const PodSetAnswer* failed = answer.FirstFailure();
    const auto answers = ByName(answer.pod_sets);
    const std::vector<std::int64_t> lost = LostPodsOf(*request, answer);
    const std::vector<std::string> more = MoreLines(index);
    for (std::size_t p = 0; p < lost.size(); ++p) {
      const PodSetRequest& pod_set = request->pod_sets[p];
      AddAsked(planned, workload, pod_set, FindOrNull(answers, pod_set.name), failed, lost[p],
               more);
    }
  }

  std::string Render(const TextStyle& style) const {
    if (detail_ == Detail::kShort) {
      return RenderTable({"WORKLOAD", "POD SET", "PODS", "REQUESTED", "REACHED", "PLACEMENT"},
                         rows_, style);
    }
    return RenderTable({"WORKLOAD", "PRIORITY", "CLUSTER QUEUE", "FLAVOR", "POD SET", "PODS",
                        "REQUESTED", "REACHED", "PLACEMENT"},
                       rows_, style);
  }

 private:
  // Returns the lines below the reason, or below a place with fewer pods or on one of several
  // flavors.
  std::vector<std::string> MoreLines(std::size_t index) const {
    const PlannedWorkload& planned = report_.workloads[index];
    const auto* request = std::get_if<WorkloadRequest>(&planned.plan);
    const std::string flavors = planned.others.empty() ? "" : FlavorsText(*request);
    std::vector<std::string> lines;
    if (OutcomeOf(report_, index) == Outcome::kPlaced) {
      if (planned.admits_fewer) lines.emplace_back("with fewer pods, as its minimum allows");
      if (!flavors.empty()) lines.push_back("on " + flavors);
      return lines;
    }
    if (!flavors.empty()) lines.push_back("  that is on " + flavors);
    for (const std::string& reason : report_.OtherReasonsAt(index)) lines.push_back("  " + reason);
    const std::string verdict = VerdictText(report_.VerdictAt(index), flavors);
    if (!verdict.empty()) lines.push_back("  " + verdict);
    return lines;
  }

  void AddUnasked(const PlannedWorkload& planned, const Workload& workload, const PodSet& pod_set) {
    const bool refused = std::holds_alternative<RefusedWorkload>(planned.plan);
    const std::string reason = ReasonOf(planned, {});
    AddRow(planned, workload, "-", pod_set.name,
           pod_set.name == "-" ? "-" : std::to_string(pod_set.count),
           pod_set.topology_request ? RequestText(pod_set.topology_request, names_.OfFirst()) : "-",
           "-", refused ? TableCell("not placed: " + reason, Color::kBad) : TableCell(reason));
  }

  void AddTree(std::size_t index, const Workload& workload, const PlacedTree& tree) {
    const PlannedWorkload& planned = report_.workloads[index];
    const std::string& flavor = tree.request.flavor;
    std::vector<TreeRow> rows = TreeRows(tree, names_.Of(flavor), detail_, Limit());
    if (!planned.others.empty() && !rows.empty()) {
      for (std::string& line : MoreLines(index)) {
        rows.front().placement.lines.push_back(std::move(line));
      }
    }
    for (TreeRow& row : rows) {
      for (std::string& line : row.placement.lines) line += GuessText(planned);
      AddRow(planned, workload, flavor, std::move(row.group), std::move(row.pods),
             std::move(row.requested), std::move(row.reached), std::move(row.placement));
    }
  }

  std::size_t Limit() const {
    return detail_ == Detail::kShort ? kLinesPerPodSet : std::numeric_limits<std::size_t>::max();
  }

  void AddAsked(const PlannedWorkload& planned, const Workload& workload,
                const PodSetRequest& pod_set, const PodSetAnswer* answer,
                const PodSetAnswer* failed, std::int64_t lost,
                const std::vector<std::string>& more) {
    const TopologyNames& names = names_.Of(pod_set.flavor);
    std::string reached = "-";
    TableCell placement = "";
    if (answer != nullptr && answer->failure) {
      std::vector<std::string> lines = {"not placed: " + answer->failure->reason};
      lines.insert(lines.end(), more.begin(), more.end());
      placement = std::move(lines);
      placement.color = Color::kBad;
    } else if (failed != nullptr) {
      placement =
          TableCell(fmt::format("not placed: pod set {} does not fit", failed->name), Color::kBad);
    } else if (answer != nullptr && answer->assignment) {
      reached = ReachedLevel(*answer->assignment, names);
      placement = DomainLines(*answer->assignment, names, detail_, Limit());
      placement.lines.insert(placement.lines.end(), more.begin(), more.end());
      for (std::string& line : NotHonouredLines(workload)) {
        placement.lines.push_back(std::move(line));
        placement.color = Color::kBad;
      }
    }
    for (std::string& line : placement.lines) line += GuessText(planned);
    const std::int64_t asked =
        planned.admits_fewer ? PodsOfSpec(workload, pod_set.name) : pod_set.count;
    AddRow(planned, workload, pod_set.flavor, pod_set.name,
           lost == 0 && asked == pod_set.count
               ? std::to_string(pod_set.count)
               : fmt::format("{} of {}", pod_set.count - lost, asked),
           RequestText(pod_set.topology_request, names), reached, placement);
  }

  void AddRow(const PlannedWorkload& planned, const Workload& workload, std::string flavor,
              std::string pod_set, std::string pods, std::string requested, std::string reached,
              TableCell placement) {
    TableRow row = {workload.key.ToString()};
    if (detail_ == Detail::kFull) {
      row.push_back(std::to_string(workload.priority));
      row.push_back(planned.cluster_queue.empty() ? "-" : planned.cluster_queue);
      row.push_back(std::move(flavor));
    }
    row.insert(row.end(), {std::move(pod_set), std::move(pods), std::move(requested),
                           std::move(reached), std::move(placement)});
    rows_.push_back(std::move(row));
  }

  const PlacementReport& report_;
  Detail detail_;
  NamesByFlavor names_;
  std::vector<TableRow> rows_;
};

}  // namespace

std::string PlacementTable(const PlacementReport& report, Detail detail, const TextStyle& style) {
  if (report.workloads.empty()) return "No pending workloads.\n" + report.nodes + "\n";
  Rows rows(report, detail);
  for (std::size_t i = 0; i < report.workloads.size(); ++i) {
    rows.Add(i);
  }
  return rows.Render(style) + "\n" + report.nodes + "\n" + SummaryLine(CountOutcomes(report)) +
         "\n";
}

}  // namespace espalier
