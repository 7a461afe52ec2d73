// A run of chaos: controllers that race each other for a cluster by one server, under faults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/chaos/counts.hpp"

namespace espalier::chaos {

struct RoundResult {
  Counts counts;
  std::vector<std::string> problems;  // a sentence each
};

// Runs controllers in so many episodes, in each of which a server is killed so many times and
// attacked otherwise; after each all are quiet, and the server is compared with a fresh engine. The
// same again for the same seed, as far as threads and processes can be.
RoundResult ChaosRound(std::uint64_t seed, int episodes, int kills);

}  // namespace espalier::chaos
