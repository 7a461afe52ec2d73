// Chooses a ResourceFlavor of one ClusterQueue for each pod set of a workload (R20.9, R20.10,
// R21.12, R21.13).
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/kueue/cycle/quota.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/model/work_budget.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// The ways in which an assignment fits, from worst to best (R21.1).
enum class AssignmentMode {
  kNoFit,    // not now and not after any preemption
  kPreempt,  // only after others are preempted
  kFit,
};

// Why a flavor was passed over; the texts are Kueue's own.
struct FlavorRefusal {
  enum class Kind {
    kNoMatch,       // the pod set and the flavor do not go together
    kExceedsQuota,  // more than the queue's whole quota
    kQuotaInUse,    // more than the queue's unused quota
    kTopology,      // the placement failed
  };
  Kind kind = Kind::kNoMatch;
  std::string text;
  bool operator==(const FlavorRefusal&) const = default;
};

struct PodSetFlavors {
  std::string name;
  std::int32_t count = 0;
  StringMap flavors;   // requested resource -> flavor; empty when none fits
  Resources requests;  // of all `count` pods, as quota counts them
  AssignmentMode mode = AssignmentMode::kFit;
  std::vector<FlavorRefusal> refusals;  // empty when the mode is kFit
};

// The next flavor to try for each (pod set, resource group), kept from the last evaluation of a
// workload. An entry exists only while flavors are left.
using FlavorCursors = std::map<std::pair<std::string, std::size_t>, std::size_t>;

struct FlavorAssignment {
  // In spec order within each group of pod sets; ends with the first group that found no flavor.
  std::vector<PodSetFlavors> pod_sets;
  FlavorCursors next_flavors;

  PodSetFlavors* Find(std::string_view pod_set);
  AssignmentMode Mode() const;  // the worst of the pod sets'
  // "couldn't assign flavors to pod set main: ..." for every pod set with refusals (R18.8); empty
  // when there are none.
  std::string Message() const;
};

// Returns the pods of each pod set, in spec order, less those that are reclaimable (R20.5).
std::vector<std::int32_t> PendingCounts(const Workload& workload);

struct FlavorChoiceContext {
  const ClusterLookup& lookup;
  const ClusterQueue& queue;
  const Quota* quota = nullptr;              // null: every flavor has room
  const Workload* replaced_slice = nullptr;  // ends when this workload is admitted (R21.13)
  FlavorCursors next_flavors;                // where to resume; empty: at the first flavor
  WorkBudget& budget = WorkBudget::Unlimited();
  const Workload* parent = nullptr;  // of a slice per replica, which stays on its flavors (W8.9)
};

// Chooses flavors for all pod sets of a workload. `counts`: pods of each pod set. The result is
// meaningless once the budget is stopped.
FlavorAssignment ChooseFlavors(const Workload& workload, std::span<const std::int32_t> counts,
                               const FlavorChoiceContext& context);

// Returns why the workload, which asks for another Topology by name, cannot use the flavor; nullopt
// when it can (W4.6).
std::optional<std::string> WhyOtherTopology(const Workload& workload, const ResourceFlavor& flavor);

// Returns why the pod set cannot use the flavor, quota apart, or nullopt when it can. `implied`:
// the queue is TAS-only (R20.1). `covered`: the resources of the flavor's resource group.
std::optional<std::string> WhyFlavorDoesNotMatch(const PodSet& pod_set,
                                                 const ResourceFlavor& flavor,
                                                 std::span<const std::string> covered, bool implied,
                                                 const ClusterLookup& lookup);

// Returns what a workload is tried on, one after the other, while its queue finds a flavor and no
// place on it: the flavors of each evaluation in the order of the evaluations (R21.12). Ends after
// `most`. `context.next_flavors` is where to begin.
std::vector<FlavorAssignment> AllFlavorChoices(const Workload& workload,
                                               std::span<const std::int32_t> counts,
                                               FlavorChoiceContext context, std::size_t most);

// Returns the pod set's flavors that have a topology, each once, in byte-wise order.
std::vector<std::string> TasFlavors(const StringMap& flavors, const ClusterLookup& lookup);

}  // namespace espalier
