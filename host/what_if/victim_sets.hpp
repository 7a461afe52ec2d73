// Finds the cheapest sets of victims that make room in each domain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/engine/request.hpp"
#include "host/packing/cluster_state.hpp"
#include "host/what_if/victim.hpp"
#include "kernels/ids.hpp"

namespace espalier {

// A victim and the priority that is lost with it.
struct PricedVictim {
  Victim victim;
  std::int64_t priority = 0;
};

// Victims without which a request fits; all of them must be removed.
struct VictimSet {
  std::vector<std::size_t> victims;  // indices, ascending
  std::int64_t priority = 0;         // the highest of the victims
  std::int64_t accelerators = 0;     // devices they hold: amounts of resources with a vendor
  bool operator==(const VictimSet&) const = default;
};

// The sets that make room in one domain, none of which is worse than another by priority, number
// and accelerators alike.
struct DomainVictims {
  std::string flavor;
  DomainId domain;              // of the flavor's snapshot; invalid: any domains
  std::vector<VictimSet> sets;  // by priority, number and accelerators; one of equal ones
  bool exact = true;            // false: the search hit its bound; there may be cheaper ones
};

struct VictimSets {
  bool fits = false;                   // it fits without removals; then there are no domains
  std::vector<DomainVictims> domains;  // domains that have room once all victims are removed
};

// Number of trials after which the search in one domain returns the best it has found.
constexpr std::int64_t kMostVictimTrials = 20'000;

// Finds, for every domain of the level that a request requires, the cheapest sets of victims
// without which it fits there, by trying which of them can be kept, the most expensive first. A
// request that requires no level, or is more than one group of pod sets, has one entry for all
// domains. Errors are those of FindPrefix.
Result<VictimSets> FindVictimSets(const Engine& engine, const ClusterState& state,
                                  const WorkloadRequest& request,
                                  std::span<const PricedVictim> victims,
                                  std::int64_t most_trials = kMostVictimTrials);

}  // namespace espalier
