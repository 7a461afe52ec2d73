#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/readers/sources/group_tree.hpp"
#include "host/readers/sources/kai_metadata.hpp"
#include "host/readers/sources/pod_groups.hpp"
#include "host/readers/sources/running_pods.hpp"

namespace espalier {
namespace {

// Moves each subgroup into the one that it names as its parent. Returns why that cannot be; "" when
// it can.
std::string NestSubGroups(std::vector<std::pair<NamedGroup, std::string>> sub_groups,
                          NamedGroup& root) {
  const auto find = [&](const std::string& name) {
    return std::ranges::find(sub_groups, name, [](const auto& one) { return one.first.name; });
  };
  for (const auto& [group, parent] : sub_groups) {
    if (!parent.empty() && find(parent) == sub_groups.end()) {
      return fmt::format("subgroup {} names the parent {}, which is none of its subgroups",
                         Excerpt(group.name), Excerpt(parent));
    }
    const std::string* above = &parent;
    for (std::size_t i = 0; !above->empty(); ++i) {
      if (i == sub_groups.size()) {
        return fmt::format("the parents of subgroup {} lead back to it", Excerpt(group.name));
      }
      above = &find(*above)->second;
    }
  }
  const auto add = [&](auto& self, const std::string& name, NamedGroup& around) -> void {
    for (auto& [group, parent] : sub_groups) {
      if (parent != name) continue;
      NamedGroup& inner = around.groups.emplace_back(group);
      self(self, inner.name, inner);
    }
  };
  add(add, "", root);
  return "";
}

// Puts all groups of a gang, and how many of them it needs, into one middle group.
void HoldTogether(std::string name, GangGroup& gang) {
  for (MiddleGroup& group : gang.middle_groups) ++group.within;
  for (RankedGroup& ranked : gang.ranked_groups) ++ranked.within;
  gang.middle_groups.insert(gang.middle_groups.begin(),
                            {.name = std::move(name), .min_groups = gang.min_groups});
  gang.min_groups.reset();
}

}  // namespace

void ReadKaiPodGroup(JsonValue object, const SourceContext& context, Members& members,
                     std::vector<GangWorkload>& workloads) {
  GangWorkload workload = BeginWorkload(object, context);
  workload.true_workload.reset();
  const std::string name = workload.head.key.name;
  const std::string name_space = workload.head.key.namespace_;
  const auto spec = SpecOf(object, context);
  if (!spec) return;
  WarnOfUnknownFields(*spec,
                      {"minMember", "minSubGroup", "queue", "priorityClassName", "preemptibility",
                       "subGroups", "topologyConstraint", "markUnschedulable", "schedulingBackoff"},
                      context.read);
  std::string topology;  // that its constraints name
  const auto constraint = [&](JsonValue parent, GroupTopologyRequest& request) {
    const auto of = ObjectMember(parent, "topologyConstraint", context.read);
    if (!of) return;
    WarnOfUnknownFields(*of, {"topology", "requiredTopologyLevel", "preferredTopologyLevel"},
                        context.read);
    const std::string named = TextMember(*of, "topology", context.read);
    if (!topology.empty() && !named.empty() && named != topology) {
      workload.waits_for = fmt::format(
          "its topologyConstraints name the topologies {} and {}; its pods go to one of them",
          Excerpt(topology), Excerpt(named));
    }
    if (topology.empty()) topology = named;
    const std::string required = TextMember(*of, "requiredTopologyLevel", context.read);
    const std::string preferred = TextMember(*of, "preferredTopologyLevel", context.read);
    if (required.empty() && preferred.empty()) return;
    request.levels.emplace();
    if (!required.empty()) request.levels->required = required;
    if (!preferred.empty()) request.levels->preferred = preferred;
  };
  constraint(*spec, workload.topology_request);
  GangGroup gang;
  gang.name = "gg";
  gang.pod_group = name;
  gang.min_count = Int32Member(*spec, "minMember", context.read);
  NamedGroup root;
  root.min_groups = Int32Member(*spec, "minSubGroup", context.read, 1);
  std::set<std::string> parents;
  ReadList(*spec, "subGroups", context.read, [&](JsonValue sub_group) {
    parents.insert(TextMember(sub_group, "parent", context.read));
    return 0;
  });
  const auto take = [&](const std::string& part, NamedGroup& group) {
    const PartMembers taken =
        TakeMembers(members, name_space, {PartReference::Kind::kKaiPodGroup, name, part});
    TakePods(taken, group.pods.emplace());
    group.seen = taken.Seen();
    group.bound = taken.Bound();
    if (part.empty()) {
      ApplyKaiMetadata(object, &taken, context, workload);
    } else {
      TakeQueueOfPods(taken, workload.head);
    }
  };
  std::vector<std::pair<NamedGroup, std::string>> sub_groups;
  std::set<std::string> names;
  ReadList(*spec, "subGroups", context.read, [&](JsonValue sub_group) {
    WarnOfUnknownFields(sub_group,
                        {"name", "parent", "minMember", "minSubGroup", "topologyConstraint"},
                        context.read);
    NamedGroup group;
    group.name = ReadNewName(sub_group, names, context);
    constraint(sub_group, group.topology_request);
    group.min_groups = Int32Member(sub_group, "minSubGroup", context.read, 1);
    const auto least = Int32Member(sub_group, "minMember", context.read);
    if (!parents.contains(group.name)) {  // of one with others inside they say how many it needs
      take(group.name, group);
      group.min_pods = least.value_or(0);
    }
    sub_groups.emplace_back(std::move(group), TextMember(sub_group, "parent", context.read));
    return 0;
  });
  const std::string not_nested = NestSubGroups(std::move(sub_groups), root);
  const GroupFacts facts = AddGroups(std::move(root), "subgroup", gang, workload);
  if (!not_nested.empty()) workload.waits_for = not_nested;
  NamedGroup rest;
  take("", rest);
  const std::int32_t seen = facts.seen + rest.seen;
  const std::int32_t bound = facts.bound + rest.bound;
  if (!rest.pods->eq_groups.empty()) {
    if (gang.min_groups) HoldTogether("subgroups", gang);  // the others are none of them
    rest.pods->name = "rg";
    gang.ranked_groups.push_back(*std::move(rest.pods));
  }
  if (!gang.min_count || *gang.min_count < facts.needed) {
    gang.min_count = std::max(facts.needed, 1);
  }
  if (!topology.empty()) workload.head.topology_name = topology;
  if (const std::string queue = TextMember(*spec, "queue", context.read); !queue.empty()) {
    workload.head.queue_name = queue;
  }
  if (const std::string text = TextMember(*spec, "preemptibility", context.read); !text.empty()) {
    workload.preemptibility = text;
  }
  ReadGroupPriority(*spec, context, workload.head);
  WaitForPods(seen, workload.gang_groups.emplace_back(std::move(gang)), workload);
  workload.running = seen > 0 && seen == bound;
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
