// espalier ungate: which pods of an admitted workload may start now, and where?
#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "service/cli/commands.hpp"
#include "service/cli/input.hpp"
#include "service/cli/report_error.hpp"
#include "service/cli/standard_output.hpp"
#include "service/cli/ungate_report.hpp"

namespace espalier {
namespace {

struct UngateOptions {
  InputOptions input;
  std::string workload;
  std::string output = "table";  // or json
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
line; 3 wrong input; 4 memory not to be had, or output lost; 5 internal error.)";

ExitCode RunUngate(const UngateOptions& options) {
  const Result<ObjectKey> key = ParseWorkloadName(options.workload);
  if (!key) {
    ReportError(key.error());
    return kExitUsage;
  }
  const Result<ClusterRead> read = ReadInput(options.input);
  if (!read) return ReportError(read.error());
  const auto& workloads = read->cluster.workloads;
  const auto workload = std::ranges::find(workloads, *key, &Workload::key);
  if (workload == workloads.end()) {
    return ReportError(
        {ErrorClass::kNotFound, fmt::format("workload {} is not in the input", key->ToString())});
  }
  const Result<UngateReport> report = MakeUngateReport(*workload, read->cluster);
  if (!report) return ReportError(report.error());
  WriteOutput(options.output == "json" ? UngateJson(*report) : UngateTable(*report));
  return report->gated.empty() ? kExitOk : kExitNo;
}

}  // namespace

void AddUngateCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<UngateOptions>();
  CLI::App* ungate = app.add_subcommand(
      "ungate", "Show which gated pods of an admitted workload may start, and in which domain");
  ungate->footer(kExamples);

  AddInputOptions(*ungate, options->input);
  ungate->add_option("--workload", options->workload, "The workload: NAMESPACE/NAME")->required();
  ungate
      ->add_option("-o,--output", options->output,
                   "table; json: with the node selector of each pod")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  ungate->callback([options, &exit_code] { exit_code = RunUngate(*options); });
}

}  // namespace espalier
