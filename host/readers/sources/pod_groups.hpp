// Reads gangs that are described apart from their pods: Workloads and pod groups of
// scheduling.k8s.io, KAI's pod groups, and Kueue's groups of plain pods.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/readers/sources/part_members.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {

// Returns the name of an entry of a list, and adds it to `names`. Reports one that is there
// already.
std::string ReadNewName(JsonValue entry, std::set<std::string>& names,
                        const SourceContext& context);

// Reads a priorityClassName, or a priority, in place of that of the pods. Warns of a class that is
// not known.
void ReadGroupPriority(JsonValue spec, const SourceContext& context, Workload& head);

// Lets all pods of a gang that needs none of them start one by one (W1.3).
void LetStartOneByOne(GangGroup& gang);

// Returns the gang that the pods of one part make up. It waits where they are too few.
GangWorkload OneGang(const GangWorkload& of_all, GangGroup gang, const PartMembers& members,
                     std::string name);

// Reads a policy: `gang` with its minCount, or `basic`, which needs one pod, whichever it is
// (W4.2). Returns whether it is basic.
bool ReadPolicy(JsonValue parent, std::string_view name, const SourceContext& context,
                GangGroup& gang);

// Reads a Workload with podGroups or podGroupTemplates: each pod group and replica key becomes a
// gang workload of its own (W3.1, W3.3, W4.1). Removes its members from `members`.
void ReadPodGroupWorkload(JsonValue object, const SourceContext& context, Members& members,
                          std::vector<GangWorkload>& workloads);

// Reads a PodGroup of scheduling.k8s.io that has no parent.
void ReadPodGroup(JsonValue object, const SourceContext& context, Members& members,
                  std::vector<GangWorkload>& workloads);

// A PodGroup or CompositePodGroup that names a parent.
struct ChildGroup {
  FoundObject object;
  std::string name;
  std::int64_t created = 0;
};

// The children of all CompositePodGroups, by namespace and name of the parent.
using ChildGroups = std::map<std::pair<std::string, std::string>, std::vector<ChildGroup>>;

// Adds a group to the children of the parent that it names.
void AddChildGroup(const FoundObject& object, const SourceContext& context, ChildGroups& groups);

// Sorts the children of one parent in the order in which they are placed (W3.6).
void SortByCreation(std::vector<ChildGroup>& children);

// Reads the tree of groups under a CompositePodGroup without a parent as one gang. Adds each group
// below it to `below`, as "KIND NAMESPACE/NAME".
void ReadCompositePodGroup(JsonValue object, const ChildGroups& groups,
                           const SourceContext& context, Members& members,
                           std::set<std::string>& below, std::vector<GangWorkload>& workloads);

// Reads a PodGroup or CompositePodGroup that names a parent and is below none that was read: it
// waits, and so do its pods. `has_parent`: the parent is in the input.
void ReadGroupWithoutRoot(JsonValue object, bool has_parent, const SourceContext& context,
                          Members& members, std::vector<GangWorkload>& workloads);

// Reads a PodGroup of the scheduler plugins.
void ReadCoschedulingPodGroup(JsonValue object, const SourceContext& context, Members& members,
                              std::vector<GangWorkload>& workloads);

// Adds the groups that their pods alone describe, with labels of their name and minimum, as the
// scheduler plugins had them first.
void AddLabelledGroups(const SourceContext& context, Members& members,
                       std::vector<GangWorkload>& workloads);

// Reads a PodGroup of Volcano.
void ReadVolcanoPodGroup(JsonValue object, const SourceContext& context, Members& members,
                         std::vector<GangWorkload>& workloads);

// Reads KAI's PodGroup (W4.6).
void ReadKaiPodGroup(JsonValue object, const SourceContext& context, Members& members,
                     std::vector<GangWorkload>& workloads);

}  // namespace espalier
