// espalier resize: what does another size of a running elastic workload take?
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "host/engine/engine.hpp"
#include "host/kueue/elastic/owned_jobs.hpp"
#include "host/kueue/elastic/resize_plan.hpp"
#include "host/kueue/multikueue/multikueue_input.hpp"
#include "host/model/excerpt.hpp"
#include "host/readers/scale_request.hpp"
#include "service/backends/backends.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/options/backend_options.hpp"
#include "service/cli/options/input.hpp"
#include "service/cli/reports/multikueue_flow_report.hpp"
#include "service/cli/reports/resize_report.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"
#include "service/cli/terminal/terminal.hpp"

namespace espalier {
namespace {

struct ResizeOptions {
  InputOptions input;
  std::string workload;
  std::vector<std::string> to;
  bool multikueue = false;
  std::vector<std::string> manager;
  std::vector<std::string> worker;     // NAME=FILE, and further files of that cluster
  std::string slices = "replacement";  // or per-replica
  std::string profile = "kueue";       // or espalier
  BackendOptions backend;
  std::string output = "table";  // or wide, json, yaml
  std::string color = "auto";
};

constexpr const char* kResizeExamples = R"(Examples:
  Can the workers of a running job grow to ten, and where would the new ones go?
    espalier snapshot -o cluster.json.gz
    espalier resize cluster.json.gz --workload team-a/job-train-1f2e3 --to workers=10

  Which pods leave, were it to shrink to two, such that whole racks become free?
    espalier resize cluster.json.gz --workload team-a/train --to workers=2 --profile espalier

  A slice for every new replica, so that a part of them may start:
    espalier resize cluster.json.gz --workload train --to workers=10 --slices per-replica -o json

  A RayJob in a worker cluster of MultiKueue wants more workers: what does each side write?
    espalier resize --multikueue --manager manager.json --worker east=east.json

A workload that carries the annotation kueue.x-k8s.io/elastic-job: "true" changes its size as it
runs. Fewer pods are written in place, without a question of quota. Where any pod set grows, a new
slice with all the new counts asks for the difference alone, on the flavors of the old one and near
its pods; as it is admitted the old slice ends with the reason WorkloadSliceReplaced, and until then
it runs unharmed. While a node of the workload is unhealthy its size stays.

Profile kueue decides as Kueue does with ElasticJobsViaWorkloadSlicesWithTAS, which this command
turns on: the last pods of the assignment leave, and required and preferred topologies do not grow.
Profile espalier lets those pods leave that free whole domains, and keeps the difference in the old
domain of the required level, or near it for a preferred one.

With --multikueue the steps from the objects as they are to the end are shown, each with what is
written where. Every step follows from the objects alone: after a crash between two writes, asking
again goes on. Steps that wait for something else, as for quota, come last and write nothing.

Exit codes: 0 nothing to do, done in place, or every slice admitted; 1 refused, or a slice waits;
2 wrong command line; 3 wrong input; 4 no GPU or memory, or output lost; 5 internal error.)";

// Reads NAME=COUNT. Errors: it is none, or the count is beyond 64 bits.
Result<std::pair<std::string, std::int64_t>> ParseCount(const std::string& text) {
  const auto equals = text.rfind('=');
  const char* const end = text.data() + text.size();
  const char* const digits = equals == std::string::npos ? end : text.data() + equals + 1;
  std::int64_t count = 0;
  const auto [rest, code] = std::from_chars(digits, end, count);
  if (equals == 0 || code == std::errc::invalid_argument || rest != end) {
    return BadInput(fmt::format("{} is not NAME=COUNT, as in workers=10", Excerpt(text)));
  }
  if (code == std::errc::result_out_of_range) {
    return BadInput(fmt::format("{}: the count lies in 0 to {}", Excerpt(text),
                                std::numeric_limits<std::int32_t>::max()));
  }
  return std::pair(text.substr(0, equals), count);
}

std::string CheckCount(const std::string& text) {
  const auto count = ParseCount(text);
  return count ? "" : count.error().message;
}

std::vector<std::pair<std::string, std::int64_t>> CountsOf(const ResizeOptions& options) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const std::string& text : options.to) counts.push_back(*ParseCount(text));
  return counts;
}

// ElasticJobsViaWorkloadSlicesWithTAS is on unless somebody names it.
Result<FeatureGates> ResizeGatesOf(const Cluster& cluster, const std::string& text) {
  constexpr std::string_view kGate = "ElasticJobsViaWorkloadSlicesWithTAS";
  auto gates = GatesOf(cluster, text);
  const bool is_named =
      text.find(kGate) != std::string::npos ||
      (cluster.configuration && cluster.configuration->feature_gates.contains(std::string(kGate)));
  if (!gates || is_named) return gates;
  return ResizeGates(*gates);
}

bool AllAdmitted(const ResizePlan& plan) {
  return plan.decision != ResizeDecision::kRefused &&
         std::ranges::all_of(plan.slices, &PlannedSlice::admitted);
}

struct WorkerFiles {
  std::string name;
  std::vector<std::string> files;
};

// Reads the words of --worker: NAME=FILE begins a cluster, or goes on with the one of that name;
// files that follow are of the same one. What has a slash before its = is a file.
Result<std::vector<WorkerFiles>> ParseWorkers(const std::vector<std::string>& words) {
  std::vector<WorkerFiles> workers;
  auto worker = workers.end();
  for (const std::string& word : words) {
    const auto end = word.find_first_of("=/");
    const bool names = end != std::string::npos && end > 0 && word[end] == '=';
    if (names) {
      const std::string name = word.substr(0, end);
      worker = std::ranges::find(workers, name, &WorkerFiles::name);
      if (worker == workers.end()) worker = workers.insert(workers.end(), {name, {}});
    } else if (worker == workers.end()) {
      return BadInput(
          fmt::format("--worker: {} is not NAME=FILE, as in east=east.json", Excerpt(word)));
    }
    worker->files.push_back(names ? word.substr(end + 1) : word);
  }
  return workers;
}

FlowCluster FlowClusterOf(std::string name, ClusterRead read) {
  auto requests = ReadScaleRequests(name, read.cluster.workloads);
  std::ranges::move(read.gang_workloads, std::back_inserter(read.owned_jobs));
  return {std::move(name), std::move(read.cluster), std::move(read.owned_jobs),
          std::move(requests)};
}

ExitCode RunFlow(const ResizeOptions& options) {
  const auto worker_files = ParseWorkers(options.worker);
  if (!worker_files) {
    ReportError(worker_files.error());
    return kExitUsage;
  }
  InputOptions input = options.input;
  input.with_owned_jobs = true;
  input.names_inactive = true;
  input.files = options.manager;
  Result<ClusterRead> manager = ReadInput(input);
  if (!manager) return ReportError(manager.error());
  const auto gates = ResizeGatesOf(manager->cluster, options.input.feature_gates);
  if (!gates) return ReportError(gates.error());
  std::vector<FlowCluster> workers;
  for (const WorkerFiles& files : *worker_files) {
    input.files = files.files;
    Result<ClusterRead> worker = ReadInput(input);
    if (!worker) return ReportError(worker.error());
    for (const std::string& note : OptIn(worker->owned_jobs, worker->cluster.workloads)) Tell(note);
    workers.push_back(FlowClusterOf(files.name, *std::move(worker)));
  }
  auto state = MakeMultiKueueState(FlowClusterOf("manager", *std::move(manager)),
                                   std::move(workers), options.workload);
  if (!state) return ReportError(state.error());
  if (options.slices == "per-replica") state->slices = SliceMode::kPerReplica;
  if (const auto set = SetWantedCounts(CountsOf(options), *state); !set) {
    return ReportError(set.error());
  }
  const auto backend = MakeBackend(options.backend.name, options.backend.threads, 1);
  if (!backend) return ReportError(backend.error());
  const auto steps = PlanFlow(*std::move(state), Engine(*backend, *gates));
  if (!steps) return ReportError(steps.error());
  if (options.output == "json") {
    WriteOutput(FlowObject(*steps, *MakeJsonWriter()));
  } else if (options.output == "yaml") {
    WriteOutput(FlowObject(*steps, *MakeYamlWriter()));
  } else {
    WriteOutput(FlowTable(*steps, OutputStyle(options.color, options.output == "wide")));
  }
  return steps->empty() || !steps->back().writes.empty() ? kExitOk : kExitNo;
}

ExitCode RunResize(const ResizeOptions& options) {
  if (const auto named = ParseFeatureGates(options.input.feature_gates); !named) {
    ReportError(named.error());
    return kExitUsage;
  }
  if (options.multikueue) return RunFlow(options);
  InputOptions input = options.input;
  input.with_owned_jobs = true;
  input.names_inactive = true;
  Result<ClusterRead> read = ReadInput(input);
  if (!read) return ReportError(read.error());
  const Result<FeatureGates> gates = ResizeGatesOf(read->cluster, options.input.feature_gates);
  if (!gates) return ReportError(gates.error());
  std::vector<Workload>& workloads = read->cluster.workloads;
  for (const std::string& note : OptIn(read->owned_jobs, workloads)) Tell(note);
  HoldBackSurplus(read->owned_jobs, workloads);
  const Result<ObjectKey> key = FindSlice(read->cluster, options.workload);
  if (!key) return ReportError(key.error());
  ResizeRequest request{*key, {}, SliceMode::kReplacement, ResizeProfile::kKueue};
  request.counts = CountsOf(options);
  if (options.slices == "per-replica") request.mode = SliceMode::kPerReplica;
  if (options.profile == "espalier") request.profile = ResizeProfile::kEspalier;
  const auto backend = MakeBackend(options.backend.name, options.backend.threads, 1);
  if (!backend) return ReportError(backend.error());
  const auto plan = PlanResize(read->cluster, Engine(*backend, *gates), request);
  if (!plan) return ReportError(plan.error());
  ReportDeviceFault(**backend);
  if (options.output == "json") {
    WriteOutput(ResizeObject(*plan, *MakeJsonWriter()));
  } else if (options.output == "yaml") {
    WriteOutput(ResizeObject(*plan, *MakeYamlWriter()));
  } else {
    for (const std::string& note : plan->notes) Tell(note);
    WriteOutput(ResizeText(*plan, OutputStyle(options.color, options.output == "wide")));
  }
  return AllAdmitted(*plan) ? kExitOk : kExitNo;
}

void CheckOptions(const ResizeOptions& options) {
  if (options.multikueue) {
    if (options.manager.empty()) throw CLI::RequiredError("--manager");
    if (options.worker.empty()) throw CLI::RequiredError("--worker");
    if (!options.input.files.empty()) {
      throw CLI::ValidationError("FILES", "go with --manager or --worker under --multikueue");
    }
    if (options.profile != "kueue") {
      throw CLI::ValidationError("--profile", "under --multikueue is kueue alone");
    }
    return;
  }
  if (!options.manager.empty()) throw CLI::ValidationError("--manager", "goes with --multikueue");
  if (!options.worker.empty()) throw CLI::ValidationError("--worker", "goes with --multikueue");
  if (options.input.files.empty()) throw CLI::RequiredError("FILES");
  if (options.workload.empty()) throw CLI::RequiredError("--workload");
  if (options.to.empty()) throw CLI::RequiredError("--to");
}

}  // namespace

void AddResizeCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ResizeOptions>();
  CLI::App* resize = app.add_subcommand(
      "resize", "Plan another size of an elastic workload: which pods leave, or what a slice gets");
  resize->footer(kResizeExamples);

  AddInputOptions(*resize, options->input);
  resize->get_option("FILES")->required(false);
  resize
      ->add_option("--workload", options->workload,
                   "NAMESPACE/NAME or NAME, of the Workload or of its job")
      ->check(CLI::Validator(CheckWorkloadName, "NAME"));
  resize
      ->add_option("--to", options->to,
                   "NAME=COUNT,...: pods that are wanted, by pod set; those not named stay")
      ->delimiter(',')
      ->allow_extra_args(false)  // so that files may follow
      ->check(CheckCount);
  resize
      ->add_option("--slices", options->slices,
                   "replacement: one slice for all that grows; per-replica: one for each new pod,\n"
                   "admitted or waiting on its own and folded into the workload once")
      ->check(CLI::IsMember({"replacement", "per-replica"}))
      ->capture_default_str();
  resize->add_option("--profile", options->profile, "Rules to decide by")
      ->check(CLI::IsMember({"kueue", "espalier"}))
      ->capture_default_str();
  resize->add_option("--feature-gates", options->input.feature_gates,
                     "Kueue's gates that change a decision: Name=true,Other=false");
  AddBackendOptions(*resize, options->backend);
  resize
      ->add_option("-o,--output", options->output,
                   "table; wide: whole reasons on narrow terminals; json, yaml: for scripts")
      ->check(CLI::IsMember({"table", "wide", "json", "yaml"}))
      ->capture_default_str();
  AddColorOption(*resize, options->color);
  resize->add_flag("--multikueue", options->multikueue,
                   "Show each step of a job that changes its size in a worker cluster");
  resize->add_option("--manager", options->manager,
                     "With --multikueue: files with the objects of the manager cluster");
  resize->add_option(
      "--worker", options->worker,
      "With --multikueue: NAME=FILE..., files with the objects of a worker cluster; several times\n"
      "for several clusters, in one of which the job is");
  resize->callback([options, &exit_code] {
    CheckOptions(*options);
    exit_code = RunResize(*options);
  });
}

}  // namespace espalier
