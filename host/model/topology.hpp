// Topologies, flavors, topology requests and assignments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "host/model/flat_map.hpp"
#include "host/model/node.hpp"

namespace espalier {

struct Topology {
  std::string name;
  std::vector<std::string> levels;  // node-label keys, coarsest first, 1 to 16 (R1.1)
  bool operator==(const Topology&) const = default;
};

struct ResourceFlavor {
  std::string name;
  StringMap node_labels;
  std::vector<Taint> node_taints;  // only for choosing the flavor (R3.5)
  std::vector<Toleration> tolerations;
  std::optional<std::string> topology_name;
  bool operator==(const ResourceFlavor&) const = default;
};

struct SliceConstraint {
  std::string topology;   // level key
  std::int32_t size = 0;  // pods per slice
  bool operator==(const SliceConstraint&) const = default;
};

// The fields of a pod set's topologyRequest (R1.4).
struct TopologyRequest {
  std::optional<std::string> required;
  std::optional<std::string> preferred;
  std::optional<bool> unconstrained;
  std::optional<std::string> slice_topology;       // podSetSliceRequiredTopology
  std::optional<std::int32_t> slice_size;          // podSetSliceSize
  std::vector<SliceConstraint> slice_constraints;  // podsetSliceRequiredTopologyConstraints
  std::optional<std::string> pod_set_group_name;
  std::optional<std::string> pod_index_label;
  std::optional<std::string> sub_group_index_label;
  std::optional<std::int32_t> sub_group_count;
  bool operator==(const TopologyRequest&) const = default;
};

// Returns the sum of two counts of pods, at most the int32 maximum.
constexpr std::int32_t AddCounts(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(std::int64_t{a} + b, std::numeric_limits<std::int32_t>::max()));
}

struct TopologyDomainAssignment {
  std::vector<std::string> values;  // one per level of the assignment
  std::int32_t count = 0;           // pods
  bool operator==(const TopologyDomainAssignment&) const = default;
};

// An assignment of pods to domains (R1.5). Engine-made assignments are in path order; stored ones
// keep their stored order.
struct TopologyAssignment {
  std::vector<std::string> levels;
  std::vector<TopologyDomainAssignment> domains;
  bool operator==(const TopologyAssignment&) const = default;
};

}  // namespace espalier
