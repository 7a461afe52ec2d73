// The nodes of a cluster as columns, shared by the snapshots of all flavors: a label is an index
// into the distinct values of its key, so that selectors and paths compare as integers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/node.hpp"
#include "host/model/resources.hpp"
#include "host/model/result.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

struct LabelColumn {
  std::string key;
  std::vector<std::string> values;     // distinct, byte-wise ascending
  std::vector<std::int32_t> value_of;  // [nodes] index into values; -1: the node lacks the label

  // Returns the index of a value, or -1.
  std::int32_t FindValue(std::string_view value) const;
};

// An amount of one node.
struct NodeAmount {
  std::int32_t resource = 0;  // index into the resources
  std::int32_t node = 0;
  Amount amount = 0;
};

// The N nodes of a cluster with their R resources, as columns.
struct NodeColumns {
  std::vector<std::string> names;       // [N] distinct
  std::vector<std::uint8_t> available;  // [N] schedulable and ready (R3.1)
  std::vector<LabelColumn> labels;      // keys distinct, ascending
  std::vector<std::vector<Taint>> taint_sets;
  std::vector<std::int32_t> taint_set_of;  // [N] index into taint_sets
  std::vector<std::string> resources;      // [R] distinct, ascending
  std::vector<Amount> allocatable;         // [R * N] resource-major; a missing resource is 0 (R4.6)
  // True where most of those would be 0: then `allocatable` is empty and the others are here.
  bool sparse = false;
  std::vector<NodeAmount> amounts;

  std::size_t size() const { return names.size(); }
  // Returns the column of a key, or null.
  const LabelColumn* FindLabel(std::string_view key) const;
};

// Makes columns of Kubernetes nodes, in their order. Their memory stays charged to `budget`.
// Errors: two nodes of one name (kBadInput), and why `budget` was stopped.
Result<NodeColumns> MakeNodeColumns(std::span<const Node> nodes,
                                    WorkBudget& budget = WorkBudget::Unlimited());

// Checks that columns made elsewhere have the properties above; errors (kBadInput) name the column.
// CheckDistinctNames checks the names of nodes.
Result<void> CheckNodeColumns(const NodeColumns& columns);

// Checks that no two nodes have one name; the error is kBadInput.
Result<void> CheckDistinctNames(const std::vector<std::string>& names);

}  // namespace espalier
