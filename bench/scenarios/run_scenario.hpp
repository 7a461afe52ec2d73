// Runs one scenario: measures it, checks its answers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/scenarios/floors.hpp"
#include "bench/scenarios/loaded_scenario.hpp"
#include "bench/scenarios/measure.hpp"
#include "bench/scenarios/quality.hpp"
#include "bench/scenarios/scenario_table.hpp"
#include "host/engine/backend.hpp"
#include "host/model/result.hpp"
#include "host/nested/nested_runner.hpp"

namespace espalier {

struct ScenarioResult;

struct RunOptions {
  std::function<Result<std::shared_ptr<Backend>>()> make_backend;
  // Makes the runner that decides nested gangs.
  std::function<std::unique_ptr<NestedRunner>()> make_nested_runner;
  RepeatOptions repeat;
  std::int64_t gangs = 0;  // only this many, from the first; 0: all
  bool check = true;
  // Returns the digest of the first `gangs` answers as the plain implementation on one thread gives
  // them; empty: not compared.
  std::function<Result<std::string>(const Scenario&, std::int64_t gangs)> plain_digest;
  // Measures a scenario over the wire, which needs the service; empty: such scenarios are left out.
  std::function<Result<void>(const LoadedScenario&, const RunOptions&, ScenarioResult&)> end_to_end;
  std::string cases_folder;  // folder of the recorded sequences
};

struct ScenarioResult {
  Scenario scenario;
  std::int64_t nodes = 0;
  std::int64_t levels = 0;
  std::int64_t resources = 0;
  std::int64_t shapes = 0;  // shapes that gangs use
  std::int64_t gangs = 0;
  double setup_seconds = 0;  // generating and loading, not measured
  std::vector<Stage> stages;
  LeastWork least;  // least work of the stage `floor_stage`
  std::string floor_stage = "compute";
  std::string digest;
  std::vector<std::string> notes;     // figures that no stage has, a clause each
  std::vector<std::string> checks;    // checks that passed
  std::vector<std::string> problems;  // checks that failed
  std::vector<QualityFigure> quality;
  std::int64_t peak_memory_bytes = 0;

  const Stage* Find(std::string_view stage) const;
};

// Fills in the facts about the cluster and the queue.
void Describe(const LoadedScenario& loaded, ScenarioResult& result);

// Runs a scenario. Errors: kBadInput for a scenario that cannot be generated, kNotFound for a mode
// that needs the service when there is none or for a recorded file that does not exist, and those
// of the back end. Wrong answers are `problems`, not errors.
Result<ScenarioResult> RunScenario(const Scenario& scenario, const RunOptions& options);

}  // namespace espalier
