// espalier bench: how fast, how close to what the machine can do, and are the answers right?
#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "bench/scenarios/run_scenario.hpp"
#include "bench/scenarios/scenario_table.hpp"
#include "fallback_cpu/nested_cpu.hpp"
#include "service/backends/backends.hpp"
#include "service/cli/bench/bench_dispatch.hpp"
#include "service/cli/bench/bench_end_to_end.hpp"
#include "service/cli/bench/bench_open_loop.hpp"
#include "service/cli/bench/bench_report.hpp"
#include "service/cli/bench/bench_updates.hpp"
#include "service/cli/bench/bench_victims.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/reports/plain_form.hpp"
#include "service/cli/terminal/exit_code.hpp"
#include "service/cli/terminal/progress_bar.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"
#include "service/cli/terminal/text_table.hpp"

namespace espalier {
namespace {

struct BenchOptions {
  std::vector<std::string> scenarios;
  std::string suite;
  int threads = 0;
  std::string backend = "cpu";
  int repeats = 0;
  double seconds = 10;
  std::int64_t gangs = 0;
  bool list = false;
  bool no_checks = false;
  std::string cases = "tests/data/cases";
  std::string output = "table";
};

constexpr const char* kBenchExamples = R"(Examples:
  What is there to measure?
    espalier bench --list

  The headlines in a minute:
    espalier bench --suite smoke

  Some scenarios, all variants of them or one:
    espalier bench B21 B23-sequential-131k/S256

  One core against two:
    espalier bench B21 --threads 1
    espalier bench B21 --threads 2

  Results to keep and to compare (bench/compare.py):
    espalier bench --suite full --output json > bench/results/2026-11-22.json

  Do two machines answer alike?
    espalier bench B23 --repeat 1 --output digest

A line is one part of the work: `resolve` turns words into integers, `compute` answers, and so on.
OF FLOOR holds the median against the least work that must be done, at the speed this machine
showed a moment ago: at 100 % nothing could be faster. docs/performance.md explains every column.

Answers are checked: no node gives more than it had, gangs are whole, levels are kept, and the
digest is that of the same questions on one thread without vector instructions.

Exit codes: 0 all answers right; 1 some wrong; 2 wrong command line; 3 a scenario named that cannot
be run; 4 no GPU or memory, or output lost; 5 internal error.)";

std::string ScenariosText() {
  std::vector<TableRow> rows;
  for (const Scenario& scenario : AllScenarios()) {
    rows.push_back(
        {scenario.full_name(), std::string(ToString(scenario.mode)),
         scenario.recorded.empty() ? scenario.topology.name : scenario.recorded,
         scenario.recorded.empty() ? scenario.prefill : "", scenario.mix,
         scenario.target ? std::string(scenario.target->name) : "",
         fmt::format("{}{}", scenario.smoke ? "smoke " : "", scenario.gate ? "gate" : "")});
  }
  return RenderTable({"SCENARIO", "MODE", "TOPOLOGY", "PREFILL", "MIX", "TARGET", "SUITE"}, rows);
}

class BenchRun {
 public:
  explicit BenchRun(const BenchOptions& options) : options_(options) {}

  ExitCode Run(const std::vector<Scenario>& scenarios, bool named) {
    report_.machine = ReadMachineFacts();
    report_.backend = options_.backend;
    report_.threads = options_.threads > 0 ? options_.threads : report_.machine.cores;
    report_.floors = MeasureFloors(report_.threads);
    {
      ProgressBar progress("scenarios", scenarios.size());
      for (const Scenario& scenario : scenarios) {
        Result<ScenarioResult> result = RunScenario(scenario, MakeRunOptions());
        if (result) {
          report_.results.push_back(*std::move(result));
        } else if (result.error().error_class == ErrorClass::kNotFound) {
          report_.left_out.push_back(result.error().message);
        } else {
          return ReportError(result.error());
        }
        progress.Update(report_.results.size() + report_.left_out.size());
      }
    }
    report_.floors = Better(report_.floors, MeasureFloors(report_.threads));
    Print();
    const bool wrong = std::ranges::any_of(
        report_.results, [](const ScenarioResult& result) { return !result.problems.empty(); });
    if (wrong) return kExitNo;
    return named && !report_.left_out.empty() ? kExitBadInput : kExitOk;
  }

 private:
  RunOptions MakeRunOptions() const {
    RunOptions run;
    run.make_backend = [this] { return MakeBackend(options_.backend, options_.threads); };
    run.make_nested_runner = MakeNestedCpuRunner;
    run.repeat = {options_.repeats, options_.seconds};
    run.gangs = options_.gangs;
    run.check = !options_.no_checks;
    run.end_to_end = [](const LoadedScenario& loaded, const RunOptions& run_options,
                        ScenarioResult& result) {
      switch (result.scenario.mode) {
        case BenchMode::kUpdates:
          return RunUpdates(loaded, run_options, result);
        case BenchMode::kDispatch:
          return RunDispatch(loaded, run_options, result);
        case BenchMode::kOpenLoop:
          return RunOpenLoop(loaded, run_options, result);
        case BenchMode::kVictims:
          return RunVictims(loaded, run_options, result);
        case BenchMode::kControllerCycle:
          return RunControllerCycle(loaded, run_options, result);
        default:
          return RunEndToEnd(loaded, run_options, result);
      }
    };
    run.cases_folder = options_.cases;
    run.plain_digest = [](const Scenario& scenario, std::int64_t gangs) {
      return PlainFormDigest(scenario.full_name(), gangs);
    };
    return run;
  }

  void Print() const {
    if (options_.output == "json") {
      WriteOutput(BenchJson(report_));
    } else if (options_.output == "digest") {
      WriteOutput(BenchDigests(report_));
    } else {
      WriteOutput(BenchTable(report_));
    }
  }

  const BenchOptions& options_;
  BenchReport report_;
};

ExitCode RunBench(const BenchOptions& options) {
  if (options.list) {
    WriteOutput(ScenariosText());
    return kExitOk;
  }
  if (options.scenarios.empty()) {
    const std::string suite = options.suite.empty() ? "smoke" : options.suite;
    return BenchRun(options).Run(ScenariosOfSuite(suite), false);
  }
  const Result<std::vector<Scenario>> scenarios = FindScenarios(options.scenarios);
  if (!scenarios) {
    ReportError(scenarios.error());
    return kExitUsage;
  }
  return BenchRun(options).Run(*scenarios, true);
}

}  // namespace

void AddBenchCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* bench = app.add_subcommand(
      "bench", "Measure this machine on named scenarios, hold it to its floors, check the answers");
  bench->footer(kBenchExamples);
  CLI::Option* names = bench->add_option("SCENARIO", options->scenarios,
                                         "B21, B21-nominate-131k or B21/R8; without any, a suite");
  bench->add_option("--suite", options->suite, "smoke (without SCENARIO), gate or full")
      ->check(CLI::IsMember({"smoke", "gate", "full"}))
      ->excludes(names);
  bench->add_option("--threads", options->threads, "Threads to decide with; 0: one per core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  bench->add_option("--backend", options->backend, "Where to decide")
      ->check(CLI::IsMember({"cpu", "cuda", "emulated"}))
      ->capture_default_str();
  bench
      ->add_option("--repeat", options->repeats,
                   "Exactly so many repeats; 0: 30, or 1,000 of what takes less than a millisecond")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  bench->add_option("--seconds", options->seconds, "Without --repeat: about so long a scenario")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  bench->add_option("--gangs", options->gangs, "Only the first so many gangs; 0: all of them")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  bench->add_flag("--no-checks", options->no_checks, "Do not check the answers");
  bench->add_option("--cases", options->cases, "The folder with the recorded sequences")
      ->capture_default_str();
  bench->add_flag("--list", options->list, "List the scenarios");
  bench
      ->add_option("-o,--output", options->output,
                   "table; json: for bench/compare.py; digest: the SHA-256 of the answers")
      ->check(CLI::IsMember({"table", "json", "digest"}))
      ->capture_default_str();
  bench->callback([options, &exit_code] { exit_code = RunBench(*options); });
}

}  // namespace espalier
