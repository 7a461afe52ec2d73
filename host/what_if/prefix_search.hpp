// Finds the fewest victims of an ordered list whose removal lets a workload fit (R29.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/engine/request.hpp"
#include "host/packing/cluster_state.hpp"
#include "host/what_if/victim.hpp"
#include "host/what_if/victims_by_flavor.hpp"

namespace espalier {

struct PrefixAnswer {
  bool fits = false;       // whether it fits once victims, in order, are removed
  std::size_t prefix = 0;  // fewest victims to remove, from the front; only if it fits
  // Victims that stay removed after each one of the prefix was put back if the workload fits all
  // the same: indices of victims, in upstream's order. Set only when it fits.
  std::vector<std::size_t> targets;
  // The placement with exactly the targets removed or, when it does not fit, why there is none with
  // all victims removed.
  WorkloadAnswer answer;
  bool operator==(const PrefixAnswer&) const = default;
};

// A condition other than room on leaves that removing victims must satisfy, such as quota.
class OtherRoom {
 public:
  virtual ~OtherRoom() = default;
  // Records that a victim, by its index, is removed or back.
  virtual void Set(std::size_t victim, bool removed) = 0;
  virtual bool Fits() const = 0;
};

// Checks victims as FindPrefix does before it begins; errors (kBadInput) name the victim. Victims
// that are not removed `together` may each hold all that is in use.
Result<void> CheckVictims(const ClusterState& state, std::span<const Victim> victims,
                          bool together);

// Removes victims in order until the request fits, and `other` if there is one, then puts back,
// from the last but one to the first, those that need not be removed. `state` does not change. The
// cost grows with the usage of the victims, not with their number times the cluster, except for
// requests of several groups of pod sets, with a leader where no domain suffices alone, or with
// balanced placement. Errors (kBadInput) name the victim: named twice, on a flavor that does not
// exist, or with more usage than there is on a leaf.
Result<PrefixAnswer> FindPrefix(const Engine& engine, const ClusterState& state,
                                const WorkloadRequest& request, std::span<const Victim> victims,
                                OtherRoom* other = nullptr);

// Does the same with victims that are resolved and go together: those of `list`, positions in
// `victims` in the order in which they are removed. `prefix` counts in the list and `targets` are
// positions in it. `alone`: no other thread works for the budget of the engine. Meaningless once
// that is stopped.
PrefixAnswer FindPrefixOf(const Engine& engine, const ClusterState& state,
                          const WorkloadRequest& request, std::span<const Victim> victims,
                          const VictimsByFlavor& held, std::span<const std::uint32_t> list,
                          bool alone = true, OtherRoom* other = nullptr);

// Returns for each victim whether the request fits once that one alone is removed. Costs and errors
// are as above, but victims may hold the same amounts, as each is removed on its own.
Result<std::vector<bool>> FitsWithoutEach(const Engine& engine, const ClusterState& state,
                                          const WorkloadRequest& request,
                                          std::span<const Victim> victims);

}  // namespace espalier
