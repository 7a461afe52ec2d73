// Turns groups inside groups, as KAI's subgroups and CompositePodGroups nest them, into one gang.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/gangs/gang_workload.hpp"

namespace espalier {

// A group of pods or of other groups.
struct NamedGroup {
  std::string name;
  GroupTopologyRequest topology_request;
  std::optional<std::int32_t> min_groups;  // minimum of the groups inside; absent: all
  std::vector<NamedGroup> groups;
  std::optional<RankedGroup> pods;  // of a group without groups inside
  std::int32_t min_pods = 0;
  std::int32_t seen = 0;   // pods that are there
  std::int32_t bound = 0;  // pods that have a node
};

// Pods of a group: how many it needs, and how many there are.
struct GroupFacts {
  std::int32_t needed = 0;  // minimum of its pods
  std::int32_t seen = 0;
  std::int32_t bound = 0;
};

// Adds the groups inside `root` to the gang, which stands for it, in their order. A group of which
// pods or groups are missing is left out, with a note, where the one around it does without it;
// where it does not the workload waits. `noun` names groups in texts: "group", "subgroup".
GroupFacts AddGroups(NamedGroup root, const std::string& noun, GangGroup& gang,
                     GangWorkload& workload);

}  // namespace espalier
