// espalier ungate: which pods of an admitted workload may start now, and where?
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/options/input.hpp"
#include "service/cli/reports/ungate_report.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"
#include "service/cli/terminal/terminal.hpp"

namespace espalier {
namespace {

struct UngateOptions {
  InputOptions input;
  std::string workload;
  std::vector<std::string> unconfirmed;
  std::string output = "table";  // or wide, json
  std::string color = "auto";
};

constexpr const char* kUngateExamples = R"(Examples:
  Where do the gated pods of a workload belong?
    kubectl get workloads,pods -n team-a -o json > team-a.json
    espalier ungate --workload team-a/job-train-1f2e3 team-a.json

  The node selector to write into each pod as its gate is removed:
    espalier ungate --workload team-a/job-train-1f2e3 team-a.json -o json |
      jq -c '.ungate[] | [.pod, .nodeSelector]'

  The gates of two pods were removed a moment ago, and the file may be older than that:
    espalier ungate --workload team-a/job-train-1f2e3 team-a.json --unconfirmed train-0,train-1

Pods carry the scheduling gate kueue.x-k8s.io/topology until they are sent to a domain of their
workload's topology assignment: by their index where every pod has a sound one, else in order of
their names. Pods whose domain is an unhealthy node wait for the replacement. Pods of elastic jobs
carry kueue.x-k8s.io/elastic-job besides, until a slice of the workload that counts them is admitted:
as many start as are admitted, those that run counted, and one that was made again passes the gate
again. While the ungating of one pod is not confirmed, all others of the workload wait.

Exit codes: 0 every gated pod has its domain, or none is gated; 1 some stay gated; 2 wrong command
line; 3 wrong input; 4 no memory, or output lost; 5 internal error.)";

// Errors: a pod that is not in the namespace of the workload (kNotFound).
Result<void> MarkUnconfirmed(const std::vector<std::string>& names, const std::string& name_space,
                             Cluster& cluster) {
  for (const std::string& name : names) {
    const auto pod = std::ranges::find(cluster.pods, ObjectKey{name_space, name}, &Pod::key);
    if (pod == cluster.pods.end()) {
      return tl::unexpected(Error{ErrorClass::kNotFound,
                                  fmt::format("--unconfirmed: pod {} is not in namespace {} of the "
                                              "input",
                                              Excerpt(name), Excerpt(name_space))});
    }
    pod->ungating_unconfirmed = true;
  }
  return {};
}

ExitCode RunUngate(const UngateOptions& options) {
  Result<ClusterRead> read = ReadInput(options.input);
  if (!read) return ReportError(read.error());
  const Result<ObjectKey> key = FindSlice(read->cluster, options.workload);
  if (!key) return ReportError(key.error());
  if (auto marked = MarkUnconfirmed(options.unconfirmed, key->namespace_, read->cluster); !marked) {
    return ReportError(marked.error());
  }
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
  ungate->footer(kUngateExamples);

  AddInputOptions(*ungate, options->input);
  ungate
      ->add_option("--workload", options->workload,
                   "NAMESPACE/NAME or NAME, of the Workload or of its job")
      ->required()
      ->check(CLI::Validator(CheckWorkloadName, "NAME"));
  ungate
      ->add_option(
          "--unconfirmed", options->unconfirmed,
          "POD,...: pods of the workload whose gates were removed, and which have not been\n"
          "seen without them since")
      ->delimiter(',');
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
