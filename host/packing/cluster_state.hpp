// The state of a cluster: one immutable snapshot and, apart from it, what is used right now.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/node.hpp"
#include "host/model/resources.hpp"
#include "host/model/result.hpp"
#include "host/model/topology.hpp"
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
  // `budget` was stopped. What the state takes stays charged to it.
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
  // The same, but what a back end knows about this state, or about another branch that is gone, may
  // serve the copy.
  ClusterState Branch() const;

  // Returns the bytes that a clone or a branch takes at first.
  std::int64_t CloneBytes() const;

  // The state of one flavor, or null when it is unknown or has no topology.
  const FlavorState* Find(std::string_view flavor) const;
  FlavorState* Find(std::string_view flavor);
  std::vector<std::string_view> FlavorNames() const;  // byte-wise order

  // Adds or takes back usage in the named flavors only (R5.7); unknown leaves are skipped (R5.5).
  void AddUsage(const std::vector<FlavorLeafUsage>& usage);
  void RemoveUsage(const std::vector<FlavorLeafUsage>& usage);
  // Adds usage as Build adds what it is given: where `shared`, flavors with a host topology see
  // each other's usage (R5.6).
  void AddAdmittedUsage(const std::vector<FlavorLeafUsage>& usage, bool shared) {
    AddAdmittedUsage(usage, shared, WorkBudget::Unlimited());
  }

 private:
  ClusterState();
  static Result<ClusterState> Build(std::shared_ptr<const NodeColumns> nodes,
                                    const ClusterStateInput& input, WorkBudget& budget);
  void AddAdmittedUsage(const std::vector<FlavorLeafUsage>& usage, bool shared, WorkBudget& budget);
  template <class Change>
  void ForEachFlavor(const std::vector<FlavorLeafUsage>& usage, const Change& change);
  std::vector<std::unique_ptr<FlavorState>> flavors_;  // by name, byte-wise
};

}  // namespace espalier
