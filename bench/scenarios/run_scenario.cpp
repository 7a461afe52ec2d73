#include "bench/scenarios/run_scenario.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bench/scenarios/machine_facts.hpp"
#include "bench/scenarios/run_changes.hpp"
#include "bench/scenarios/run_cycle.hpp"
#include "bench/scenarios/run_device_host.hpp"
#include "bench/scenarios/run_gangs.hpp"
#include "bench/scenarios/run_nested.hpp"
#include "bench/scenarios/run_recorded.hpp"
#include "bench/scenarios/run_what_if.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

Result<void> Run(const LoadedScenario& loaded, const std::shared_ptr<Backend>& backend,
                 const RunOptions& options, ScenarioResult& result) {
  switch (result.scenario.mode) {
    case BenchMode::kNominate:
      RunGangs(loaded, GangsMode::kCold, *backend, options, result);
      break;
    case BenchMode::kNominateWarm:
      RunGangs(loaded, GangsMode::kWarm, *backend, options, result);
      break;
    case BenchMode::kSequential:
      RunGangs(loaded, GangsMode::kInOrder, *backend, options, result);
      break;
    case BenchMode::kChurn:
      RunChurn(loaded, *backend, options, result);
      break;
    case BenchMode::kLoad:
      RunLoad(loaded, *backend, options, result);
      break;
    case BenchMode::kCycle:
      return RunCycle(loaded, backend, options, result);
    case BenchMode::kNested:
      return RunNested(loaded, options, result);
    case BenchMode::kEndToEnd:
    case BenchMode::kUpdates:
    case BenchMode::kControllerCycle:
    case BenchMode::kDispatch:
    case BenchMode::kOpenLoop:
    case BenchMode::kVictims:
      return options.end_to_end(loaded, options, result);
    case BenchMode::kWhatIf:
      return RunWhatIf(loaded, backend, options, result);
    case BenchMode::kWhatIfBatch:
      return RunWhatIfBatch(loaded, backend, options, result);
    case BenchMode::kAtlas:
      return RunAtlas(loaded, backend, options, result);
    case BenchMode::kDeviceHost:
      return RunDeviceHost(loaded, backend, options, result);
    case BenchMode::kRecorded:
      break;
  }
  return {};
}

tl::unexpected<Error> LeftOut(const Scenario& scenario, const char* why) {
  return tl::unexpected(
      Error{ErrorClass::kNotFound, fmt::format("{}: left out: {}", scenario.full_name(), why)});
}

}  // namespace

const Stage* ScenarioResult::Find(std::string_view stage) const {
  const auto it = std::ranges::find(stages, stage, &Stage::name);
  return it == stages.end() ? nullptr : &*it;
}

void Describe(const LoadedScenario& loaded, ScenarioResult& result) {
  const FlavorSnapshot& snapshot = loaded.flavor().snapshot();
  result.nodes = snapshot.leaf_count();
  result.levels = static_cast<std::int64_t>(snapshot.levels().size());
  result.resources = static_cast<std::int64_t>(snapshot.resources().size());
  result.gangs = static_cast<std::int64_t>(loaded.mix.gangs.size());
  std::vector<std::int32_t> shapes;
  for (const GangRow& gang : loaded.mix.gangs) shapes.push_back(gang.shape);
  std::ranges::sort(shapes);
  result.shapes = std::unique(shapes.begin(), shapes.end()) - shapes.begin();
}

Result<ScenarioResult> RunScenario(const Scenario& scenario, const RunOptions& options) {
  if (IsOverWire(scenario.mode) && !options.end_to_end) {
    return LeftOut(scenario, "there is no service here");
  }
  ResetPeakMemory();
  const Result<std::shared_ptr<Backend>> backend = options.make_backend();
  if (!backend) return tl::unexpected(backend.error());
  ScenarioResult result;
  result.scenario = scenario;
  Result<void> run;
  if (scenario.mode == BenchMode::kRecorded) {
    run = RunRecorded(**backend, options, result);
  } else {
    const double start = Now();
    const Result<LoadedScenario> loaded = LoadScenario(scenario, options.gangs);
    if (!loaded) return tl::unexpected(loaded.error());
    Describe(*loaded, result);
    result.setup_seconds = Now() - start;
    run = Run(*loaded, *backend, options, result);
  }
  if (!run) return tl::unexpected(run.error());
  result.peak_memory_bytes = PeakMemoryBytes();
  return result;
}

}  // namespace espalier
