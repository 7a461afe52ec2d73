// Makes the units that are placed of all gang workloads of an input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/gangs/placement_units.hpp"

namespace espalier {

// Returns the units of the workloads, in order: of each its trees where IsTree holds, or else its
// parts (PlacementUnits), without the replicas that Kueue's Workloads stand for; none where it runs
// or has finished, but for a unit that says which pods of it nobody places. Of a workload of more
// than 64 parts there are none where `has_room(position, parts)` is false, as memory lacks for
// them. Adds notes on what the units cannot express.
std::vector<Workload> UnitsOf(
    std::span<GangWorkload> workloads, Trees trees,
    const std::function<bool(std::size_t position, std::int64_t parts)>& has_room);

}  // namespace espalier
