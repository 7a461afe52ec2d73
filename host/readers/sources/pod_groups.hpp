// Reads gangs that are described apart from their pods: Workloads and pod groups of
// scheduling.k8s.io, KAI's pod groups, and Kueue's groups of plain pods.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/readers/object_index.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {

// Equal pods of one part, or a template that makes such pods.
struct MemberPods {
  EqGroup group;                      // its max_count is the number of pods
  std::optional<JsonValue> pod = {};  // the first of the pods; absent for a template
};

// Adds pods to a group of equal ones: how many they are, and where they run.
void AddPods(const EqGroup& more, EqGroup& group);

// All pods that name the same part. Nothing of it depends on the order of the input.
struct PartMembers {
  std::vector<MemberPods> pods;
  const IndexedObject* pod = nullptr;  // the oldest pod, of these the first by name
  std::optional<JsonValue> owner;      // topmost owner of a pod, if one is in the input
  std::string owner_title;             // "batch/v1 Job team/train"
  std::int32_t excess = 0;             // pods left out, as there are more than the group's count
  std::string role = {};               // name of the oldest pod's equivalence group
  // Why Kueue makes no Workload of its group of these pods; empty: it makes one.
  std::string not_composed = {};
  // Adds the members of another replica key, where the part is one for all keys.
  void Add(PartMembers more);
  std::int32_t Seen() const;
  std::int32_t Bound() const;
};

// The members of all parts, by namespace and the reference in the pods.
using Members = std::map<std::pair<std::string, PartReference>, PartMembers>;

// Returns a text such as "1 pod" or "2 pods".
std::string CountedPods(std::int32_t count);

// Removes and returns the members of one part; none where there are none.
PartMembers TakeMembers(Members& members, const std::string& name_space,
                        const PartReference& reference);

// Reads a priorityClassName in place of that of the pods.
void ReadGroupPriority(JsonValue spec, const SourceContext& context, Workload& head);

// Lets all pods of a gang that needs none of them start one by one (W1.3).
void LetStartOneByOne(GangGroup& gang);

// Returns the gang that the pods of one part make up. It waits where they are too few.
GangWorkload OneGang(const GangWorkload& of_all, GangGroup gang, const PartMembers& members,
                     std::string name);

// Moves the pods of a part into the ranked group, with those that run already.
void TakePods(const PartMembers& members, RankedGroup& ranked);

// Reads a policy: `gang` with its minCount, or `basic`, which needs one pod, whichever it is
// (W4.2). Returns whether it is basic.
bool ReadPolicy(JsonValue parent, std::string_view name, const SourceContext& context,
                GangGroup& gang);

// Fills in queue, priority, preemptibility and topology from the Workload (or pod group), else from
// the owner, else from the pod, which has no topology (W4.3).
void ApplyKaiMetadata(JsonValue described_by, const PartMembers* members,
                      const SourceContext& context, GangWorkload& workload);

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

// Takes over what KAI's annotations of an object say of the topology of its pods, and of segments:
// those of the object at the top of their owners, which a pod without one is itself.
void ApplyKaiTopology(JsonValue object, GangWorkload& workload);

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
