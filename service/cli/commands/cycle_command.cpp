// espalier cycle: what would Kueue's scheduler decide on a saved cluster?
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "host/engine/engine.hpp"
#include "host/kueue/cycle/scheduling_cycle.hpp"
#include "host/kueue/elastic/owned_jobs.hpp"
#include "host/kueue/objects/node_participation.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/kueue/planning/placement_plan.hpp"
#include "host/kueue/validation/pods_without_node.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/parse_time.hpp"
#include "service/backends/backends.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/html_report/html_report.hpp"
#include "service/cli/options/backend_options.hpp"
#include "service/cli/options/input.hpp"
#include "service/cli/reports/cycle_report.hpp"
#include "service/cli/reports/reported_gangs.hpp"
#include "service/cli/terminal/progress_bar.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"
#include "service/cli/terminal/terminal.hpp"

namespace espalier {
namespace {

struct CycleOptions {
  InputOptions input;
  bool until_stable = false;
  bool release_stopped = false;
  std::string now;  // RFC 3339; empty: now
  BackendOptions backend;
  std::string output = "table";  // or wide, json, jsonl
  std::string color = "auto";
  std::string report;  // file; empty: none
};

constexpr const char* kCycleExamples = R"(Examples:
  What does the next cycle of Kueue's scheduler decide?
    espalier snapshot -o cluster.json.gz
    espalier cycle cluster.json.gz

  And all cycles after it, until nothing more can be admitted:
    espalier cycle cluster.json.gz --until-stable

  What would a stopped queue admit, were it released?
    espalier cycle cluster.json queues.json --until-stable --release-stopped

  Who is refused, and why?
    espalier cycle cluster.json.gz --until-stable -o jsonl |
      jq -r 'select(.status == "not-admitted") | [.workload, .reason] | @tsv'

  The whole cluster in a browser, as it is then:
    espalier cycle cluster.json.gz --until-stable --report cluster.html

  Several nodes of a workload failed at once: can all their pods go elsewhere?
    espalier cycle cluster.json.gz --profile espalier

  Would a gate change anything?
    espalier cycle cluster.json.gz --until-stable -o jsonl > default.jsonl
    espalier cycle cluster.json.gz --until-stable -o jsonl \
      --feature-gates TASBalancedPlacement=true | diff default.jsonl -

A cycle takes the head of every ClusterQueue (priority, then age, then uid), finds flavors with
quota and a placement, and admits what still fits when its turn comes. Admitted workloads with an
unhealthy node get replacements first. `place` answers without queues and quota; this one obeys
both. A ClusterQueue that is stopped, lacks a flavor or a check, or selects other namespaces admits
nothing, as in Kueue. Preemption and cohorts are not simulated: what is left out is reported on
standard error, for each queue that it concerns.

Profile kueue replaces the first unhealthy node of a workload only. Profile espalier replaces all of
them together: what is left of broken slices is made whole where it is, and whole slices stay in the
domain that the workload requires. It also places gang workloads that ask for more than Kueue can say
as `place` does; in profile kueue their rows tell what is not honoured, and the exit code is 1 unless
--best-effort is given.

An elastic job in the input that wants other counts than its workload is resized first: lower counts
are written in place, and for more pods a slice asks to replace the workload (`resize` plans one).
Another job that wants other counts keeps those of its workload, which is said.

Outcomes: admitted; quota reserved (admission checks are still to come); requeued, with the reason;
replaced (pods of an unhealthy node got another place); evicted (there was none); kept (pods stay on
an unhealthy node, with the reason).

Exit codes: 0 all pending workloads admitted; 1 some not; 2 wrong command line; 3 wrong input;
4 no GPU or memory, or output lost; 5 internal error.)";

void Print(const SchedulingCyclesResult& result, const CycleOptions& options,
           const FeatureGates& gates) {
  for (const std::string& note : result.notes) Tell(note);
  const bool table = options.output == "table" || options.output == "wide";
  if (!table) Tell(NodeLines(result.cluster));
  const TextStyle style = OutputStyle(options.color, options.output == "wide");
  if (options.output == "json") {
    WriteOutput(CycleJson(result, gates));
  } else if (options.output == "jsonl") {
    WriteOutput(CycleLines(result));
  } else {
    WriteOutput(CycleTable(result, style));
  }
}

std::int64_t NowSeconds(const std::string& text) {
  if (const auto seconds = ParseTime(text)) return *seconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::string CheckTime(const std::string& text) {
  return ParseTime(text) ? "" : text + " is not a time; want one such as 2026-01-31T12:00:00Z";
}

// Takes out the workloads that nothing can place, whatever the cluster, and tells why. Returns how
// many there were.
std::size_t LeaveOutRefused(Cluster& cluster) {
  return std::erase_if(cluster.workloads, [](const Workload& workload) {
    if (workload.refusal.empty() || !IsPending(workload)) return false;
    Tell(fmt::format("workload {} is left out: {}", Excerpt(workload.key.ToString()),
                     workload.refusal));
    return true;
  });
}

// Pods that their domain has room for, and no node of it.
void NotePodsWithoutNode(SchedulingCyclesResult& result) {
  Cluster& cluster = result.cluster;
  PodsWithoutNode without(cluster, cluster.nodes);
  std::map<ObjectKey, const Decision*> last;
  for (const Decision& decision : result.decisions) last[decision.workload] = &decision;
  for (Workload& workload : cluster.workloads) {
    const auto decision = last.find(workload.key);
    if (decision == last.end()) continue;
    std::ranges::move(without.Find(workload, decision->second->assignments),
                      std::back_inserter(workload.not_honoured));
  }
}

Result<void> WriteReport(const SchedulingCyclesResult& result, const CycleOptions& options,
                         const Engine& engine) {
  Result<PlacementPlan> plan = PlanPlacement(result.cluster, {.gates = engine.gates()});
  if (!plan) return tl::unexpected(plan.error());
  const Result<ClusterState> state = ClusterState::Build(plan->state);
  if (!state) return tl::unexpected(state.error());
  NearMissReader misses(*state, engine);
  return WriteHtmlReport({.command = "espalier cycle",
                          .facts = NodeLines(result.cluster),
                          .about = {},
                          .state = std::move(plan->state),
                          .gangs = CycleGangs(result, plan->workloads, misses)},
                         options.report);
}

ExitCode RunCycle(const CycleOptions& options) {
  if (const auto named = ParseFeatureGates(options.input.feature_gates); !named) {
    ReportError(named.error());
    return kExitUsage;
  }
  InputOptions input = options.input;
  input.with_owned_jobs = true;
  input.names_inactive = true;
  input.now_seconds = NowSeconds(options.now);
  Result<ClusterRead> read = ReadInput(input);
  if (!read) return ReportError(read.error());
  const Result<FeatureGates> gates = GatesOf(read->cluster, input.feature_gates);
  if (!gates) return ReportError(gates.error());
  const std::vector<GangWorkload>& owned = read->owned_jobs;
  std::vector<Workload>& workloads = read->cluster.workloads;
  for (const std::string& note : OptIn(owned, workloads)) Tell(note);
  for (const std::string& note : OtherSizes(owned, workloads, false)) Tell(note);
  HoldBackSurplus(owned, workloads);
  TellGangNotes(read->gang_workloads);
  const std::size_t refused = LeaveOutRefused(read->cluster);
  // A cycle nominates the heads of all queues at once.
  const auto backend = MakeBackend(options.backend.name, options.backend.threads,
                                   read->cluster.cluster_queues.size());
  if (!backend) return ReportError(backend.error());
  const Engine engine(*backend, *gates);
  const auto resized = QueueResizes(ResizesOf(owned, workloads), engine, read->cluster);
  if (!resized) return ReportError(resized.error());
  for (const std::string& note : resized->notes) Tell(note);
  std::optional<ProgressBar> bar(std::in_place, "packing");
  bool deciding = false;
  Result<SchedulingCyclesResult> result =
      RunSchedulingCycles(std::move(read->cluster), engine,
                          {.until_stable = options.until_stable,
                           .joint_replacement = options.input.profile == "espalier",
                           .admissibility = {.now_seconds = NowSeconds(options.now),
                                             .release_stopped = options.release_stopped},
                           .progress = [&](std::size_t looked_at, std::size_t waiting) {
                             if (!deciding) bar.emplace("deciding", waiting);
                             deciding = true;
                             bar->Update(looked_at);
                           }});
  bar.reset();
  if (!result) return ReportError(result.error());
  ReportDeviceFault(**backend);
  NotePodsWithoutNode(*result);
  Print(*result, options, *gates);
  if (!options.report.empty()) {
    const auto written = WriteReport(*result, options, engine);
    if (!written) return ReportError(written.error());
  }
  const CycleCounts counts = CountDecisions(*result);
  const std::size_t no = counts.not_admitted + counts.not_evaluated + refused + resized->refused +
                         (options.input.best_effort ? 0
                                                    : counts.not_as_asked + counts.left_behind +
                                                          (counts.lost_pods > 0 ? 1 : 0));
  return no == 0 ? kExitOk : kExitNo;
}

}  // namespace

void AddCycleCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CycleOptions>();
  CLI::App* cycle = app.add_subcommand(
      "cycle", "Run Kueue's scheduling cycles over a saved cluster: who is admitted, and why not");
  cycle->footer(kCycleExamples);

  AddInputOptions(*cycle, options->input);
  cycle->add_flag("--until-stable", options->until_stable,
                  "Cycles until none can change anything, instead of one");
  cycle->add_flag("--release-stopped", options->release_stopped,
                  "As if no ClusterQueue and no LocalQueue were stopped");
  cycle
      ->add_option("--now", options->now,
                   "The time by which requeueAt of workloads is judged, as 2026-01-31T12:00:00Z;\n"
                   "by default the time it is")
      ->check(CheckTime);
  cycle->add_option("--feature-gates", options->input.feature_gates,
                    "Kueue's gates that change a decision: Name=true,Other=false");
  AddProfileOptions(*cycle, options->input);
  AddBackendOptions(*cycle, options->backend);
  cycle
      ->add_option("-o,--output", options->output,
                   "table; wide: whole reasons on narrow terminals; json: with admissions in "
                   "Kueue's form; jsonl: a decision per line")
      ->check(CLI::IsMember({"table", "wide", "json", "jsonl"}))
      ->capture_default_str();
  AddReportOption(*cycle, options->report);
  AddColorOption(*cycle, options->color);
  cycle->callback([options, &exit_code] { exit_code = RunCycle(*options); });
}

}  // namespace espalier
