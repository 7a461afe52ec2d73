// espalier validate: are the assignments of admitted workloads within capacity and constraints?
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/objects/workload_status.hpp"
#include "host/kueue/validation/assignment_check.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/question.hpp"
#include "service/cli/reports/counted.hpp"
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

Exit codes: 0 nothing is wrong; 1 something is; 2 wrong command line; 3 wrong input;
4 no memory, or output lost; 5 internal error.)";

void PrintTable(const AssignmentCheck& check, const TextStyle& style) {
  if (!check.faults.empty()) {
    std::vector<TableRow> rows;
    for (const AssignmentFault& fault : check.faults) {
      rows.push_back({fault.workload.ToString(), fault.pod_set, fault.problem});
    }
    WriteOutput(RenderTable({"WORKLOAD", "POD SET", "PROBLEM"}, rows, style) + "\n");
  }
  WriteOutput(fmt::format("{} checked, {} found\n",
                          Counted(static_cast<std::int64_t>(check.workloads), "workload"),
                          Counted(std::ssize(check.faults), "problem")));
}

void Write(const AssignmentCheck& check, ObjectWriter& out) {
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
}

// Checks the admitted workloads of the files, or `only` that one, beside all that is known.
Result<AssignmentCheck> Check(const Question& question, const std::optional<ObjectKey>& only) {
  std::vector<Workload> proposed;
  for (const Workload& workload : question.cluster.workloads) {
    if (HasReservation(workload) && (!only || *only == workload.key)) proposed.push_back(workload);
  }
  return question.asked->Validate(proposed);
}

ExitCode RunValidate(const ValidateOptions& options) {
  const Result<Question> question = OpenQuestion(options.question);
  if (!question) return ReportError(question.error());
  std::optional<ObjectKey> only;
  if (!options.workload.empty()) {
    Result<ObjectKey> key = FindWorkload(question->cluster, options.workload);
    if (!key) return ReportError(key.error());
    only = *std::move(key);
  }
  const auto check = Check(*question, only);
  if (!check) return ReportError(check.error());
  if (options.question.output == "table") {
    PrintTable(*check, question->style);
  } else {
    PrintObject(options.question.output, [&](ObjectWriter& out) { Write(*check, out); });
  }
  return check->faults.empty() ? kExitOk : kExitNo;
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
