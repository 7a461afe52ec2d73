// espalier drain: which gangs does it hit when nodes are drained, and where would they go?
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/objects/workload_status.hpp"
#include "host/kueue/planning/drain.hpp"
#include "host/kueue/planning/exclusive_domains.hpp"
#include "host/model/excerpt.hpp"
#include "host/questions/drain_plan.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/question.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/reports/placement_report.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {
namespace {

struct DrainOptions {
  QuestionOptions question;
  std::string target;
};

constexpr const char* kDrainExamples = R"(Examples:
  Which gangs run in a rack, and where would they go if it were drained?
    espalier drain rack=block-2/r05 cluster.json.gz

  One node:
    espalier drain gpu-17 cluster.json.gz

  On the state of a server, which knows who is hit; the files say what those ask for:
    espalier drain rack=block-2/r05 cluster.json.gz --connect unix:/run/espalier/espalier.sock

  Those that would have no place:
    espalier drain rack=block-2/r05 cluster.json.gz -o json |
      jq -r '.workloads[] | select(.then.fits | not) | .workload'

Every gang with a pod there is taken away as a whole and placed anew, by priority, then age, each
taking its room from those after it. All others stay where they are. Nothing is changed anywhere.
Gangs are Kueue's admitted Workloads, and those of other descriptions whose pods run: of these all pods
that run need a place. Profile espalier holds them to every level that they ask for; in profile kueue
rows tell what is not honoured. Each is tried on the first flavor of its queue that matches; rows of
those without a place name the others, which are not tried.

Exit codes: 0 all of them have a place; 1 some have none, or without --best-effort one that is not as
they ask, or other pods require a topology; 2 wrong command line; 3 wrong input;
4 no GPU or memory, or output lost; 5 internal error.)";

// Returns whether all pods of a workload have a place.
bool HasPlace(const Move& move) {
  const auto& tree = move.answer.tree;
  return OutcomeOf(move.planned, move.answer) != Outcome::kNotPlaced &&
         !(tree && tree->status == NestedStatus::kPlacedInPart);
}

// Returns the flavors that its queue would try next for a workload without a place.
std::vector<std::string> NotTried(const Move& move) {
  std::vector<std::string> flavors;
  if (HasPlace(move)) return flavors;
  for (const WorkloadRequest& other : move.planned.others) flavors.push_back(FlavorsText(other));
  return flavors;
}

TableCell WhereTo(const Workload& workload, const Move& move, const NamesByFlavor& names) {
  if (!std::holds_alternative<WorkloadRequest>(move.planned.plan)) {
    return {ReasonOf(move.planned, move.answer), HasPlace(move) ? Color::kNone : Color::kBad};
  }
  TableCell cell = AnswerCell(move.answer, names);
  if (HasPlace(move)) {
    std::ranges::move(NotHonouredLines(workload), std::back_inserter(cell.lines));
  }
  for (const std::string& flavor : NotTried(move)) {
    cell.lines.push_back("not tried: " + Excerpt(flavor));
  }
  return cell;
}

// Returns what pods ask for that go without a place being looked for.
std::vector<std::string> NotHonouredOfOthers(const Cluster& cluster,
                                             const std::vector<std::size_t>& nodes) {
  const std::int64_t pods = OtherPodsOn(cluster, nodes).asking;
  if (pods == 0) return {};
  return {fmt::format("the topology that {} without a workload {} is not looked at",
                      CountWithNoun(pods, "other pod"), pods == 1 ? "requires" : "require")};
}

// Returns whether all workloads have a place, and one that they ask for, and other pods ask for
// none.
bool IsAllRight(const DrainOptions& options, const Cluster& cluster,
                const std::vector<std::size_t>& nodes, const std::vector<Move>& moves) {
  return IsAsAsked(NotHonouredOfOthers(cluster, nodes), options.question.input) &&
         std::ranges::all_of(moves, [&](const Move& move) {
           return HasPlace(move) &&
                  IsAsAsked(cluster.workloads[move.index], options.question.input);
         });
}

void PrintTable(const Question& question, const std::vector<std::size_t>& nodes,
                const std::vector<Move>& moves) {
  const Cluster& cluster = question.cluster;
  const NamesByFlavor names(cluster.flavors, cluster.topologies, cluster.nodes);
  std::vector<TableRow> rows;
  std::int64_t without_place = 0;
  for (const Move& move : moves) {
    const Workload& workload = cluster.workloads[move.index];
    without_place += static_cast<std::int64_t>(!HasPlace(move));
    rows.push_back({workload.key.ToString(), std::to_string(workload.priority),
                    fmt::format("{} of {}", move.pods_hit, move.pods),
                    WhereTo(workload, move, names)});
  }
  if (!rows.empty()) {
    WriteOutput(
        RenderTable({"WORKLOAD", "PRIORITY", "PODS THERE", "WOULD GO TO"}, rows, question.style) +
        "\n");
  }
  WriteOutput(fmt::format("{} drained; {} hit, {} without a place\n",
                          CountWithNoun(std::ssize(nodes), "node"),
                          CountWithNoun(std::ssize(moves), "admitted workload"), without_place));
  WriteOutput(OtherPodsLine(question, cluster, nodes));
  for (const std::string& line : NotHonouredOfOthers(cluster, nodes)) {
    WriteOutput("not as asked: " + line + "\n");
  }
}

std::vector<std::string> NamesOf(const Cluster& cluster, const std::vector<std::size_t>& nodes) {
  std::vector<std::string> names;
  for (const std::size_t node : nodes) names.push_back(cluster.nodes[node].name);
  return names;
}

void Write(const Question& question, const std::vector<std::size_t>& nodes,
           const std::vector<Move>& moves, ObjectWriter& out) {
  out.Field("nodes", NamesOf(question.cluster, nodes));
  WriteOtherPods(question.cluster, nodes, out);
  const std::vector<std::string> not_honoured = NotHonouredOfOthers(question.cluster, nodes);
  if (!not_honoured.empty()) out.Field("notHonoured", not_honoured);
  out.Key("workloads");
  out.BeginList();
  for (const Move& move : moves) {
    const Workload& workload = question.cluster.workloads[move.index];
    out.BeginMap();
    out.Field("workload", std::string_view(workload.key.ToString()));
    out.Field("priority", workload.priority);
    out.Field("podsThere", move.pods_hit);
    out.Field("pods", move.pods);
    if (std::holds_alternative<WorkloadRequest>(move.planned.plan)) {
      out.Key("then");
      WriteAnswer(move.answer, question.gates, out);
      WriteNotHonoured(workload, out);
      if (const std::vector<std::string> flavors = NotTried(move); !flavors.empty()) {
        out.Field("notTried", flavors);
      }
    } else {
      out.Field("reason", std::string_view(ReasonOf(move.planned, move.answer)));
    }
    out.EndMap();
  }
  out.EndList();
}

void NoteMoves(const std::vector<std::size_t>& drained, const std::vector<Move>& moves,
               Cluster& cluster) {
  std::vector<Node> nodes = cluster.nodes;
  for (const std::size_t node : drained) nodes[node].unschedulable = true;
  PodsWithoutNode without(cluster, nodes);
  std::vector<PlacedWorkload> placed;
  for (const Move& move : moves) {
    const auto* request = std::get_if<WorkloadRequest>(&move.planned.plan);
    if (request != nullptr) {
      NoteMove(without, *request, move.answer, cluster.workloads[move.index]);
      placed.push_back({move.index, &move.answer});
    }
  }
  NoteSharedDomains(placed, nodes, cluster);
}

ExitCode RunDrain(const DrainOptions& options) {
  Result<Question> question = ReadQuestion(options.question);
  if (!question) return ReportError(question.error());
  if (const auto checked = CheckNodes(*question); !checked) return ReportError(checked.error());
  const auto nodes = FindNodes(question->cluster, options.target);
  if (!nodes) return ReportError(nodes.error());
  const auto plan = PlanDrain(question->cluster, *nodes, *question->asked, question->gates);
  if (!plan) return ReportError(plan.error());
  NoteMoves(*nodes, *plan, question->cluster);
  if (options.question.output == "table") {
    PrintTable(*question, *nodes, *plan);
  } else {
    PrintObject(options.question.output,
                [&](ObjectWriter& out) { Write(*question, *nodes, *plan, out); });
  }
  return IsAllRight(options, question->cluster, *nodes, *plan) ? kExitOk : kExitNo;
}

}  // namespace

void AddDrainCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DrainOptions>();
  options->question.moves_gangs = true;
  CLI::App* drain = app.add_subcommand(
      "drain", "Which gangs a drain of nodes would hit, and where they would go");
  drain->footer(kDrainExamples);
  drain
      ->add_option("TARGET", options->target,
                   "A node, or all of a domain: LEVEL=VALUE as rack=r05 or rack=block-2/r05")
      ->required();
  AddQuestionOptions(*drain, options->question);
  AddBackendOptions(*drain, options->question.backend);
  AddConnectOptions(*drain, options->question);
  drain->callback([options, &exit_code] { exit_code = RunDrain(*options); });
}

}  // namespace espalier
