// Writes results of the benchmark suite as a table, as JSON, or as digests.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/scenarios/floors.hpp"
#include "bench/scenarios/machine_facts.hpp"
#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// All results of one call of the command.
struct BenchReport {
  MachineFacts machine;
  MachineFloors floors;
  std::string backend;
  int threads = 1;
  std::vector<ScenarioResult> results;
  std::vector<std::string> left_out;  // scenarios that could not be run, and why
};

// Returns a table with a line per stage; below it machine, floors and problems.
std::string BenchTable(const BenchReport& report);

// Returns one JSON object: facts, floors, and a result per scenario. Times are integers, in
// nanoseconds.
std::string BenchJson(const BenchReport& report);

// Returns a line "DIGEST  SCENARIO" for each scenario, as sha256sum prints them.
std::string BenchDigests(const BenchReport& report);

}  // namespace espalier
