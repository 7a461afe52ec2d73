// Tells of what is derived from a capacity, such as counts, where it is stale.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "host/engine/backend.hpp"
#include "host/packing/group_stamps.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Names the capacity that something was derived from: that of these stamps, when the latest was
// `at`. The stamps are those of a state that still exists, or frozen.
struct CapacityVersion {
  std::uint64_t state = 0;  // FlavorState::identity
  std::shared_ptr<const GroupStamps> stamps;
  Stamp at = 0;

  // Returns the capacity that a job looks at.
  static CapacityVersion Of(const PlacementJob& job) {
    return {job.state->identity(), SharedStampsOf(job), StampsOf(job).latest()};
  }
  // Returns whether it is the capacity that a job looks at.
  bool IsOf(const PlacementJob& job) const {
    return stamps.get() == &StampsOf(job) && at == StampsOf(job).latest();
  }
};

// Returns the same for the state of a job, where that is a branch of the state that `of_parent` is
// of; none where it is a branch of another state, or does not have all of its stamps.
std::optional<CapacityVersion> OnBranch(CapacityVersion of_parent, const PlacementJob& job);

// Appends the groups in which the capacity of a job differs from what was counted, in ascending
// order. On the state that was counted, those without pods are left out where `pods`, by group, is
// given. Returns false, and appends nothing, where so many differ that counting all groups is
// sooner.
bool AppendStale(const CapacityVersion& counted, const PlacementJob& job, const StoredCount* pods,
                 std::vector<std::int32_t>& groups);

}  // namespace espalier
