// Sections 10 to 14: choosing domains and handing out pods.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/oracle/counts.hpp"
#include "tests/oracle/orders.hpp"

namespace espalier::oracle {

// Domains of one level.
struct Chosen {
  std::size_t level = 0;
  std::vector<Path> domains;
};

// Returns CHOOSE(level) of section 10.
OrReason<Chosen> Choose(const Problem& problem, const Tree& tree, std::size_t level);

// Returns LEADFIRST of section 11.
std::vector<Path> LeaderFirst(const Tree& tree, std::vector<Path> list, std::int64_t n,
                              std::int64_t leaders, std::int64_t size, Unit unit);

// Returns TAKE of section 12. Writes what each domain of the result gets into `tree`.
std::vector<Path> Take(const Problem& problem, Tree& tree, std::vector<Path> list, std::int64_t n,
                       std::int64_t leaders, std::int64_t size, Unit unit);

// Applies section 14. When balanced placement applies, `tree` becomes the pruned clone with the
// numbers of R14.16; otherwise it is left alone and nothing is chosen. Fails only where upstream is
// undefined.
OrReason<std::optional<Chosen>> ChooseBalanced(const Problem& problem, Tree& tree);

// The result of a placement: two assignments, the leader's only with a leader (R13.7, R13.9).
struct Placement {
  TopologyAssignment workers;
  std::optional<TopologyAssignment> leader;
};

// Sections 6 to 14, for a workers pod set and, if there is one, its leader.
OrReason<Placement> Place(const Cluster& cluster, const OracleInput& input,
                          const PodSetRequest& workers, const PodSetRequest* leader,
                          const Situation& situation);

}  // namespace espalier::oracle
