// Prints the outcome of every pending workload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/kueue/planning/placement_plan.hpp"
#include "host/kueue/planning/planned_answers.hpp"
#include "host/model/cluster.hpp"
#include "service/cli/reports/domain_text.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/terminal.hpp"

namespace espalier {

// A workload that was placed as a tree, within the report that it is of.
struct PlacedTree {
  const NestedRequest& request;
  const NestedAnswer& answer;
};

// The input of a report. Points into its parts, which must outlive it.
struct PlacementReport {
  const Cluster& cluster;
  const ClusterStateInput& state;
  std::span<const PlannedWorkload> workloads;  // in queue order
  std::span<const WorkloadAnswer> answers;     // one per workload; empty when nothing was requested
  std::string nodes;  // lines on how many nodes take part, without a final newline
  // Verdicts by workload: whether one that was not placed would fit on empty nodes. Or empty.
  std::span<const std::optional<NestedStatus>> verdicts = {};
  // Answers by workload on the other flavors that its queue tries. Or empty.
  std::span<const std::vector<WorkloadAnswer>> other_answers = {};

  // Returns the request and answer of a workload that was placed as a tree; nullopt for others.
  std::optional<PlacedTree> TreeAt(std::size_t workload) const;
  // Returns the verdict on a workload that was not placed.
  std::optional<NestedStatus> VerdictAt(std::size_t workload) const;
  // Returns why a workload that was not placed has no place on its other flavors, a text for each.
  std::vector<std::string> OtherReasonsAt(std::size_t workload) const;
};

enum class Outcome { kPlaced, kNotPlaced, kNothingToPlace };

Outcome OutcomeOf(const PlannedWorkload& workload, const WorkloadAnswer& answer);
// Returns the outcome in either form, by the workload's position in the report.
Outcome OutcomeOf(const PlacementReport& report, std::size_t workload);

// Returns why a workload was not placed, in Kueue's words ("couldn't assign flavors to pod set
// main: ...", R18.8), or why it has nothing to place; "" for a placed one.
std::string ReasonOf(const PlannedWorkload& workload, const WorkloadAnswer& answer);

// Returns the reason in either form.
std::string ReasonOf(const PlacementReport& report, std::size_t workload);

// Returns whether the nodes would hold it if they were empty: "not now: ...", "never: ..."; "" when
// that is not known. `flavors`: whose nodes, where that is to be said.
std::string VerdictText(std::optional<NestedStatus> verdict, const std::string& flavors = {});

// Returns a note such as " (flavor gpu is a guess)" when the workload's flavor is a guess, else "".
std::string GuessText(const PlannedWorkload& workload);

// Returns, for a tree placed in part, whether something is not placed that needs nothing else of
// its workload: pods of which none is required, or a whole gang, as each replica is one (R25.3).
bool LeavesBehind(const PlacedTree& tree);

struct OutcomeCounts {
  std::size_t placed = 0;
  std::size_t not_placed = 0;
  std::size_t nothing_to_place = 0;
  std::int64_t lost_pods = 0;    // of the placed ones (LostPods)
  std::size_t in_part = 0;       // placed ones with fewer pods than allowed
  std::size_t left_behind = 0;   // of these, those without pods or gangs that need no others
  std::size_t with_fewer = 0;    // placed ones with fewer pods than asked for (R21.11)
  std::size_t not_as_asked = 0;  // placed ones that a requirement is not honoured of
  std::size_t on_a_guess = 0;    // of all three, those with a guessed flavor
  bool operator==(const OutcomeCounts&) const = default;
};
OutcomeCounts CountOutcomes(const PlacementReport& report);
// Returns a line such as "1 placed, 3 not placed, 0 with nothing to place", without a newline.
std::string SummaryLine(const OutcomeCounts& counts);

// Returns for each pod set of a request how many of its pods have no place although it counts as
// placed (LostPods).
std::vector<std::int64_t> LostPodsOf(const WorkloadRequest& request, const WorkloadAnswer& answer);

// Returns notes on what the table does not show, a sentence each.
std::vector<std::string> NotesOf(const PlacementReport& report);

// Returns a table with a row per pod set, how many nodes take part and, last, a line of counts.
// With kFull it also has queue, priority and flavor and names every host.
std::string PlacementTable(const PlacementReport& report, Detail detail,
                           const TextStyle& style = {});

// Writes a v1 List of Kueue Workloads (v1beta2), in queue order, each with its name and what
// placement would write to its status: `admission` when placed, a QuotaReserved condition when not.
// Workloads with nothing to place are left out.
void WritePlacementObjects(const PlacementReport& report, const FeatureGates& gates,
                           ObjectWriter& out);

}  // namespace espalier
