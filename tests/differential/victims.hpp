// Random victims whose removal may let a request fit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/what_if/prefix_batch.hpp"
#include "host/what_if/prefix_search.hpp"
#include "tests/differential/instance.hpp"

namespace espalier::differential {

struct VictimsInstance {
  Instance instance;  // its usage contains what the victims hold
  std::vector<Victim> victims;
};

// Returns a full cluster whose usage belongs to at most `most` victims, but for a part that nobody
// gives back.
VictimsInstance GenerateVictims(std::uint64_t seed, std::int64_t most = 12);

struct VictimBatch {
  VictimsInstance made;                   // on one flavor or two; its request is the first
  std::vector<WorkloadRequest> requests;  // of all kinds, some of which ask for the same
  VictimLists lists;                      // one for all requests or one for each
};

VictimBatch GenerateVictimBatch(std::uint64_t seed);

// Returns usage, one entry per leaf, without what some of the victims hold; `gone` are their
// positions.
std::vector<FlavorLeafUsage> UsageWithout(const std::vector<FlavorLeafUsage>& usage,
                                          const std::vector<Victim>& victims,
                                          const std::vector<std::uint32_t>& gone);

// Returns what is wrong with the engine's answer to the instance of this seed, or nothing: number
// of victims, who stays removed, in which order, and the placement.
std::optional<std::string> CheckVictims(std::uint64_t seed,
                                        const std::shared_ptr<Backend>& backend);

}  // namespace espalier::differential
