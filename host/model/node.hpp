// Nodes, and the constraints that pods put on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/model/flat_map.hpp"
#include "host/model/resources.hpp"

namespace espalier {

inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, NoExecute, PreferNoSchedule
  bool operator==(const Taint&) const = default;
};

struct Toleration {
  std::string key;        // empty: every key
  std::string operation;  // "" reads as Equal; Exists, Lt, Gt
  std::string value;
  std::string effect;  // empty: every effect
  bool operator==(const Toleration&) const = default;
};

// The part of a node that the engine uses (R3.4).
struct Node {
  std::string name;
  StringMap labels;
  std::vector<Taint> taints;  // in the object's order
  bool unschedulable = false;
  bool ready = false;  // the first condition of type Ready has status True (R3.1)
  Resources allocatable;
  bool operator==(const Node&) const = default;
};

struct NodeSelectorRequirement {
  std::string key;
  std::string operation;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;
  bool operator==(const NodeSelectorRequirement&) const = default;
};

struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions;
  std::vector<NodeSelectorRequirement> match_fields;
  bool operator==(const NodeSelectorTerm&) const = default;
};

struct PreferredSchedulingTerm {
  std::int32_t weight = 0;
  NodeSelectorTerm preference;
  bool operator==(const PreferredSchedulingTerm&) const = default;
};

struct NodeAffinity {
  std::optional<std::vector<NodeSelectorTerm>> required;  // OR-ed; absent: no restriction (R7.5)
  std::vector<PreferredSchedulingTerm> preferred;         // R7.8
  bool operator==(const NodeAffinity&) const = default;
};

}  // namespace espalier
