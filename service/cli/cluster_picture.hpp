// A picture in text of how full the racks of a flavor are, before and after.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/model/resources.hpp"
#include "host/packing/cluster_state.hpp"
#include "service/cli/terminal.hpp"

namespace espalier {

// One domain above the hosts (or of the lowest level, where that is no host).
struct RackUsage {
  std::vector<std::string> path;  // level values, coarsest first
  Amount allocatable = 0;
  Amount before = 0;  // in use; may exceed what is allocatable
  Amount after = 0;
  bool operator==(const RackUsage&) const = default;
};

// One resource on the racks of the flavor's available nodes (R3.1, R3.2), in path order. `booked`
// is what came on top of the usage in `input`. Empty when the flavor has no topology.
std::vector<RackUsage> UsageByRack(const ClusterStateInput& input,
                                   const std::vector<FlavorLeafUsage>& booked,
                                   std::string_view flavor, std::string_view resource);

// Returns what is in use of a resource before and after: in all, by zone, block and so on, and of
// racks: those that pods were placed in with `touched_only`, or where there is none, the ten
// fullest. Ends in a newline; empty for no rack.
std::string RenderPicture(std::vector<RackUsage> racks, std::string_view flavor,
                          std::string_view resource, bool touched_only,
                          const TextStyle& style = {});

}  // namespace espalier
