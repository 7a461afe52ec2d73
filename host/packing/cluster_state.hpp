// The state of a cluster: one immutable snapshot and, apart from it, what is used right now.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/model/node.hpp"
#include "host/model/resources.hpp"
#include "host/model/result.hpp"
#include "host/model/topology.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/node_columns.hpp"

namespace espalier {

class FlavorState;

// Usage on one leaf of one flavor; `leaf` as in R4.1; `usage` includes pod slots under `pods`.
struct FlavorLeafUsage {
  std::string flavor;
  std::string leaf;
  Resources usage;
  bool operator==(const FlavorLeafUsage&) const = default;
};

// Usage of pods that no topology-aware workload owns, per node (R5.3).
struct NodeUsage {
  std::string node;
  Resources usage;  // includes pod slots under `pods`
  bool operator==(const NodeUsage&) const = default;
};

// Everything a state is built from.
struct ClusterStateInput {
  std::vector<Node> nodes;  // unavailable and foreign nodes are dropped (R3.1, R3.2)
  std::vector<Topology> topologies;
  std::vector<ResourceFlavor> flavors;      // those without a topology are ignored
  std::vector<NodeUsage> non_tas_usage;     // unknown nodes are ignored (R5.3)
  std::vector<FlavorLeafUsage> tas_usage;   // each flavor's own; leaves that do not exist are
                                            // skipped (R5.5)
  bool share_usage_between_flavors = true;  // gate TASHandleOverlappingFlavors (R5.6)
};

class ClusterState {
 public:
  // Errors (kBadInput): a flavor that names an unknown topology, a topology with no level, more
  // than 16 levels or a repeated level, two flavors, topologies or nodes of one name; also why
  // `budget` was stopped. What the state takes, it takes over from the budget.
  static Result<ClusterState> Build(const ClusterStateInput& input,
                                    WorkBudget& budget = WorkBudget::Unlimited());
  // The same from columns, which take the place of `input.nodes` and are not charged; errors of
  // CheckNodeColumns too.
  static Result<ClusterState> BuildFromColumns(NodeColumns columns, const ClusterStateInput& input,
                                               WorkBudget& budget = WorkBudget::Unlimited());

  ClusterState(ClusterState&&) noexcept;
  ClusterState& operator=(ClusterState&&) noexcept;
  ~ClusterState();

  // An independent copy of the usage on the same immutable snapshot. Nothing is known about it.
  ClusterState Clone() const;
  // The same, but what a back end knows about another branch that is gone may serve the copy. The
  // memory of such a branch is used again where there is one; then the time this takes grows with
  // the number of leaves in which the two differ. The error is why `budget` was stopped.
  Result<ClusterState> Branch(WorkBudget& budget) const;
  ClusterState Branch() const { return *Branch(WorkBudget::Unlimited()); }

  // Returns whether both have their nodes packed in the same places: one came to be from the other
  // by branching and changing amounts.
  bool IsBranchOf(const ClusterState& other) const { return spares_ == other.spares_; }

  // Returns the bytes that a clone takes, and a branch at most.
  std::int64_t CloneBytes() const;

  // The state of one flavor, or null when it is unknown or has no topology.
  const FlavorState* Find(std::string_view flavor) const;
  FlavorState* Find(std::string_view flavor);
  std::vector<std::string_view> FlavorNames() const;  // byte-wise order

  // Adds or takes back usage in the named flavors only (R5.7); unknown leaves are skipped (R5.5).
  void AddUsage(const std::vector<FlavorLeafUsage>& usage);
  void RemoveUsage(const std::vector<FlavorLeafUsage>& usage);
  // What the input of a state comes to hold in another place than before.
  struct Change {
    std::vector<FlavorLeafUsage> usage_before;
    std::vector<FlavorLeafUsage> usage_after;
    // Of nodes by their position in the input; what is taken from a node is no capacity.
    std::vector<std::pair<std::size_t, Resources>> capacity_before;
    std::vector<std::pair<std::size_t, Resources>> capacity_after;
  };
  // Makes this state what Build would make of the changed input, in time that grows with the
  // change. Returns false, and has done nothing, where only Build can: amounts are so large that
  // sums may have saturated, or of a resource that no node had.
  bool Apply(const Change& change, bool shared);

  // Returns whether any two flavors may see each other's usage (R5.6).
  bool FlavorsMayShare() const;
  // Lets the other flavors see usage that was added to the named ones only (R5.6).
  void ShareUsage(const std::vector<FlavorLeafUsage>& usage);

 private:
  ClusterState();
  static Result<ClusterState> Build(std::shared_ptr<const NodeColumns> nodes,
                                    const ClusterStateInput& input, WorkBudget& budget);
  void TakeOverMemory(WorkBudget& budget, std::int64_t charged_before);
  template <class Visit>
  void ForEachFlavor(const std::vector<FlavorLeafUsage>& usage, const Visit& visit,
                     const WorkBudget& budget = WorkBudget::Unlimited());
  template <class Visit>
  void ForEachOther(const std::vector<FlavorLeafUsage>& usage, const Visit& visit,
                    const WorkBudget& budget = WorkBudget::Unlimited());

  class Spares;
  std::vector<std::unique_ptr<FlavorState>> flavors_;  // by name, byte-wise
  std::shared_ptr<Spares> spares_;                     // of this state and all its branches
  std::shared_ptr<const MemoryHold> built_memory_;     // of what Build made; shared likewise
  MemoryHold memory_;                                  // of a branch's own arrays
};

}  // namespace espalier
