// What scheduling cycles over a saved cluster decided, ready to be printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "host/engine/feature_gates.hpp"
#include "host/kueue/scheduling_cycle.hpp"
#include "service/cli/terminal.hpp"

namespace espalier {

// Workloads by what became of them. One that was evicted and admitted again counts in both.
struct CycleCounts {
  std::size_t admitted = 0;
  std::size_t replaced = 0;
  std::size_t evicted = 0;
  std::size_t not_admitted = 0;   // evaluated, and refused in the last evaluation
  std::size_t not_evaluated = 0;  // pending and not looked at yet
  std::int64_t lost_pods = 0;     // of the admitted (LostPods)
  bool operator==(const CycleCounts&) const = default;
};
CycleCounts CountDecisions(const SchedulingCyclesResult& result);

// A row per decision, how many nodes take part and, last, a line of counts.
std::string CycleTable(const SchedulingCyclesResult& result, const TextStyle& style = {});

// One JSON object per decision and line: evaluation, cycle, clusterQueue, workload, status and,
// where there is one, reason.
std::string CycleLines(const SchedulingCyclesResult& result);

// {cycles, decisions}: the same members and, for what was admitted or replaced, `admission` as in a
// Kueue Workload's status (v1beta2).
std::string CycleJson(const SchedulingCyclesResult& result, const FeatureGates& gates);

}  // namespace espalier
