// Converts assignments between their two forms: named domains, and leaves of a snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/engine/backend.hpp"
#include "host/engine/request.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

// Returns the id by which an assignment's domain is looked up: its values joined with commas (R4.1,
// R5.4).
std::string DomainIdText(const std::vector<std::string>& values);

// Returns the id of a leaf by its values at the levels of its topology, coarsest first: of a host
// its name alone (R4.1).
std::string LeafIdText(const std::vector<std::string>& values,
                       const std::vector<std::string>& levels);

// Makes the id of a domain as a view, without a text of its own for most domains.
class DomainIds {
 public:
  // Returns the id of a domain. The view is valid as long as the values, and until the next call.
  std::string_view Of(const std::vector<std::string>& values) {
    if (values.size() == 1) return values.front();
    joined_ = DomainIdText(values);
    return joined_;
  }

 private:
  std::string joined_;
};

// Returns the first domain that is not a leaf of the snapshot, or null (R16.2, R17.4).
const TopologyDomainAssignment* FirstStaleDomain(const TopologyAssignment& assignment,
                                                 const FlavorSnapshot& snapshot);

// Returns the leaves of an assignment without stale domains, in its order.
std::vector<LeafShare> ToShares(const TopologyAssignment& assignment,
                                const FlavorSnapshot& snapshot);

// Returns the assignment of shares in path order; `leaders` selects the leader's share (R13.7,
// R13.8).
TopologyAssignment ToAssignment(std::span<const LeafShare> shares, bool leaders,
                                const FlavorSnapshot& snapshot);

// Returns both lists merged in path order, with the shares of equal leaves added up (MERGE, R16.7).
std::vector<LeafShare> MergeShares(std::span<const LeafShare> a, std::span<const LeafShare> b);

// Returns the first `pods` pods of an assignment in stored order (R16.5).
TopologyAssignment Truncate(const TopologyAssignment& assignment, std::int64_t pods);

std::int64_t TotalPods(const TopologyAssignment& assignment);

// The usage of the pod sets placed so far, by leaf id, so that flavors with a host topology can
// share it (R5.8, R15.3).
class AssumedUsage {
 public:
  AssumedUsage() = default;
  explicit AssumedUsage(const std::vector<LeafUsage>& usage);
  // Takes over what `all` assumes on the leaves of a snapshot.
  AssumedUsage(const AssumedUsage& all, const FlavorSnapshot& snapshot);

  // Adds count * requests and the pod slots for each domain; of a domain that is listed twice only
  // the last entry counts.
  void Add(const TopologyAssignment& assignment, const Resources& requests);

  // Returns the bytes that Bind may need.
  std::int64_t BoundBytes(const FlavorSnapshot& snapshot) const;
  // Returns the usage bound to a snapshot, without the leaves that the snapshot does not have.
  // Takes little time when little was added since the last call for the same snapshot.
  AssumedLeaves Bind(const FlavorSnapshot& snapshot);

  // Books everything on `state`, and what is added later at once, so that nothing needs to be bound
  // to its snapshot; null: nowhere any more. The state must outlive this or the next call.
  void BookOn(FlavorState* state);

 private:
  // Calls visit(id, usage) for every leaf with usage that the snapshot has, in no order.
  template <class Visit>
  void ForEachOn(const FlavorSnapshot& snapshot, const Visit& visit) const;

  std::unordered_map<std::string, Resources> by_leaf_;
  const FlavorSnapshot* bound_to_ = nullptr;
  AssumedLeaves bound_;
  std::vector<std::string> changed_;  // leaves added to since
  FlavorState* booked_on_ = nullptr;
};

// Returns what `count` pods use, pod slots included.
Resources UsageOfPods(const Resources& requests, std::int64_t count);

}  // namespace espalier
