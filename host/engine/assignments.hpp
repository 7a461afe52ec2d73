// Assignments between their two forms: named domains, and leaves of a snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/engine/backend.hpp"
#include "host/engine/request.hpp"
#include "host/packing/flavor_snapshot.hpp"

namespace espalier {

// The id an assignment's domain is looked up by: its values joined with commas (R4.1, R5.4).
std::string DomainIdText(const std::vector<std::string>& values);

// The same as a view, which most domains have without a text of its own.
class DomainIds {
 public:
  // The view holds as long as the values, and until the next call.
  std::string_view Of(const std::vector<std::string>& values) {
    if (values.size() == 1) return values.front();
    joined_ = DomainIdText(values);
    return joined_;
  }

 private:
  std::string joined_;
};

// The first domain that is not a leaf of the snapshot, or null (R16.2, R17.4).
const TopologyDomainAssignment* FirstStaleDomain(const TopologyAssignment& assignment,
                                                 const FlavorSnapshot& snapshot);

// The leaves of an assignment without stale domains, in its order.
std::vector<LeafShare> ToShares(const TopologyAssignment& assignment,
                                const FlavorSnapshot& snapshot);

// The assignment of shares in path order; `leaders` selects the leader's share (R13.7, R13.8).
TopologyAssignment ToAssignment(const std::vector<LeafShare>& shares, bool leaders,
                                const FlavorSnapshot& snapshot);

// MERGE: both lists in path order with equal leaves added up (R16.7).
std::vector<LeafShare> MergeShares(std::vector<LeafShare> a, const std::vector<LeafShare>& b);

// Keeps the first `pods` pods in stored order (R16.5).
TopologyAssignment Truncate(const TopologyAssignment& assignment, std::int64_t pods);

std::int64_t TotalPods(const TopologyAssignment& assignment);

// Usage assumed by the pod sets placed so far, by leaf id, so that flavors with a host topology can
// share it (R5.8, R15.3).
class AssumedUsage {
 public:
  AssumedUsage() = default;
  explicit AssumedUsage(const std::vector<LeafUsage>& usage);

  // count * requests and the pod slots, per domain; of a domain listed twice only the last entry
  // counts.
  void Add(const TopologyAssignment& assignment, const Resources& requests);

  // Returns the bytes that Bind may need.
  std::int64_t BoundBytes(const FlavorSnapshot& snapshot) const;
  // Bound to a snapshot; leaves it does not have are left out. Takes little time where not much was
  // added since the last call, and that was for the same snapshot.
  AssumedLeaves Bind(const FlavorSnapshot& snapshot);

 private:
  std::unordered_map<std::string, Resources> by_leaf_;
  const FlavorSnapshot* bound_to_ = nullptr;
  AssumedLeaves bound_;
  std::vector<std::string> changed_;  // leaves added to since
};

// What `count` pods use, pod slots included.
Resources UsageOfPods(const Resources& requests, std::int64_t count);

}  // namespace espalier
