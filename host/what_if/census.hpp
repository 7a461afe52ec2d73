// Counts how many more gangs of a shape fit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/engine/backend.hpp"
#include "host/engine/engine.hpp"
#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/model/result.hpp"
#include "host/packing/cluster_state.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Capacity for gangs that must stay in a domain of one level.
struct LevelCensus {
  std::string level;    // label key; empty: the whole flavor, gangs may be anywhere
  DomainRange domains;  // ids in the flavor's snapshot, in path order; none of the whole flavor
  Count gangs = 0;      // of all domains together
};

// The detail of a census: kDomains keeps what each domain holds, four bytes for each.
enum class CensusDetail { kLevels, kDomains };

struct GangCensus {
  std::string failure;              // why no gang of the shape can be placed; then no levels
  std::vector<LevelCensus> levels;  // the whole flavor first, then coarsest to finest
  Count pods = 0;                   // that fit on the whole flavor
  Count pods_of_gang = 1;
  std::vector<StoredCount> pods_by_domain;  // only with CensusDetail::kDomains

  // Return the pods that fit in a domain, and the gangs that fit in it together.
  Count PodsIn(std::int32_t domain) const {
    return pods_by_domain[static_cast<std::size_t>(domain)];
  }
  Count GangsIn(std::int32_t domain) const { return PodsIn(domain) / pods_of_gang; }
};

// Counts for each pod set how many gangs of its `count` pods fit on its flavor in the state, in
// addition to what runs. The results are exact: gangs of one shape take equal amounts, so it makes
// no difference in which order or where in a domain they are put. Topology requests are ignored.
// Requires counts of at least 1. Shares the gangs among the cores,
// or counts them on the device of the back end.
std::vector<GangCensus> CountGangs(const ClusterState& state, std::span<const PodSetRequest> gangs,
                                   CensusDetail detail, const FeatureGates& gates,
                                   Backend& backend);

// Returns how many more workloads like this one fit beside each other, at most `most`, by placing
// one after the other. Meaningless once the engine's budget is stopped. Errors: the budget's.
Result<Count> CountByPlacing(const Engine& engine, const ClusterState& state,
                             const WorkloadRequest& request, Count most);

}  // namespace espalier
