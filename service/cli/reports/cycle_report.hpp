// Prints what scheduling cycles over a saved cluster decided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/kueue/cycle/scheduling_cycle.hpp"
#include "host/kueue/planning/placement_plan.hpp"
#include "service/cli/reports/reported_gangs.hpp"
#include "service/cli/terminal/terminal.hpp"

namespace espalier {

// Counts of workloads by outcome. One that was evicted and admitted again counts in both.
struct CycleCounts {
  std::size_t admitted = 0;
  std::size_t replaced = 0;
  std::size_t kept = 0;  // where they are, although a node of theirs failed
  std::size_t evicted = 0;
  std::size_t not_admitted = 0;   // evaluated, and refused in the last evaluation
  std::size_t not_evaluated = 0;  // pending and not evaluated yet
  std::int64_t lost_pods = 0;     // of the admitted ones (LostPods)
  std::size_t not_as_asked = 0;   // admitted ones that a requirement is not honoured of
  std::size_t left_behind = 0;    // admitted ones without pods or gangs that need no others
  bool operator==(const CycleCounts&) const = default;
};
CycleCounts CountDecisions(const SchedulingCyclesResult& result);

// Returns a table with a row per decision, how many nodes take part and, last, a line of counts.
std::string CycleTable(const SchedulingCyclesResult& result, const TextStyle& style = {});

// Returns one line with a JSON object per decision: evaluation, cycle, clusterQueue, workload,
// status and, if there is one, reason.
std::string CycleLines(const SchedulingCyclesResult& result);

// Returns {cycles, decisions} with the same members and, for admitted and replaced workloads,
// `admission` as in a Kueue Workload's status (v1beta2).
std::string CycleJson(const SchedulingCyclesResult& result, const FeatureGates& gates);

// Returns the workloads as gangs of a report: those that hold a reservation now, and those that
// wait, which are in `planned`, each with its last decision.
std::vector<ReportedGang> CycleGangs(const SchedulingCyclesResult& result,
                                     std::span<const PlannedWorkload> planned,
                                     NearMissReader& misses);

}  // namespace espalier
