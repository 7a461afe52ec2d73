// espalier ungate: which pods of an admitted workload may start now, and where?
#include <algorithm>
#include <memory>
#include <string>

#include "service/cli/commands.hpp"
#include "service/cli/input.hpp"
#include "service/cli/report_error.hpp"
#include "service/cli/standard_output.hpp"
#include "service/cli/terminal.hpp"
#include "service/cli/ungate_report.hpp"

namespace espalier {
namespace {

struct UngateOptions {
  InputOptions input;
  std::string workload;
  std::string output = "table";  // or wide, json
  std::string color = "auto";
};

constexpr const char* kExamples = R"(Examples:
  Where do the gated pods of a workload belong?
    kubectl get workloads,pods -n team-a -o json > team-a.json
    espalier ungate --workload team-a/job-train-1f2e3 team-a.json

  The node selector to write into each pod as its gate is removed:
    espalier ungate --workload team-a/job-train-1f2e3 team-a.json -o json |
      jq -c '.ungate[] | [.pod, .nodeSelector]'

Pods carry the scheduling gate kueue.x-k8s.io/topology until they are sent to a domain of their
workload's topology assignment: by their index where every pod has a sound one, else in order of
their names. Pods whose domain is an unhealthy node wait for the replacement.

Exit codes: 0 every gated pod has its domain, or none is gated; 1 some stay gated; 2 wrong command
line; 3 wrong input; 4 no memory, or output lost; 5 internal error.)";

ExitCode RunUngate(const UngateOptions& options) {
  const Result<ClusterRead> read = ReadInput(options.input);
  if (!read) return ReportError(read.error());
  const Result<ObjectKey> key = FindWorkload(read->cluster, options.workload);
  if (!key) return ReportError(key.error());
  const auto workload = std::ranges::find(read->cluster.workloads, *key, &Workload::key);
  const Result<UngateReport> report = MakeUngateReport(*workload, read->cluster);
  if (!report) return ReportError(report.error());
  const TextStyle style = OutputStyle(options.color, options.output == "wide");
  WriteOutput(options.output == "json" ? UngateJson(*report) : UngateTable(*report, style));
  return report->gated.empty() ? kExitOk : kExitNo;
}

}  // namespace

void AddUngateCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<UngateOptions>();
  CLI::App* ungate = app.add_subcommand(
      "ungate", "Show which gated pods of an admitted workload may start, and in which domain");
  ungate->footer(kExamples);

  AddInputOptions(*ungate, options->input);
  ungate
      ->add_option("--workload", options->workload,
                   "NAMESPACE/NAME or NAME, of the Workload or of its job")
      ->required()
      ->check(CLI::Validator(CheckWorkloadName, "NAME"));
  AddColorOption(*ungate, options->color);
  ungate
      ->add_option("-o,--output", options->output,
                   "table; wide: whole reasons on narrow terminals; json: with the node\n"
                   "selector of each pod")
      ->check(CLI::IsMember({"table", "wide", "json"}))
      ->capture_default_str();
  ungate->callback([options, &exit_code] { exit_code = RunUngate(*options); });
}

}  // namespace espalier
