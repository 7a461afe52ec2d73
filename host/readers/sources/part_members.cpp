#include <algorithm>
#include <utility>

#include "host/gangs/gang_counts.hpp"
#include "host/readers/sources/pod_groups.hpp"

namespace espalier {

void AddPods(const EqGroup& more, EqGroup& group) {
  group.max_count = group.max_count.value_or(0) + more.max_count.value_or(0);
  group.running.insert(group.running.end(), more.running.begin(), more.running.end());
  MergeRunning(group);
}

void PartMembers::Add(PartMembers more) {
  if (pod == nullptr) pod = more.pod;
  if (!owner) {
    owner = more.owner;
    owner_title = std::move(more.owner_title);
  }
  const auto shape_of = [](EqGroup group) {
    group.max_count.reset();
    group.running.clear();
    return group;
  };
  for (MemberPods& of_more : more.pods) {
    const auto alike = std::ranges::find_if(pods, [&](const MemberPods& one) {
      return shape_of(one.group) == shape_of(of_more.group);
    });
    if (alike == pods.end()) {
      pods.push_back(std::move(of_more));
      continue;
    }
    AddPods(of_more.group, alike->group);
  }
}

}  // namespace espalier
