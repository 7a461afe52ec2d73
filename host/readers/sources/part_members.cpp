#include <algorithm>
#include <iterator>
#include <utility>

#include "host/gangs/gang_counts.hpp"
#include "host/readers/sources/pod_groups.hpp"

namespace espalier {

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
    alike->group.max_count =
        alike->group.max_count.value_or(0) + of_more.group.max_count.value_or(0);
    std::ranges::move(of_more.group.running, std::back_inserter(alike->group.running));
    MergeRunning(alike->group);
  }
}

}  // namespace espalier
