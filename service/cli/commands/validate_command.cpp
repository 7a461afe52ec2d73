// espalier validate: are the assignments of admitted workloads within capacity and constraints?
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/objects/workload_status.hpp"
#include "host/kueue/validation/assignment_check.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/question.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {
namespace {

struct ValidateOptions {
  QuestionOptions question;
  std::string workload;
};

constexpr const char* kValidateExamples = R"(Examples:
  Do the assignments of a cluster, whoever made them, keep what was asked for?
    espalier validate cluster.json.gz

  A proposal, as a Workload with status.admission, beside all that runs:
    espalier validate cluster.json.gz proposal.yaml --workload team-a/train

  Beside all that a server knows, in whose state those of the same name are replaced:
    espalier validate proposal.yaml --connect unix:/run/espalier/espalier.sock

  In a pipeline:
    espalier validate cluster.json.gz -o json | jq -r '.faults[] | .workload + ": " + .problem'

Checked is every workload that holds quota on a flavor with a topology: its domains exist and are
ready, their nodes match its selector, affinity and tolerations, all its pods have a place, required
domains and slices are kept, and no node is used beyond what it has.
What Kueue's webhooks would refuse is the question of `espalier validate-objects`.

Exit codes: 0 nothing is wrong; 1 something is, or without --best-effort not as it was asked;
2 wrong command line; 3 wrong input; 4 no memory, or output lost; 5 internal error.)";

// The admitted workloads that are checked, with what of each is not honoured.
using Checked = std::vector<Workload>;

void PrintTable(const AssignmentCheck& check, const Checked& checked, const TextStyle& style) {
  std::vector<TableRow> rows;
  for (const Workload& workload : checked) {
    for (std::string& line : NotHonouredLines(workload)) {
      rows.push_back({workload.key.ToString(), "", std::move(line)});
    }
  }
  if (!check.faults.empty() || !rows.empty()) {
    for (const AssignmentFault& fault : check.faults) {
      rows.push_back({fault.workload.ToString(), fault.pod_set, fault.problem});
    }
    WriteOutput(RenderTable({"WORKLOAD", "POD SET", "PROBLEM"}, rows, style) + "\n");
  }
  WriteOutput(fmt::format("{} checked, {} found\n",
                          CountWithNoun(static_cast<std::int64_t>(check.workloads), "workload"),
                          CountWithNoun(std::ssize(check.faults), "problem")));
}

void Write(const AssignmentCheck& check, const Checked& checked, ObjectWriter& out) {
  out.Field("workloads", static_cast<std::int64_t>(check.workloads));
  out.Key("faults");
  out.BeginList();
  for (const AssignmentFault& fault : check.faults) {
    out.BeginMap();
    out.Field("workload", std::string_view(fault.workload.ToString()));
    out.Field("podSet", std::string_view(fault.pod_set));
    out.Field("problem", std::string_view(fault.problem));
    out.EndMap();
  }
  out.EndList();
  const auto is_as_asked = [](const Workload& workload) { return workload.not_honoured.empty(); };
  if (std::ranges::all_of(checked, is_as_asked)) return;
  out.Key("notAsAsked");
  out.BeginList();
  for (const Workload& workload : checked) {
    if (is_as_asked(workload)) continue;
    out.BeginMap();
    out.Field("workload", std::string_view(workload.key.ToString()));
    WriteNotHonoured(workload, out);
    out.EndMap();
  }
  out.EndList();
}

// Returns the admitted workloads of the files, or `only` that one.
Checked ToCheck(const Cluster& cluster, const std::optional<ObjectKey>& only) {
  Checked proposed;
  PodsWithoutNode without(cluster, cluster.nodes);
  for (const Workload& workload : cluster.workloads) {
    if (!HasReservation(workload) || (only && *only != workload.key)) continue;
    NoteAdmission(without, proposed.emplace_back(workload));
  }
  return proposed;
}

ExitCode RunValidate(const ValidateOptions& options) {
  const Result<Question> question = ReadQuestion(options.question);
  if (!question) return ReportError(question.error());
  std::optional<ObjectKey> only;
  if (!options.workload.empty()) {
    Result<ObjectKey> key = FindWorkload(question->cluster, options.workload);
    if (!key) return ReportError(key.error());
    only = *std::move(key);
  }
  const Checked checked = ToCheck(question->cluster, only);
  const auto check = question->asked->Validate(checked);
  if (!check) return ReportError(check.error());
  if (options.question.output == "table") {
    PrintTable(*check, checked, question->style);
  } else {
    PrintObject(options.question.output, [&](ObjectWriter& out) { Write(*check, checked, out); });
  }
  const bool as_asked = std::ranges::all_of(checked, [&](const Workload& workload) {
    return IsAsAsked(workload, options.question.input);
  });
  return check->faults.empty() && as_asked ? kExitOk : kExitNo;
}

}  // namespace

void AddValidateCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* validate = app.add_subcommand(
      "validate", "Are the assignments of admitted workloads within capacity and constraints?");
  validate->footer(kValidateExamples);
  AddQuestionOptions(*validate, options->question);
  validate
      ->add_option("--workload", options->workload,
                   "Only this one, beside all others: NAMESPACE/NAME or NAME")
      ->check(CLI::Validator(CheckWorkloadName, "NAME"));
  AddConnectOptions(*validate, options->question);
  options->question.needs_nodes = false;
  validate->callback([options, &exit_code] { exit_code = RunValidate(*options); });
}

}  // namespace espalier
