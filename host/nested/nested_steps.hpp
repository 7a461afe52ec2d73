// The tree of one request, resolved against a flavor and laid out flat in the order its groups are
// placed in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/engine/nested_request.hpp"
#include "host/model/result.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "host/packing/pod_shape.hpp"
#include "kernels/nested/nested_views.hpp"

namespace espalier {

// Limits of one request: its groups with all copies, its pods, and the depth of groups inside each
// other.
inline constexpr std::int64_t kMostNestedSteps = std::int64_t{1} << 16;
inline constexpr std::int64_t kMostNestedPods = std::int64_t{1} << 24;
inline constexpr std::int32_t kMostNestedDepth = 16;

// Maximum numbers of alternatives that one search tries (R25.7).
inline constexpr std::int32_t kMostTrials = 1 << 16;
inline constexpr std::int32_t kMostSiblingTrials = 1 << 10;

struct NestedSteps {
  std::vector<NestedStep> steps;
  std::vector<NestedNeed> needs;
  std::vector<std::int32_t> rank_order;
  std::vector<std::shared_ptr<const PodShape>> shapes;
  // For each step its group, the number of the copy, and the position of the group among its
  // parent's children.
  struct Source {
    const NestedGroup* group = nullptr;  // in the request, which outlives this
    std::int32_t copy = 0;
    std::int32_t position = 0;
  };
  std::vector<Source> sources;
  // True where all pod sets are of one shape and no group has children that may be in each other's
  // way, so that a completed search finds a place wherever there is one (R25.7).
  bool uniform = true;
  std::int32_t most_takes = 0;

  // Returns the path of a step as in NestedGroupAnswer.
  std::string PathOf(std::int32_t step) const;
};

// Resolves a request against a flavor. Errors (kBadInput) name the workload, group, field, value
// and what would be right. The shapes are interned in the snapshot; they are meaningless once
// `budget` is stopped.
Result<NestedSteps> ResolveNested(const NestedRequest& request, const FlavorSnapshot& snapshot,
                                  WorkBudget& budget);

// Returns trees of one pod set each, with the groups around it, that contain only required parts:
// nodes that cannot hold one of them cannot hold the tree (R25.14).
std::vector<NestedGroup> ChainsOf(const NestedGroup& root);

}  // namespace espalier
