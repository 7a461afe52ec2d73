#include "bench/scenarios/run_scenario.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bench/scenarios/loaded_scenario.hpp"
#include "bench/scenarios/machine_facts.hpp"
#include "bench/scenarios/run_gangs.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

void Describe(const LoadedScenario& loaded, ScenarioResult& result) {
  const FlavorSnapshot& snapshot = loaded.flavor().snapshot();
  result.nodes = snapshot.leaf_count();
  result.levels = static_cast<std::int64_t>(snapshot.levels().size());
  result.resources = static_cast<std::int64_t>(snapshot.resources().size());
  result.gangs = static_cast<std::int64_t>(loaded.mix.gangs.size());
  std::vector<std::int32_t> shapes;
  for (const Gang& gang : loaded.mix.gangs) shapes.push_back(gang.shape);
  std::ranges::sort(shapes);
  result.shapes = std::ranges::unique(shapes).begin() - shapes.begin();
}

}  // namespace

const Stage* ScenarioResult::Find(std::string_view stage) const {
  const auto it = std::ranges::find(stages, stage, &Stage::name);
  return it == stages.end() ? nullptr : &*it;
}

Result<ScenarioResult> RunScenario(const Scenario& scenario, const RunOptions& options) {
  if (scenario.mode == BenchMode::kWhatIf) {
    return tl::unexpected(
        Error{ErrorClass::kNotFound,
              fmt::format("{}: what-if questions join later; there is nothing to measure yet",
                          scenario.full_name())});
  }
  ResetPeakMemory();
  ScenarioResult result;
  result.scenario = scenario;
  const double start = Now();
  const Result<LoadedScenario> loaded = LoadScenario(scenario, options.gangs);
  if (!loaded) return tl::unexpected(loaded.error());
  const Result<std::shared_ptr<Backend>> backend = options.make_backend();
  if (!backend) return tl::unexpected(backend.error());
  Describe(*loaded, result);
  result.setup_seconds = Now() - start;
  switch (scenario.mode) {
    case BenchMode::kNominate:
    case BenchMode::kNominateWarm:
    case BenchMode::kSequential:
      RunGangs(*loaded, **backend, options, result);
      break;
    default:
      return tl::unexpected(Error{
          ErrorClass::kNotFound,
          fmt::format("{}: mode {} joins later", scenario.full_name(), ToString(scenario.mode))});
  }
  result.peak_memory_bytes = PeakMemoryBytes();
  return result;
}

}  // namespace espalier
