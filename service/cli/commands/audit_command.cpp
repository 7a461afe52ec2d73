// espalier audit: what did another scheduler decide, and what would have been decided here?
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/objects/node_participation.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/by_name.hpp"
#include "host/questions/audit.hpp"
#include "service/backends/backends.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/question.hpp"
#include "service/cli/html_report/html_report.hpp"
#include "service/cli/reports/counted.hpp"
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
  std::string report;  // file; empty: none
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

Every workload that waited before and is admitted after is decided here again, in the order of the
quota reservations, on what was free at its turn, with the flavor and the number of pods that it got.
What ended in between counts as gone from the start. Quota is not looked at. What waits is decided on
the cluster after; with --connect on the server's state once all choices are booked.

Exit codes: 0 every choice is sound; 1 some is not; 2 wrong command line; 3 wrong input;
4 no GPU or memory, or output lost; 5 internal error.)";

std::size_t Sound(const Audit& audit) {
  return static_cast<std::size_t>(std::ranges::count_if(
      audit.decided, [](const AuditedWorkload& audited) { return audited.problems.empty(); }));
}

void PrintTable(const Cluster& after, const Audit& audit, const TextStyle& style) {
  const NamesByFlavor names(after.flavors, after.topologies, after.nodes);
  std::vector<TableRow> rows;
  std::size_t same = 0;
  for (const AuditedWorkload& audited : audit.decided) {
    same += static_cast<std::size_t>(audited.same);
    const std::string key = after.workloads[audited.index].key.ToString();
    if (!audited.problems.empty()) rows.push_back({key, "not sound", audited.problems});
    if (audited.same) continue;
    rows.push_back({key, "is at", AnswerCell(audited.chosen, names)});
    rows.push_back({key, "here", AnswerCell(audited.here, names)});
  }
  for (const std::size_t index : audit.waiting_but_fit) {
    rows.push_back({after.workloads[index].key.ToString(), "waits", "it would fit"});
  }
  if (!rows.empty()) {
    WriteOutput(RenderTable({"WORKLOAD", "WHAT", "WHERE OR WHY"}, rows, style) + "\n");
  }
  WriteOutput(fmt::format("{} decided: {} as here, {} otherwise; {} not sound; {} would fit\n",
                          Counted(std::ssize(audit.decided), "workload"), same,
                          audit.decided.size() - same, audit.decided.size() - Sound(audit),
                          Counted(std::ssize(audit.waiting_but_fit), "waiting workload")));
}

void Write(const Cluster& after, const Audit& audit, const FeatureGates& gates, ObjectWriter& out) {
  out.Key("decided");
  out.BeginList();
  for (const AuditedWorkload& audited : audit.decided) {
    out.BeginMap();
    out.Field("workload", std::string_view(after.workloads[audited.index].key.ToString()));
    out.Key("same");
    out.Flag(audited.same);
    out.Key("problems");
    WriteTexts(audited.problems, out);
    if (!audited.same) {
      out.Key("chosen");
      WriteAnswer(audited.chosen, gates, out);
      out.Key("here");
      WriteAnswer(audited.here, gates, out);
    }
    out.EndMap();
  }
  out.EndList();
  std::vector<std::string> waiting;
  for (const std::size_t index : audit.waiting_but_fit) {
    waiting.push_back(after.workloads[index].key.ToString());
  }
  out.Key("waitingButFit");
  WriteTexts(waiting, out);
}

// What was decided, with what is wrong with it and where it would have gone.
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

Result<ExitCode> RunAudit(const AuditOptions& options) {
  const Result<Cluster> before = ReadCluster(InputOf(options, options.before));
  if (!before) return tl::unexpected(before.error());
  QuestionOptions of_after = options.question;
  of_after.input = InputOf(options, options.after);
  const Result<Question> question = OpenQuestion(of_after);
  if (!question) return tl::unexpected(question.error());
  const Cluster& after = question->cluster;
  const auto then = AskedAt(*question, *before);
  if (!then) return tl::unexpected(then.error());
  const auto audit = AuditDecisions(*before, after, **then, *question->asked, question->gates);
  if (!audit) return tl::unexpected(audit.error());
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
  return Sound(*audit) == audit->decided.size() ? kExitOk : kExitNo;
}

}  // namespace

void AddAuditCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* audit = app.add_subcommand(
      "audit", "What was decided between two dumps, whether it is sound, and what differs here");
  audit->footer(kAuditExamples);
  audit->add_option("BEFORE", options->before, "The cluster before: a file or folder")->required();
  audit->add_option("AFTER", options->after, "The cluster after: a file or folder")->required();
  AddQuestionOptions(*audit, options->question);
  audit->get_option("FILES")->required(false)->description("Objects that both have");
  AddReportOption(*audit, options->report);
  AddBackendOptions(*audit, options->question.backend);
  AddConnectOptions(*audit, options->question);
  audit->callback([options, &exit_code] {
    const Result<ExitCode> done = RunAudit(*options);
    exit_code = done ? *done : ReportError(done.error());
  });
}

}  // namespace espalier
