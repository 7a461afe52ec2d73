// The state of a cluster: immutable snapshots and, apart from them, the current usage.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
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
#include "kernels/views.hpp"

namespace espalier {

class FlavorState;

// Usage on one leaf of one flavor; `leaf` as in R4.1; `usage` includes pod slots under `pods`.
struct FlavorLeafUsage {
  std::string flavor;
  std::string leaf;
  Resources usage;
  bool operator==(const FlavorLeafUsage&) const = default;
};

// Returns the first entries, as far as they are on the same flavor.
std::span<const FlavorLeafUsage> FirstOfOneFlavor(std::span<const FlavorLeafUsage> usage);

// Returns the pod slots of all entries together.
std::int64_t PodSlotsOf(std::span<const FlavorLeafUsage> usage);

// Usage of pods that no topology-aware workload owns, per node (R5.3).
struct NodeUsage {
  std::string node;
  Resources usage;  // includes pod slots under `pods`
  // The part of it that an empty node has too: what never ends, as pods of DaemonSets. Nothing is
  // placed by it.
  Resources lasting = {};
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

// The differences between the input of a state before and after a change. All pointers are
// borrowed; null: it did not exist before, or does not exist now.
struct StateChange {
  struct Usage {
    std::string_view flavor;
    std::string_view leaf;
    const Resources* before = nullptr;
    const Resources* after = nullptr;
  };
  struct OfNode {
    const Node* before = nullptr;
    const Node* after = nullptr;
    const Resources* used_before = nullptr;  // by pods that no topology-aware workload owns
    const Resources* used_after = nullptr;
  };
  std::vector<Usage> usage;
  std::vector<OfNode> nodes;  // one each
  // Returns the usage of a leaf in one flavor after the change.
  std::function<const Resources*(std::string_view flavor, std::string_view leaf)> usage_on;
};

class ClusterState {
 public:
  // Builds a state. Errors (kBadInput): a flavor that names an unknown topology, a topology with no
  // level, more than 16 levels or a repeated level, two flavors, topologies or nodes of one name;
  // also why `budget` was stopped. The memory of the state is handed over to it from the budget.
  static Result<ClusterState> Build(const ClusterStateInput& input,
                                    WorkBudget& budget = WorkBudget::Unlimited());
  // Builds the same from columns, which replace `input.nodes` and are not charged. Errors are also
  // those of CheckNodeColumns.
  static Result<ClusterState> BuildFromColumns(NodeColumns columns, const ClusterStateInput& input,
                                               WorkBudget& budget = WorkBudget::Unlimited());

  ClusterState(ClusterState&&) noexcept;
  ClusterState& operator=(ClusterState&&) noexcept;
  ~ClusterState();

  // Returns an independent copy of the usage on the same immutable snapshot. No counts are cached
  // for it.
  ClusterState Clone() const;
  // Returns a copy like Clone, for which back ends may reuse counts cached for another branch that
  // no longer exists. Recycles the memory of such a branch if there is one; the time then grows
  // with the number of leaves in which the two differ. The error is why `budget` was stopped.
  Result<ClusterState> Branch(WorkBudget& budget) const;
  ClusterState Branch() const { return *Branch(WorkBudget::Unlimited()); }

  // Returns whether one was made from the other by branching and changing, so that what was
  // resolved against the resources and levels of one holds for the other.
  bool IsBranchOf(const ClusterState& other) const { return built_memory_ == other.built_memory_; }

  // Returns the bytes that a clone takes, which is the maximum for a branch.
  std::int64_t CloneBytes() const;

  // Finds the classes of equal leaves of every flavor (FlavorState::ClassifyLeaves).
  void ClassifyLeaves(const WorkBudget& budget = WorkBudget::Unlimited());

  // Returns the state of one flavor, or null when it is unknown or has no topology.
  const FlavorState* Find(std::string_view flavor) const;
  FlavorState* Find(std::string_view flavor);
  std::vector<std::string_view> FlavorNames() const;  // byte-wise order

  // Adds or removes usage in the named flavors only (R5.7); unknown leaves are skipped (R5.5).
  void AddUsage(const std::vector<FlavorLeafUsage>& usage) { ChangeNamed(usage, 1); }
  void RemoveUsage(const std::vector<FlavorLeafUsage>& usage) { ChangeNamed(usage, -1); }
  // Adds usage (`sign` 1) or removes it (-1) as Build does with that of its input: where `shared`,
  // the other flavors on the same nodes see it (R5.6).
  void ChangeUsage(const std::vector<FlavorLeafUsage>& usage, Amount sign, bool shared);
  // Returns whether Apply can make this state what Build would make of the changed input. Only
  // Build can do so when amounts are so large that sums may have saturated, or of a resource that
  // no node had, when hostnames are not distinct, when all leaves of a flavor are removed, or when
  // too much has changed since.
  bool CanApply(const StateChange& change) const;
  // Returns whether Apply would add or remove leaves, so that leaf ids of this state are not valid
  // for the changed one.
  bool MovesLeaves(const StateChange& change) const;
  // Applies a change of the input, in time that grows with the change, and with the cluster when
  // leaves are added or removed; `shared` is as share_usage_between_flavors. Requires CanApply. The
  // error is why `budget` was stopped; then the state must not be used.
  Result<void> Apply(const StateChange& change, bool shared, WorkBudget& budget);

  // Returns whether any two flavors may see each other's usage (R5.6).
  bool FlavorsMayShare() const;
  // Adds usage that was added to the named flavors to the other flavors that share their nodes
  // (R5.6).
  void ShareUsage(const std::vector<FlavorLeafUsage>& usage,
                  const WorkBudget& budget = WorkBudget::Unlimited());

 private:
  ClusterState();
  static Result<ClusterState> Build(std::shared_ptr<const NodeColumns> nodes,
                                    const ClusterStateInput& input, WorkBudget& budget);
  void TakeOverMemory(WorkBudget& budget, std::int64_t charged_before);
  void ChangeNamed(std::span<const FlavorLeafUsage> usage, Amount sign,
                   const WorkBudget& budget = WorkBudget::Unlimited());

  // Starts an empty pool of spare states; those of an older numbering of leaves cannot be reused.
  void StartSpares();
  void ChangeUsage(const StateChange& change, bool shared);
  Result<void> ChangeNodes(const StateChange& change, FlavorState& flavor, bool shared,
                           WorkBudget& budget, std::unique_ptr<FlavorState>& moved);
  void AddUsageOnJoined(const StateChange& change, bool shared, std::span<const LeafId> joined,
                        FlavorState& flavor) const;

  class Spares;
  std::vector<std::unique_ptr<FlavorState>> flavors_;  // by name, byte-wise
  std::shared_ptr<Spares> spares_;                     // of this state and all its branches
  std::shared_ptr<const MemoryHold> built_memory_;     // of what Build made; shared by all branches
  MemoryHold memory_;                                  // of a branch's own arrays
};

}  // namespace espalier
