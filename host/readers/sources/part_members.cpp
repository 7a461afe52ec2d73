#include "host/readers/sources/part_members.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "host/gangs/gang_counts.hpp"

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

std::int32_t PartMembers::Seen() const {
  std::int32_t seen = 0;
  for (const MemberPods& one : pods) seen += one.group.max_count.value_or(0);
  return seen;
}

std::int32_t PartMembers::Bound() const {
  std::int64_t count = 0;
  for (const MemberPods& one : pods) count += RunningPodsOf(one.group);
  return static_cast<std::int32_t>(count);
}

std::string CountedPods(std::int32_t count) {
  return fmt::format("{} pod{}", count, count == 1 ? "" : "s");
}

PartMembers TakeMembers(Members& members, const std::string& name_space,
                        const PartReference& reference) {
  const auto it = members.find({name_space, reference});
  if (it == members.end()) return {};
  PartMembers taken = std::move(it->second);
  members.erase(it);
  return taken;
}

void TakePods(const PartMembers& members, RankedGroup& ranked) {
  for (const MemberPods& one : members.pods) {
    ranked.eq_groups.emplace_back(one.group).min_count.reset();
  }
  if (ranked.eq_groups.size() == 1) ranked.eq_groups[0].name = "main";
  for (std::size_t i = 0; ranked.eq_groups.size() > 1 && i < ranked.eq_groups.size(); ++i) {
    std::string& name = ranked.eq_groups[i].name;
    if (name.empty()) name = fmt::format("main-{}", i);
  }
}

}  // namespace espalier
