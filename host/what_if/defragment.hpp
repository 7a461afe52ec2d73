// Plans which gangs to move so that whole domains become free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/engine/request.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// A gang that holds something of a state.
struct PlacedGang {
  ObjectKey key;
  std::vector<FlavorLeafUsage> usage;
  // The request by which it is placed anew. Absent: that is not known, and it stays.
  std::optional<WorkloadRequest> request;
};

struct DefragmentOptions {
  std::string level;            // label key of the domains to free
  std::string flavor;           // empty: the only one that has the level
  std::size_t most_moves = 10;  // gangs that may be moved at most
  bool shared = true;           // whether flavors on the same nodes see each other's usage (R5.6)
};

// A gang that is moved as a whole.
struct DefragmentMove {
  std::size_t gang = 0;  // its position
  WorkloadAnswer answer;
};

// A domain in which no gang has pods once its moves are made.
struct FreedDomain {
  std::vector<std::string> values;    // coarsest first
  std::vector<DefragmentMove> moves;  // in the order in which they can be made
};

struct DefragmentPlan {
  std::string flavor;
  std::int64_t domains = 0;        // domains of the level
  std::int64_t free_already = 0;   // domains without any gang
  std::vector<FreedDomain> freed;  // in the order in which they become free
  std::size_t moves = 0;           // moves of all freed domains together
  std::int64_t out_of_reach = 0;   // domains with gangs that do not go elsewhere, or not within
                                   // the moves that were left
  std::vector<ObjectKey> staying;  // gangs of the flavor without a request
};

// Plans moves that free domains of a level, those with the fewest gangs first, then with the fewest
// pods of gangs. A domain is emptied by moving its gangs, in the order given, one after the other
// to where they fit by then, outside of it and of the free domains; it counts as freed only when
// all of its gangs can move. `state` holds the usage of all the gangs. Pods of no gang (DaemonSets)
// stay, and quota is not checked. The plan can be carried out move by move, but is greedy: another
// one may free more. Errors: kBadInput when no flavor, or several, have the level; those of the
// engine's budget.
Result<DefragmentPlan> PlanDefragment(ClusterState state, std::vector<PlacedGang> gangs,
                                      const DefragmentOptions& options, const Engine& engine);

}  // namespace espalier
