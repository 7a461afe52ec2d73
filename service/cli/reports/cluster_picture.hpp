// Draws a picture in text of how full the racks of a flavor are, before and after.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/kueue/planning/placement_plan.hpp"
#include "host/model/resources.hpp"
#include "host/packing/cluster_state.hpp"
#include "service/cli/terminal/terminal.hpp"

namespace espalier {

// A domain above the hosts (or of the lowest level, when that is not the host).
struct RackUsage {
  std::vector<std::string> path;  // level values, coarsest first
  Amount allocatable = 0;
  Amount before = 0;  // in use; may exceed `allocatable`
  Amount after = 0;
  bool operator==(const RackUsage&) const = default;
};

// Returns the usage of one resource on the racks of the flavor's available nodes (R3.1, R3.2), in
// path order. `booked` is usage in addition to that of `input`. Empty when the flavor has no
// topology.
std::vector<RackUsage> UsageByRack(const ClusterStateInput& input,
                                   const std::vector<FlavorLeafUsage>& booked,
                                   std::string_view flavor, std::string_view resource);

// Returns the device that most requests of a plan ask for, as devices are what racks are bought
// for; cpu without one.
std::string MostRequestedDevice(const PlacementPlan& plan);

// Returns a picture of the usage of a resource before and after: in all, by zone, block and so on,
// and by rack: with `touched_only` the racks that pods were placed in, otherwise, or when there are
// none, the ten fullest. Ends in a newline; empty when there are no racks.
std::string RenderPicture(std::vector<RackUsage> racks, std::string_view flavor,
                          std::string_view resource, bool touched_only,
                          const TextStyle& style = {});

}  // namespace espalier
