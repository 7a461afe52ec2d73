// Results of the benchmark suite as a table, as JSON, or as digests.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/scenarios/floors.hpp"
#include "bench/scenarios/machine_facts.hpp"
#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// Everything one call of the command found out.
struct BenchReport {
  MachineFacts machine;
  MachineFloors floors;
  std::string backend;
  int threads = 1;
  std::vector<ScenarioResult> results;
  std::vector<std::string> left_out;  // scenarios that could not be run, and why
};

// A line per stage; below it machine, floors and what is wrong.
std::string BenchTable(const BenchReport& report);

// One object: facts, floors, and a result per scenario. Times are integers, in nanoseconds.
std::string BenchJson(const BenchReport& report);

// As sha256sum prints them: "DIGEST  SCENARIO", a line each.
std::string BenchDigests(const BenchReport& report);

}  // namespace espalier
