// Reads the objects of a cluster that Volcano schedules: HyperNodes, which are its topology, and
// its queues.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/node.hpp"
#include "host/model/topology.hpp"
#include "host/readers/effective_requests.hpp"
#include "host/readers/json_fields.hpp"
#include "host/readers/kai_queues.hpp"

namespace espalier {

// Name of the topology that HyperNodes make up.
inline constexpr std::string_view kHyperNodeTopology = "hypernodes";

// A HyperNode: nodes, or HyperNodes of lower tiers, that share a part of the network.
struct HyperNode {
  struct Member {
    bool is_node = true;
    std::string name;     // of one; or
    std::string pattern;  // of all whose names it matches; or
    StringMap labels;     // of all nodes that have these
    bool operator==(const Member&) const = default;
  };

  std::string name;
  std::int32_t tier = 0;
  std::string tier_name;
  std::vector<Member> members;
  bool operator==(const HyperNode&) const = default;
};

// Reads a HyperNode. Reports members whose selectors are not read.
HyperNode ReadHyperNode(JsonValue object, const ReadContext& context);

// Returns the tiers that the HyperNodes have, each a level of the topology.
std::vector<NetworkTier> TiersOf(const std::vector<HyperNode>& hyper_nodes);

// Returns the topology of these tiers, the highest first, and the host name; nullopt without any.
std::optional<Topology> HyperNodeTopology(const std::vector<NetworkTier>& tiers);

// Gives each node a label for each tier, with the name of the HyperNode that it is in. A node that
// is in none of a tier is in one of its own there, so that it takes part.
void LabelWithHyperNodes(const std::vector<HyperNode>& hyper_nodes,
                         const std::vector<NetworkTier>& tiers, std::vector<Node>& nodes);

// Reads a Queue of Volcano's, whose capability is what its workloads use at most.
KaiQueue ReadVolcanoQueue(JsonValue object, const ReadContext& context);

}  // namespace espalier
