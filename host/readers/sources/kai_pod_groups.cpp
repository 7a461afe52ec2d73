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

// Reads one PodGroup of KAI's.
class KaiPodGroupReader {
 public:
  KaiPodGroupReader(JsonValue object, const SourceContext& context, Members& members)
      : object_(object),
        context_(context),
        members_(members),
        workload_(BeginWorkload(object, context)) {
    workload_.true_workload.reset();
  }

  GangWorkload Read(JsonValue spec) {
    WarnOfUnknownFields(
        spec,
        {"minMember", "minSubGroup", "queue", "priorityClassName", "preemptibility", "subGroups",
         "topologyConstraint", "markUnschedulable", "schedulingBackoff"},
        context_.read);
    ReadConstraint(spec, workload_.topology_request);
    ReadGang(spec);
    if (!topology_.empty()) workload_.head.topology_name = topology_;
    if (const std::string queue = TextMember(spec, "queue", context_.read); !queue.empty()) {
      workload_.head.queue_name = queue;
    }
    if (const std::string text = TextMember(spec, "preemptibility", context_.read); !text.empty()) {
      workload_.preemptibility = text;
    }
    ReadGroupPriority(spec, context_, workload_.head);
    return std::move(workload_);
  }

 private:
  // Reads the levels that a group or the whole asks for.
  void ReadConstraint(JsonValue parent, GroupTopologyRequest& request) {
    const auto of = ObjectMember(parent, "topologyConstraint", context_.read);
    if (!of) return;
    WarnOfUnknownFields(*of, {"topology", "requiredTopologyLevel", "preferredTopologyLevel"},
                        context_.read);
    const std::string named = TextMember(*of, "topology", context_.read);
    if (!topology_.empty() && !named.empty() && named != topology_) {
      workload_.waits_for = fmt::format(
          "its topologyConstraints name the topologies {} and {}; its pods go to one of them",
          Excerpt(topology_), Excerpt(named));
    }
    if (topology_.empty()) topology_ = named;
    const std::string required = TextMember(*of, "requiredTopologyLevel", context_.read);
    const std::string preferred = TextMember(*of, "preferredTopologyLevel", context_.read);
    if (required.empty() && preferred.empty()) return;
    request.levels.emplace();
    if (!required.empty()) request.levels->required = required;
    if (!preferred.empty()) request.levels->preferred = preferred;
  }

  // Reads the gang with its subgroups, and gives it its pods.
  void ReadGang(JsonValue spec) {
    GangGroup gang;
    gang.name = "gg";
    gang.pod_group = workload_.head.key.name;
    gang.min_count = Int32Member(spec, "minMember", context_.read);
    NamedGroup root;
    root.min_groups = Int32Member(spec, "minSubGroup", context_.read, 1);
    const std::string not_nested = NestSubGroups(ReadSubGroups(spec), root);
    const GroupFacts facts = AddGroups(std::move(root), "subgroup", gang, workload_);
    if (!not_nested.empty()) workload_.waits_for = not_nested;
    NamedGroup rest;
    TakePodsOf("", rest);
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
    WaitForPods(seen, workload_.gang_groups.emplace_back(std::move(gang)), workload_);
    workload_.running = seen > 0 && seen == bound;
  }

  // Returns the subgroups, each with the name of its parent.
  std::vector<std::pair<NamedGroup, std::string>> ReadSubGroups(JsonValue spec) {
    std::set<std::string> parents;
    ReadList(spec, "subGroups", context_.read, [&](JsonValue sub_group) {
      parents.insert(TextMember(sub_group, "parent", context_.read));
      return 0;
    });
    std::vector<std::pair<NamedGroup, std::string>> sub_groups;
    std::set<std::string> names;
    ReadList(spec, "subGroups", context_.read, [&](JsonValue sub_group) {
      WarnOfUnknownFields(sub_group,
                          {"name", "parent", "minMember", "minSubGroup", "topologyConstraint"},
                          context_.read);
      NamedGroup group;
      group.name = ReadNewName(sub_group, names, context_);
      ReadConstraint(sub_group, group.topology_request);
      group.min_groups = Int32Member(sub_group, "minSubGroup", context_.read, 1);
      const auto least = Int32Member(sub_group, "minMember", context_.read);
      if (!parents.contains(group.name)) {  // of one with others inside they say how many it needs
        TakePodsOf(group.name, group);
        group.min_pods = least.value_or(0);
      }
      sub_groups.emplace_back(std::move(group), TextMember(sub_group, "parent", context_.read));
      return 0;
    });
    return sub_groups;
  }

  // Gives a group the pods that name it; "" is of those that name none.
  void TakePodsOf(const std::string& name, NamedGroup& group) {
    const ObjectKey& key = workload_.head.key;
    const PartMembers taken =
        TakeMembers(members_, key.namespace_, {PartReference::Kind::kKaiPodGroup, key.name, name});
    TakePods(taken, group.pods.emplace());
    group.seen = taken.Seen();
    group.bound = taken.Bound();
    if (name.empty()) {
      ApplyKaiMetadata(object_, &taken, context_, workload_);
    } else {
      TakeQueueOfPods(taken, workload_.head);
    }
  }

  JsonValue object_;
  const SourceContext& context_;
  Members& members_;
  GangWorkload workload_;
  std::string topology_;  // that its constraints name
};

}  // namespace

void ReadKaiPodGroup(JsonValue object, const SourceContext& context, Members& members,
                     std::vector<GangWorkload>& workloads) {
  KaiPodGroupReader reader(object, context, members);
  if (const auto spec = SpecOf(object, context)) workloads.push_back(reader.Read(*spec));
}

}  // namespace espalier
