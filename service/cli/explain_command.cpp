// espalier explain: why does a workload wait, and what little would change that?
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/kueue/certificate.hpp"
#include "host/kueue/cluster_input.hpp"
#include "host/kueue/node_participation.hpp"
#include "host/kueue/quantity_text.hpp"
#include "service/cli/certificate_text.hpp"
#include "service/cli/commands.hpp"
#include "service/cli/html_report.hpp"
#include "service/cli/question.hpp"
#include "service/cli/report_error.hpp"
#include "service/cli/reported_gangs.hpp"
#include "service/cli/standard_output.hpp"

namespace espalier {
namespace {

struct ExplainOptions {
  QuestionOptions question;
  std::string workload;
  std::string report;  // file; empty: none
};

constexpr const char* kExamples = R"(Examples:
  Why is it not placed, and what is the smallest change?
    espalier explain team-a/train cluster.json.gz

  For a script: the nodes whose repair alone would do
    espalier explain team-a/train cluster.json.gz -o json | jq -r '.wouldFit.repaired[]'

  Where in the cluster is that?
    espalier explain team-a/train cluster.json.gz --report train.html

NEAREST is the domain that comes nearest to holding it, BINDS what is short there. Each line of
WOULD FIT is a change that was tried and that suffices alone. EVER tells what can never be placed on
these nodes, whatever ends, from what only waits. Quota is not looked at.

Exit codes: 0 it fits; 1 it does not; 2 wrong command line; 3 wrong input;
4 no GPU or memory, or output lost; 5 internal error.)";

class Table {
 public:
  Table(const Certificate& found, const AskedWorkload& asked, const NamesByFlavor& names)
      : found_(found), asked_(asked), names_(names) {}

  std::string Render(const TextStyle& style) {
    rows_.push_back({"NOW", AnswerCell(found_.answer, names_)});
    for (const std::string& line : NotHonouredLines(*asked_.workload)) {
      rows_.push_back({"", TableCell(line, Color::kBad)});
    }
    if (!found_.fits) {
      if (found_.near_miss) AddNearMiss(*found_.near_miss);
      rows_.push_back({"WOULD FIT", Changes()});
      rows_.push_back({"EVER", Ever()});
    }
    return RenderTable({"", asked_.workload->key.ToString()}, rows_, style);
  }

 private:
  void AddNearMiss(const NearMiss& miss) {
    rows_.push_back(
        {"NEAREST", NearMissText(miss, names_) + (found_.never ? "; with nothing running" : "")});
    rows_.push_back({"BINDS", BindingLines(miss)});
  }

  std::vector<std::string> Changes() const {
    std::vector<std::string> lines = ChangeLines(found_.changes, asked_.request, names_);
    if (lines.empty()) lines.emplace_back("no single change of these kinds is enough");
    return lines;
  }

  TableCell Ever() const {
    if (found_.undecided) return "undecided: whether the nodes could hold it, were they empty";
    if (!found_.never) return "yes, once enough of what runs has ended";
    if (!found_.near_miss) return {"never on these nodes: see NOW", Color::kBad};
    return {"never on these nodes: with nothing running, " +
                found_.empty.FirstFailure()->failure->reason,
            Color::kBad};
  }

  const Certificate& found_;
  const AskedWorkload& asked_;
  const NamesByFlavor& names_;
  std::vector<TableRow> rows_;
};

void WriteNearMiss(const NearMiss& miss, ObjectWriter& out) {
  out.Key("nearest");
  out.BeginMap();
  out.Field("podSet", std::string_view(miss.pod_set));
  out.Field("flavor", std::string_view(miss.flavor));
  out.Field("level", std::string_view(miss.level));
  out.Key("domain");
  WriteTexts(miss.domain, out);
  out.Field("fit", miss.fit);
  out.Field("pods", miss.pods);
  out.Field("nodes", miss.nodes);
  out.Field("nodesWithRoom", miss.nodes_with_room);
  out.Field("nodesNotMatching", miss.nodes_not_matching);
  out.Key("binding");
  out.BeginList();
  for (const BindingResource& resource : miss.binding) {
    out.BeginMap();
    out.Field("resource", std::string_view(resource.resource));
    out.Field("missing", std::string_view(QuantityText(resource.resource, resource.missing)));
    out.Field("pods", resource.pods);
    out.EndMap();
  }
  out.EndList();
  out.EndMap();
}

void WriteChanges(const PossibleChanges& changes, ObjectWriter& out) {
  out.Key("wouldFit");
  out.BeginMap();
  out.Field("pods", std::int64_t{changes.fewer_pods});
  out.Field("requiredLevel", std::string_view(changes.coarser_level));
  out.Key("anywhere");
  out.Flag(changes.anywhere);
  out.Key("repaired");
  WriteTexts(changes.repaired, out);
  out.Key("without");
  WriteTexts(NamesOfGone(changes), out);
  out.EndMap();
}

void Write(const Certificate& found, const AskedWorkload& asked, const FeatureGates& gates,
           ObjectWriter& out) {
  out.Field("workload", std::string_view(asked.workload->key.ToString()));
  out.Key("now");
  WriteAnswer(found.answer, gates, out);
  WriteNotHonoured(*asked.workload, out);
  if (found.fits) return;
  out.Key("never");
  out.Flag(found.never);
  if (found.undecided) {
    out.Key("undecided");
    out.Flag(true);
  }
  if (found.near_miss) WriteNearMiss(*found.near_miss, out);
  WriteChanges(found.changes, out);
}

Result<void> WriteReport(const Certificate& found, const AskedWorkload& asked,
                         const Question& question, const std::string& file) {
  const Cluster& cluster = question.cluster;
  const NamesByFlavor names(cluster.flavors, cluster.topologies, {});
  HtmlReport report{.command = "espalier explain",
                    .facts = NodeLines(cluster),
                    .about = asked.workload->key.ToString(),
                    .state = BuildClusterStateInput(cluster, question.gates),
                    .gangs = RunningGangs(cluster)};
  ReportedGang& gang = report.gangs.emplace_back(
      WaitingGang(*asked.workload, asked.cluster_queue, &asked.request, names));
  if (found.fits) {
    gang.state = ReportedGang::State::kPlaced;
    gang.status = "would fit";
    gang.pod_sets = PlacedPodSets(asked.request, found.answer, names);
  } else {
    gang.reasons.push_back(found.answer.FirstFailure()->failure->reason);
    if (found.never) gang.reasons.emplace_back("never on these nodes, whatever ends");
    gang.nearest = found.near_miss;
    gang.nearest_when = found.never ? "with nothing running" : "now";
    gang.changes = ChangeLines(found.changes, asked.request, names);
  }
  return WriteHtmlReport(std::move(report), file);
}

ExitCode RunExplain(const ExplainOptions& options) {
  const Result<Question> question = OpenQuestion(options.question);
  if (!question) return ReportError(question.error());
  const Cluster& cluster = question->cluster;
  const auto asked = AskAbout(cluster, question->gates, options.workload);
  if (!asked) return ReportError(asked.error());
  const auto found =
      question->remote != nullptr
          ? question->remote->Explain(asked->request, RunningWorkloads(cluster, asked->request.key),
                                      question->gates)
          : Explain(cluster, asked->request, question->MakeEngine());
  if (!found) return ReportError(found.error());
  if (options.question.output == "table") {
    const NamesByFlavor names(cluster.flavors, cluster.topologies, cluster.nodes);
    WriteOutput(Table(*found, *asked, names).Render(question->style));
  } else {
    PrintObject(options.question.output,
                [&](ObjectWriter& out) { Write(*found, *asked, question->gates, out); });
  }
  if (!options.report.empty()) {
    const auto written = WriteReport(*found, *asked, *question, options.report);
    if (!written) return ReportError(written.error());
  }
  return found->fits && IsAsAsked(*asked->workload, options.question.input) ? kExitOk : kExitNo;
}

}  // namespace

void AddExplainCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* explain = app.add_subcommand(
      "explain", "Why a workload is not placed, and which small changes would let it fit");
  explain->footer(kExamples);
  AddWorkloadArgument(*explain, options->workload);
  AddQuestionOptions(*explain, options->question);
  AddReportOption(*explain, options->report);
  AddBackendOptions(*explain, options->question.backend);
  AddConnectOptions(*explain, options->question, {"--report"});
  explain->callback([options, &exit_code] { exit_code = RunExplain(*options); });
}

}  // namespace espalier
