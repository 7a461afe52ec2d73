#include "host/readers/sources/group_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "host/readers/sources/running_pods.hpp"

namespace espalier {
namespace {

std::int32_t Bounded(std::int64_t pods) {
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(pods, std::numeric_limits<std::int32_t>::max()));
}

std::int32_t LeastOf(const NamedGroup& group) {
  const auto all = static_cast<std::int32_t>(group.groups.size());
  return group.min_groups.value_or(all);
}

class Adder {
 public:
  Adder(std::string noun, GangGroup& gang, GangWorkload& workload)
      : noun_(std::move(noun)), gang_(gang), workload_(workload) {}

  GroupFacts Add(NamedGroup root) {
    if (std::string missing = Prune(root); !missing.empty()) {
      workload_.waits_for = missing + ": it waits for the others";
    }
    const GroupFacts facts{NeededOf(root), SeenOf(root, &NamedGroup::seen),
                           SeenOf(root, &NamedGroup::bound)};
    gang_.min_groups = FewerOf(root);
    for (NamedGroup& group : root.groups) Move(std::move(group), -1);
    return facts;
  }

 private:
  // Leaves out the groups that others make up for. Returns what the group itself lacks; "" when it
  // lacks nothing.
  std::string Prune(NamedGroup& group) {
    if (group.pods) {
      if (group.seen >= group.min_pods) return "";
      return fmt::format("{} of the {} pods of {} {} are there", group.seen, group.min_pods, noun_,
                         group.name);
    }
    std::vector<std::string> missing;
    for (NamedGroup& inner : group.groups) missing.push_back(Prune(inner));
    const std::int32_t least = LeastOf(group);
    const auto there = static_cast<std::int32_t>(std::ranges::count(missing, ""));
    if (there < least) {
      const auto first =
          std::ranges::find_if(missing, [](const std::string& one) { return !one.empty(); });
      if (first != missing.end()) return *first;
      return fmt::format("{} of the {} {}s of {} are there", there, least, noun_,
                         group.name.empty() ? "it" : group.name);
    }
    std::vector<NamedGroup> kept;
    for (std::size_t i = 0; i < missing.size(); ++i) {
      if (missing[i].empty()) {
        kept.push_back(std::move(group.groups[i]));
        continue;
      }
      workload_.notes.push_back(fmt::format("{}; {} {} is left out, as {} of {} do", missing[i],
                                            noun_, group.groups[i].name, least, missing.size()));
    }
    group.groups = std::move(kept);
    return "";
  }

  static std::int32_t NeededOf(const NamedGroup& group) {
    if (group.pods) return group.min_pods;
    std::vector<std::int64_t> inside;
    for (const NamedGroup& inner : group.groups) inside.push_back(NeededOf(inner));
    std::ranges::sort(inside);
    const auto least = std::clamp<std::ptrdiff_t>(LeastOf(group), 0, std::ssize(inside));
    return Bounded(std::accumulate(inside.begin(), inside.begin() + least, std::int64_t{0}));
  }

  static std::int32_t SeenOf(const NamedGroup& group, std::int32_t NamedGroup::*pods) {
    std::int64_t sum = group.*pods;
    for (const NamedGroup& inner : group.groups) sum += SeenOf(inner, pods);
    return Bounded(sum);
  }

  // Returns how many of its groups it needs, where that is not all of them.
  static std::optional<std::int32_t> FewerOf(const NamedGroup& group) {
    return LeastOf(group) < std::ssize(group.groups) ? group.min_groups : std::nullopt;
  }

  void Move(NamedGroup group, std::int32_t within) {
    if (group.pods) {
      RankedGroup& ranked = gang_.ranked_groups.emplace_back(*std::move(group.pods));
      ranked.name = group.name;
      ranked.within = within;
      ranked.topology_request = std::move(group.topology_request);
      if (group.min_pods > 0) ShareMinimum(group.min_pods, ranked);
      for (EqGroup& pods : ranked.eq_groups) {
        pods.name = ranked.eq_groups.size() == 1 ? group.name : group.name + "-" + pods.name;
      }
      if (ranked.eq_groups.empty()) gang_.ranked_groups.pop_back();
      return;
    }
    const auto position = static_cast<std::int32_t>(gang_.middle_groups.size());
    gang_.middle_groups.push_back({.name = group.name,
                                   .within = within,
                                   .min_groups = FewerOf(group),
                                   .topology_request = std::move(group.topology_request)});
    for (NamedGroup& inner : group.groups) Move(std::move(inner), position);
  }

  std::string noun_;
  GangGroup& gang_;
  GangWorkload& workload_;
};

}  // namespace

GroupFacts AddGroups(NamedGroup root, const std::string& noun, GangGroup& gang,
                     GangWorkload& workload) {
  return Adder(noun, gang, workload).Add(std::move(root));
}

}  // namespace espalier
