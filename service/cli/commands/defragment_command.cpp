// espalier defragment: which gangs to move so that whole racks become free?
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/planning/admitted_gangs.hpp"
#include "host/kueue/planning/exclusive_domains.hpp"
#include "host/model/excerpt.hpp"
#include "host/what_if/defragment.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/question.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {
namespace {

struct DefragmentCommandOptions {
  QuestionOptions question;
  DefragmentOptions plan;
};

constexpr const char* kDefragmentExamples = R"(Examples:
  Which gangs would have to move so that racks become free for larger ones?
    espalier defragment --level rack cluster.json.gz

  With three moves at most:
    espalier defragment --level rack --most-moves 3 cluster.json.gz

  On the state of a server, which knows who runs where; the files say what those ask for:
    espalier defragment --level rack cluster.json.gz --connect unix:/run/espalier/espalier.sock

  The gangs to move, in order:
    espalier defragment --level rack cluster.json.gz -o json |
      jq -r '.freed[].moves[].workload'

The domains with the fewest gangs are emptied first: each of their gangs is taken away as a whole and
placed anew, by priority, then age, outside of it and of those that are free. A domain counts only when
all of its gangs have a place. Every step can be made as it stands, but another plan may free more.
Pods of no gang stay where they are; quota is not looked at. Nothing is changed anywhere.
Gangs are Kueue's admitted Workloads, and those of other descriptions whose pods run. Profile espalier
holds these to every level that they ask for; in profile kueue rows tell what is not honoured.

Exit codes: 0 some domain becomes free; 1 none does, some gang was left out as nothing says what it
asks for or the server does not know it by its name, or without --best-effort one moves to where it
is not as it asks; 2 wrong command line; 3 wrong input;
4 no GPU or memory, or output lost; 5 internal error.)";

// The label of a level that is named by it or by its short name; what is no level stays as it is.
std::string LevelKey(const Cluster& cluster, const std::string& level) {
  for (const Topology& topology : cluster.topologies) {
    const TopologyNames names(topology, {});
    for (const std::string& key : topology.levels) {
      if (key == level || names.LevelName(key) == level) return key;
    }
  }
  return level;
}

std::string PathText(const FreedDomain& freed) {
  return fmt::format("{}", fmt::join(freed.values, "/"));
}

// A plan about gangs of files.
struct Planned {
  std::vector<WorkloadRequest> gangs;
  std::map<ObjectKey, Workload*> workloads;  // that the gangs are
  DefragmentPlan plan;
  std::vector<std::size_t> unknown;  // gangs that the state does not know by key
};

std::vector<std::string> TextsOf(const std::vector<ObjectKey>& keys) {
  std::vector<std::string> texts;
  for (const ObjectKey& key : keys) texts.push_back(key.ToString());
  return texts;
}

std::vector<std::string> UnknownTexts(const Planned& planned) {
  std::vector<std::string> texts;
  for (const std::size_t gang : planned.unknown)
    texts.push_back(planned.gangs[gang].key.ToString());
  return texts;
}

void PrintTable(const Question& question, const std::string& level, const Planned& planned) {
  const Cluster& cluster = question.cluster;
  const DefragmentPlan& plan = planned.plan;
  const NamesByFlavor names(cluster.flavors, cluster.topologies, cluster.nodes);
  std::vector<TableRow> rows;
  for (const FreedDomain& freed : plan.freed) {
    for (const DefragmentMove& move : freed.moves) {
      const WorkloadRequest& gang = planned.gangs[move.gang];
      TableCell goes_to = AnswerCell(move.answer, names);
      std::ranges::move(NotHonouredLines(*planned.workloads.at(gang.key)),
                        std::back_inserter(goes_to.lines));
      rows.push_back({gang.key.ToString(), std::to_string(PodsOf(gang)),
                      &move == &freed.moves.front() ? PathText(freed) : "", std::move(goes_to)});
    }
  }
  for (const std::string& key : TextsOf(plan.staying)) {
    rows.push_back({key, "", "", {"stays: nothing says what it asks for", Color::kBad}});
  }
  for (const std::string& key : UnknownTexts(planned)) {
    rows.push_back({key, "", "", {"stays: the state does not know it by its name", Color::kBad}});
  }
  if (!rows.empty()) {
    WriteOutput(RenderTable({"MOVE", "PODS", "FREES", "GOES TO"}, rows, question.style) + "\n");
  }
  WriteOutput(fmt::format(
      "{} of {} of flavor {} free of gangs, {} after {}; {} not freed\n", plan.free_already,
      CountWithNoun(plan.domains, level), plan.flavor, plan.free_already + std::ssize(plan.freed),
      CountWithNoun(static_cast<std::int64_t>(plan.moves), "move"), plan.out_of_reach));
}

void Write(const Question& question, const Planned& planned, ObjectWriter& out) {
  const DefragmentPlan& plan = planned.plan;
  out.Field("flavor", std::string_view(plan.flavor));
  out.Field("domains", plan.domains);
  out.Field("freeAlready", plan.free_already);
  out.Field("notFreed", plan.out_of_reach);
  out.Key("freed");
  out.BeginList();
  for (const FreedDomain& freed : plan.freed) {
    out.BeginMap();
    out.Field("domain", freed.values);
    out.Key("moves");
    out.BeginList();
    for (const DefragmentMove& move : freed.moves) {
      const WorkloadRequest& gang = planned.gangs[move.gang];
      out.BeginMap();
      out.Field("workload", std::string_view(gang.key.ToString()));
      out.Field("pods", PodsOf(gang));
      out.Key("then");
      WriteAnswer(move.answer, question.gates, out);
      WriteNotHonoured(*planned.workloads.at(gang.key), out);
      out.EndMap();
    }
    out.EndList();
    out.EndMap();
  }
  out.EndList();
  out.Field("notDescribed", TextsOf(plan.staying));
  out.Field("notKnown", UnknownTexts(planned));
}

Result<Planned> Plan(Question& question, const DefragmentOptions& options) {
  auto gangs = AdmittedGangs(question.cluster, question.gates);
  if (!gangs) return tl::unexpected(gangs.error());
  std::map<ObjectKey, Workload*> workloads;
  for (Workload& workload : question.cluster.workloads) {
    workloads.emplace(workload.key, &workload);
  }
  std::vector<WorkloadRequest> requests;
  for (PlacedGang& gang : *gangs) {
    if (gang.request) requests.push_back(*std::move(gang.request));
  }
  auto found = question.asked->Defragment(requests, options);
  if (!found) return tl::unexpected(found.error());
  PodsWithoutNode without(question.cluster, question.cluster.nodes);
  std::vector<PlacedWorkload> placed;
  for (const FreedDomain& freed : found->plan.freed) {
    for (const DefragmentMove& move : freed.moves) {
      const WorkloadRequest& gang = requests[move.gang];
      Workload* workload = workloads.at(gang.key);
      NoteMove(without, gang, move.answer, *workload);
      const auto index = static_cast<std::size_t>(workload - question.cluster.workloads.data());
      placed.push_back({index, &move.answer});
    }
  }
  NoteSharedDomains(placed, question.cluster.nodes, question.cluster);
  return Planned{std::move(requests), std::move(workloads), std::move(found->plan),
                 std::move(found->unknown)};
}

bool MovesAreAsAsked(const Planned& planned, const InputOptions& input) {
  return std::ranges::all_of(planned.plan.freed, [&](const FreedDomain& freed) {
    return std::ranges::all_of(freed.moves, [&](const DefragmentMove& move) {
      return IsAsAsked(*planned.workloads.at(planned.gangs[move.gang].key), input);
    });
  });
}

ExitCode RunDefragment(const DefragmentCommandOptions& options) {
  Result<Question> question = ReadQuestion(options.question);
  if (!question) return ReportError(question.error());
  DefragmentOptions asked = options.plan;
  asked.level = LevelKey(question->cluster, asked.level);
  const auto planned = Plan(*question, asked);
  if (!planned) return ReportError(planned.error());
  if (options.question.output == "table") {
    PrintTable(*question, options.plan.level, *planned);
  } else {
    PrintObject(options.question.output,
                [&](ObjectWriter& out) { Write(*question, *planned, out); });
  }
  const bool all_known = planned->plan.staying.empty() && planned->unknown.empty();
  const bool as_asked = MovesAreAsAsked(*planned, options.question.input);
  return all_known && as_asked && !planned->plan.freed.empty() ? kExitOk : kExitNo;
}

}  // namespace

void AddDefragmentCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DefragmentCommandOptions>();
  options->question.moves_gangs = true;
  CLI::App* defragment =
      app.add_subcommand("defragment", "Which gangs to move so that whole domains become free");
  defragment->footer(kDefragmentExamples);
  defragment
      ->add_option("--level", options->plan.level,
                   "The level whose domains to free, by its label or short name: rack")
      ->required();
  defragment->add_option("--flavor", options->plan.flavor,
                         "Of this flavor; needed where several have the level");
  defragment->add_option("--most-moves", options->plan.most_moves, "Gangs to move at most")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  AddQuestionOptions(*defragment, options->question);
  AddBackendOptions(*defragment, options->question.backend);
  AddConnectOptions(*defragment, options->question);
  defragment->callback([options, &exit_code] { exit_code = RunDefragment(*options); });
}

}  // namespace espalier
