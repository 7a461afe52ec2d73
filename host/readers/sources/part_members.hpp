// The pods that name one part of a gang that is described apart from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/readers/json_fields.hpp"
#include "host/readers/object_index.hpp"

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

// Moves the pods of a part into the ranked group, with those that run already.
void TakePods(const PartMembers& members, RankedGroup& ranked);

}  // namespace espalier
