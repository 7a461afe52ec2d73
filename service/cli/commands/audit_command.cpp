// espalier audit: what did another scheduler decide, and what would have been decided here?
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/objects/node_participation.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/by_name.hpp"
#include "host/questions/audit.hpp"
#include "host/readers/difference_log.hpp"
#include "service/backends/backends.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/question.hpp"
#include "service/cli/html_report/html_report.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/reports/placement_report.hpp"
#include "service/cli/reports/reported_gangs.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {
namespace {

struct AuditOptions {
  QuestionOptions question;  // its files are what both moments have
  std::string before;
  std::string after;
  std::string report;                    // file; empty: none
  std::vector<std::string> shadow_logs;  // files; empty: two moments are compared
};

constexpr const char* kAuditExamples = R"(Examples:
  What did the scheduler do since yesterday, and was it sound?
    espalier audit yesterday.json.gz today.json.gz

  With objects that both moments share in files of their own:
    espalier audit before.json.gz after.json.gz classes.yaml

  The choices that break something:
    espalier audit before.json.gz after.json.gz -o json |
      jq '.decided[] | select(.problems != [])'

  Decided on the state of a server instead, which knows what was free; the files say what was chosen:
    espalier audit before.json.gz after.json.gz --connect unix:/run/espalier/espalier.sock

  All of it on the cluster, in a browser:
    espalier audit before.json.gz after.json.gz --report audit.html

  What espalier-bridge found while Kueue decided, with a dump that says in which racks the hosts are:
    espalier audit cluster.json.gz --shadow-log differences.jsonl differences.jsonl.1.gz

Every workload that waited before and is admitted after is decided here again, in the order of the
quota reservations, on what was free at its turn, with the flavor and the number of pods that it got.
What ended in between counts as gone from the start. Quota is not looked at. What waits is decided on
the cluster after; with --connect on the server's state once all choices are booked.
With --shadow-log nothing is decided: each line of the log has what was decided on both sides. Lines
that are wrong are named and left out.

Exit codes: 0 every choice is sound, or nothing differs in a log; 1 some is not, or without
--best-effort not as it was asked, or something differs; 2 wrong command line; 3 wrong input; 4 no GPU
or memory, or output lost; 5 internal error.)";

std::size_t Sound(const Audit& audit) {
  return static_cast<std::size_t>(std::ranges::count_if(
      audit.decided, [](const AuditedWorkload& audited) { return audited.problems.empty(); }));
}

// Adds the rows of a decision on two sides.
void AddBothPlaces(const std::string& workload, const WorkloadAnswer& chosen,
                   const WorkloadAnswer& here, const NamesByFlavor& names,
                   std::vector<TableRow>& rows) {
  rows.push_back({workload, "is at", AnswerCell(chosen, names)});
  rows.push_back({workload, "here", AnswerCell(here, names)});
}

void WriteBothPlaces(const WorkloadAnswer& chosen, const WorkloadAnswer& here,
                     const FeatureGates& gates, ObjectWriter& out) {
  out.Key("chosen");
  WriteAnswer(chosen, gates, out);
  out.Key("here");
  WriteAnswer(here, gates, out);
}

void WriteRows(const std::vector<TableRow>& rows, const TextStyle& style) {
  if (rows.empty()) return;
  WriteOutput(RenderTable({"WORKLOAD", "WHAT", "WHERE OR WHY"}, rows, style) + "\n");
}

void PrintTable(const Cluster& after, const Audit& audit, const TextStyle& style) {
  const NamesByFlavor names(after.flavors, after.topologies, after.nodes);
  std::vector<TableRow> rows;
  std::size_t same = 0;
  for (const AuditedWorkload& audited : audit.decided) {
    same += static_cast<std::size_t>(audited.same);
    const std::string key = after.workloads[audited.index].key.ToString();
    if (!audited.problems.empty()) rows.push_back({key, "not sound", audited.problems});
    const auto& not_honoured = after.workloads[audited.index].not_honoured;
    if (!not_honoured.empty()) rows.push_back({key, "not as asked", not_honoured});
    if (audited.same) continue;
    AddBothPlaces(key, audited.chosen, audited.here, names, rows);
  }
  for (const std::size_t index : audit.waiting_but_fit) {
    rows.push_back({after.workloads[index].key.ToString(), "waits", "it would fit"});
  }
  WriteRows(rows, style);
  WriteOutput(fmt::format("{} decided: {} as here, {} otherwise; {} not sound; {} would fit\n",
                          CountWithNoun(std::ssize(audit.decided), "workload"), same,
                          audit.decided.size() - same, audit.decided.size() - Sound(audit),
                          CountWithNoun(std::ssize(audit.waiting_but_fit), "waiting workload")));
}

void Write(const Cluster& after, const Audit& audit, const FeatureGates& gates, ObjectWriter& out) {
  out.Key("decided");
  out.BeginList();
  for (const AuditedWorkload& audited : audit.decided) {
    out.BeginMap();
    out.Field("workload", std::string_view(after.workloads[audited.index].key.ToString()));
    out.Key("same");
    out.Flag(audited.same);
    out.Field("problems", audited.problems);
    WriteNotHonoured(after.workloads[audited.index], out);
    if (!audited.same) WriteBothPlaces(audited.chosen, audited.here, gates, out);
    out.EndMap();
  }
  out.EndList();
  std::vector<std::string> waiting;
  for (const std::size_t index : audit.waiting_but_fit) {
    waiting.push_back(after.workloads[index].key.ToString());
  }
  out.Field("waitingButFit", waiting);
}

// Tells what was decided, what is wrong with it and where it would have gone.
void TellDecided(const AuditedWorkload& audited, ReportedGang& gang) {
  gang.state = ReportedGang::State::kPlaced;
  gang.status = audited.same ? "as here" : "otherwise here";
  if (!audited.problems.empty()) gang.status = "not sound";
  gang.reasons = audited.problems;
  if (audited.same) return;
  if (const PodSetAnswer* failed = audited.here.FirstFailure()) {
    gang.reasons.push_back("here it would wait: " + failed->failure->reason);
    return;
  }
  const auto answers = ByName(audited.here.pod_sets);
  for (const ReportedPodSet& pod_set : gang.pod_sets) {
    const PodSetAnswer* here = FindOrNull(answers, pod_set.name);
    if (here != nullptr) gang.otherwise.emplace_back(pod_set).assignment = here->assignment;
  }
}

Result<void> WriteReport(const Question& question, const Audit& audit, const std::string& file) {
  const Cluster& after = question.cluster;
  Result<PlacementPlan> plan = PlanPlacement(after, {.gates = question.gates});
  if (!plan) return tl::unexpected(plan.error());
  auto input = question.asked->ReadInput();
  if (!input) return tl::unexpected(input.error());
  const Result<ClusterState> state = ClusterState::Build(*input);
  if (!state) return tl::unexpected(state.error());
  auto backend = question.backend;
  if (backend == nullptr) {  // what the page tells of a server's state is found here
    auto made = MakeBackend("cpu", 0, 1);
    if (!made) return tl::unexpected(made.error());
    backend = *std::move(made);
  }
  const Engine engine(backend, question.gates);
  HtmlReport report{.command = "espalier audit",
                    .facts = NodeLines(after),
                    .about = {},
                    .state = *std::move(input),
                    .gangs = RunningGangs(after)};
  std::map<std::string, const AuditedWorkload*> decided;
  for (const AuditedWorkload& audited : audit.decided) {
    decided.emplace(after.workloads[audited.index].key.ToString(), &audited);
  }
  for (ReportedGang& gang : report.gangs) {
    if (const auto found = decided.find(gang.name); found != decided.end()) {
      TellDecided(*found->second, gang);
    }
  }
  const NamesByFlavor names(after.flavors, after.topologies, {});
  NearMissReader misses(*state, engine);
  for (const PlannedWorkload& waiting : plan->workloads) {
    const auto* request = std::get_if<WorkloadRequest>(&waiting.plan);
    ReportedGang& gang = report.gangs.emplace_back(
        WaitingGang(after.workloads[waiting.index], waiting.cluster_queue, request, names));
    WorkloadAnswer answer;
    if (request != nullptr) answer = engine.NominateOne(*state, *request);
    const std::string reason = ReasonOf(waiting, answer);
    gang.reasons.push_back(reason.empty() ? "it would fit" : reason);
    if (request != nullptr) misses.Read(*request, gang);
  }
  return WriteHtmlReport(std::move(report), file);
}

InputOptions InputOf(const AuditOptions& options, const std::string& moment) {
  InputOptions input = options.question.input;
  input.files.insert(input.files.begin(), moment);
  return input;
}

Result<Cluster> ReadCluster(const InputOptions& options) {
  Result<ClusterRead> read = ReadInput(options);
  if (!read) return tl::unexpected(read.error());
  return std::move(read->cluster);
}

WorkloadAnswer AnswerOf(const std::vector<LoggedPodSet>& pod_sets) {
  WorkloadAnswer answer;
  for (const LoggedPodSet& logged : pod_sets) {
    PodSetAnswer& pod_set = answer.pod_sets.emplace_back(PodSetAnswer{logged.name, logged.flavor});
    if (logged.assignment) pod_set.assignment = *logged.assignment;
    if (!logged.reason.empty()) pod_set.failure = PlacementFailure{logged.reason, std::nullopt};
  }
  return answer;
}

// Adds the flavors that assignments of a log name and the cluster does not have, with their levels.
void AddLoggedFlavors(const std::vector<LoggedDifference>& differences, Cluster& cluster) {
  std::set<std::string, std::less<>> known;
  for (const ResourceFlavor& flavor : cluster.flavors) known.insert(flavor.name);
  const auto add = [&](const std::vector<LoggedPodSet>& pod_sets) {
    for (const LoggedPodSet& pod_set : pod_sets) {
      if (!pod_set.assignment || !known.insert(pod_set.flavor).second) continue;
      const std::string topology = "levels of " + pod_set.flavor;
      cluster.topologies.push_back({topology, pod_set.assignment->levels});
      cluster.flavors.push_back({.name = pod_set.flavor, .topology_name = topology});
    }
  };
  for (const LoggedDifference& difference : differences) {
    add(difference.chosen);
    add(difference.here);
  }
}

void PrintDifferences(const std::vector<LoggedDifference>& differences, const Cluster& cluster,
                      const QuestionOptions& options, const FeatureGates& gates) {
  const auto late =
      static_cast<std::size_t>(std::ranges::count_if(differences, &LoggedDifference::late));
  if (options.output == "table") {
    const NamesByFlavor names(cluster.flavors, cluster.topologies, cluster.nodes);
    std::vector<TableRow> rows;
    for (const LoggedDifference& difference : differences) {
      rows.push_back({difference.workload, difference.late ? "late" : "different",
                      fmt::format("reserved {}, asked of generation {}", difference.reserved_at,
                                  difference.generation)});
      AddBothPlaces(difference.workload, AnswerOf(difference.chosen), AnswerOf(difference.here),
                    names, rows);
    }
    WriteRows(rows, OutputStyle(options.color, false));
    WriteOutput(fmt::format("{}: {} different, {} late\n",
                            CountWithNoun(std::ssize(differences), "difference"),
                            differences.size() - late, late));
    return;
  }
  PrintObject(options.output, [&](ObjectWriter& out) {
    out.Key("differences");
    out.BeginList();
    for (const LoggedDifference& difference : differences) {
      out.BeginMap();
      out.Field("time", std::string_view(difference.time));
      out.Field("workload", std::string_view(difference.workload));
      out.Field("verdict", std::string_view(difference.late ? "late" : "different"));
      out.Field("reservedAt", std::string_view(difference.reserved_at));
      out.Field("generation", difference.generation);
      WriteBothPlaces(AnswerOf(difference.chosen), AnswerOf(difference.here), gates, out);
      out.EndMap();
    }
    out.EndList();
    out.Field("different", static_cast<std::int64_t>(differences.size() - late));
    out.Field("late", static_cast<std::int64_t>(late));
  });
}

// Tells what logs of differences say. The files name nodes, if there are any.
Result<ExitCode> RunOnShadowLogs(const AuditOptions& options) {
  Cluster cluster;
  InputOptions input = options.question.input;
  for (const std::string& moment : {options.after, options.before}) {
    if (!moment.empty()) input.files.insert(input.files.begin(), moment);
  }
  if (!input.files.empty()) {
    Result<Cluster> read = ReadCluster(input);
    if (!read) return tl::unexpected(read.error());
    cluster = *std::move(read);
  }
  const Result<FeatureGates> gates = GatesOf(cluster, input.feature_gates);
  if (!gates) return tl::unexpected(gates.error());
  InputLimit limit(input.max_input);
  std::vector<LoggedDifference> differences;
  Diagnostics findings;
  for (const std::string& log : options.shadow_logs) {
    const auto read = ReadDifferenceLog(log, limit, differences, findings);
    if (!read) return tl::unexpected(read.error());
  }
  AddLoggedFlavors(differences, cluster);
  PrintDifferences(differences, cluster, options.question, *gates);
  if (!findings.ok()) return BadInput(findings.RenderErrors());
  return differences.empty() ? kExitOk : kExitNo;
}

Result<ExitCode> RunAudit(const AuditOptions& options) {
  if (!options.shadow_logs.empty()) return RunOnShadowLogs(options);
  const Result<Cluster> before = ReadCluster(InputOf(options, options.before));
  if (!before) return tl::unexpected(before.error());
  QuestionOptions of_after = options.question;
  of_after.input = InputOf(options, options.after);
  Result<Question> question = ReadQuestion(of_after);
  if (!question) return tl::unexpected(question.error());
  const Cluster& after = question->cluster;
  const auto then = AskedAt(*question, *before);
  if (!then) return tl::unexpected(then.error());
  const auto audit = AuditDecisions(*before, after, **then, *question->asked, question->gates);
  if (!audit) return tl::unexpected(audit.error());
  PodsWithoutNode without(after, after.nodes);
  for (const AuditedWorkload& audited : audit->decided) {
    NoteAdmission(without, question->cluster.workloads[audited.index]);
  }
  if (options.question.output == "table") {
    PrintTable(after, *audit, question->style);
  } else {
    PrintObject(options.question.output,
                [&](ObjectWriter& out) { Write(after, *audit, question->gates, out); });
  }
  if (!options.report.empty()) {
    const auto written = WriteReport(*question, *audit, options.report);
    if (!written) return tl::unexpected(written.error());
  }
  const bool as_asked = std::ranges::all_of(audit->decided, [&](const AuditedWorkload& audited) {
    return IsAsAsked(after.workloads[audited.index], options.question.input);
  });
  return Sound(*audit) == audit->decided.size() && as_asked ? kExitOk : kExitNo;
}

}  // namespace

void AddAuditCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* audit = app.add_subcommand(
      "audit", "What was decided between two dumps, whether it is sound, and what differs here");
  audit->footer(kAuditExamples);
  audit->add_option("BEFORE", options->before, "The cluster before: a file or folder");
  audit->add_option("AFTER", options->after, "The cluster after: a file or folder");
  AddQuestionOptions(*audit, options->question);
  audit->get_option("FILES")->required(false)->description("Objects that both have");
  AddReportOption(*audit, options->report);
  AddBackendOptions(*audit, options->question.backend);
  AddConnectOptions(*audit, options->question);
  audit
      ->add_option("--shadow-log", options->shadow_logs,
                   "Tell what is in logs of differences of espalier-bridge; files that come\n"
                   "before this say in which domains the hosts are")
      ->type_name("FILE ...")
      ->excludes(audit->get_option("--report"))
      ->excludes(audit->get_option("--connect"));
  audit->callback([options, &exit_code] {
    if (options->shadow_logs.empty()) {
      if (options->before.empty()) throw CLI::RequiredError("BEFORE");
      if (options->after.empty()) throw CLI::RequiredError("AFTER");
    }
    const Result<ExitCode> done = RunAudit(*options);
    exit_code = done ? *done : ReportError(done.error());
  });
}

}  // namespace espalier
