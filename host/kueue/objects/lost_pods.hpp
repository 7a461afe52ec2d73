// Reports pods that Kueue's rules leave without a place although their workload counts as placed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/model/topology.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// Returns how many of `count` pods the assignment of their pod set has no place for (R6.9, R14.19,
// R17.12); 0 without an assignment.
std::int64_t LostPods(std::int32_t count, const SharedValue<TopologyAssignment>& assignment);

// Explains that `lost` of the `count` pods of a pod set have no place, in a sentence for the user.
std::string LostPodsNote(const ObjectKey& workload, std::string_view pod_set, std::int32_t count,
                         std::int64_t lost, const std::optional<TopologyRequest>& request);

}  // namespace espalier
