#include "host/readers/volcano_objects.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/readers/name_pattern.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {
namespace {

std::string LevelOf(std::int32_t tier) { return fmt::format("volcano.sh/hypernode-tier-{}", tier); }

HyperNode::Member ReadMember(JsonValue object, const ReadContext& context) {
  HyperNode::Member member;
  WarnOfUnknownFields(object, {"type", "selector"}, context);
  member.is_node = TextMember(object, "type", context) != "HyperNode";
  const auto selector = ObjectMember(object, "selector", context);
  if (!selector) {
    context.Missing(object, "selector", "exactMatch with a name, or labelMatch");
    return member;
  }
  WarnOfUnknownFields(*selector, {"exactMatch", "regexMatch", "labelMatch"}, context);
  if (const auto exact = ObjectMember(*selector, "exactMatch", context)) {
    member.name = RequiredText(*exact, "name", context);
  } else if (const auto labels = ObjectMember(*selector, "labelMatch", context)) {
    member.labels = TextMapMember(*labels, "matchLabels", context);
    if (Member(*labels, "matchExpressions") || member.labels.empty()) {
      context.Error(*labels, "it is not read",
                    "matchLabels alone, or an exactMatch for each member");
    }
  } else if (const auto pattern = ObjectMember(*selector, "regexMatch", context)) {
    member.pattern = RequiredText(*pattern, "pattern", context);
    if (!NamePattern::Parse(member.pattern)) {
      context.Error(*Member(*selector, "regexMatch"), "it is no regular expression that is read",
                    "literals, ., classes, groups, |, *, +, ?, {m,n}, ^ and $");
    }
  } else {
    context.Error(*selector, "it selects nothing", "exactMatch, regexMatch or labelMatch");
  }
  return member;
}

// The HyperNode of the lowest tier that a node, or a HyperNode of a lower tier, is a member of.
class Memberships {
 public:
  Memberships(const std::vector<HyperNode>& hyper_nodes, bool of_nodes) {
    for (const HyperNode& hyper_node : hyper_nodes) {
      for (const HyperNode::Member& member : hyper_node.members) {
        if (member.is_node != of_nodes) continue;
        if (!member.name.empty()) {
          Lower(hyper_node, named_[member.name]);
        } else if (auto pattern = NamePattern::Parse(member.pattern);
                   pattern && !member.pattern.empty()) {
          patterns_.emplace_back(*std::move(pattern), &hyper_node);
        } else if (!member.labels.empty()) {
          labelled_.emplace_back(&member.labels, &hyper_node);
        }
      }
    }
  }

  // Returns null where it is a member of none of a tier above `above`.
  const HyperNode* Find(const std::string& name, const StringMap& labels,
                        std::int64_t above) const {
    const HyperNode* found = nullptr;
    const auto take = [&](const HyperNode* hyper_node) {
      if (hyper_node->tier > above) Lower(*hyper_node, found);
    };
    if (const auto named = named_.find(name); named != named_.end()) take(named->second);
    for (const auto& [pattern, hyper_node] : patterns_) {
      if (pattern.Matches(name)) take(hyper_node);
    }
    for (const auto& [wanted, hyper_node] : labelled_) {
      const bool matches = std::ranges::all_of(*wanted, [&](const auto& label) {
        const std::string* value = labels.Find(label.first);
        return value != nullptr && *value == label.second;
      });
      if (matches) take(hyper_node);
    }
    return found;
  }

 private:
  static void Lower(const HyperNode& hyper_node, const HyperNode*& known) {
    if (known == nullptr || hyper_node.tier < known->tier) known = &hyper_node;
  }

  std::unordered_map<std::string_view, const HyperNode*> named_;
  std::vector<std::pair<NamePattern, const HyperNode*>> patterns_;
  std::vector<std::pair<const StringMap*, const HyperNode*>> labelled_;
};

}  // namespace

HyperNode ReadHyperNode(JsonValue object, const ReadContext& context) {
  HyperNode hyper_node;
  hyper_node.name = ReadObjectName(object, context);
  const auto spec = ObjectMember(object, "spec", context);
  if (!spec) {
    context.Missing(object, "spec", "the tier and the members");
    return hyper_node;
  }
  WarnOfUnknownFields(*spec, {"tier", "tierName", "members"}, context);
  if (!Member(*spec, "tier")) context.Missing(*spec, "tier", "a number, the finest tier the least");
  hyper_node.tier = Int32Member(*spec, "tier", context).value_or(0);
  hyper_node.tier_name = TextMember(*spec, "tierName", context);
  hyper_node.members = ReadList(*spec, "members", context,
                                [&](JsonValue member) { return ReadMember(member, context); });
  return hyper_node;
}

std::vector<NetworkTier> TiersOf(const std::vector<HyperNode>& hyper_nodes) {
  std::map<std::int32_t, std::string> names;
  for (const HyperNode& hyper_node : hyper_nodes) {
    std::string& name = names[hyper_node.tier];
    if (name.empty()) name = hyper_node.tier_name;
  }
  std::vector<NetworkTier> tiers;
  for (auto& [number, name] : names) tiers.push_back({number, std::move(name), LevelOf(number)});
  return tiers;
}

std::optional<Topology> HyperNodeTopology(const std::vector<NetworkTier>& tiers) {
  if (tiers.empty()) return std::nullopt;
  Topology topology{std::string(kHyperNodeTopology), {}};
  for (auto tier = tiers.rbegin(); tier != tiers.rend(); ++tier) {
    topology.levels.push_back(tier->level);
  }
  topology.levels.emplace_back(kHostnameLabel);
  return topology;
}

void LabelWithHyperNodes(const std::vector<HyperNode>& hyper_nodes,
                         const std::vector<NetworkTier>& tiers, std::vector<Node>& nodes) {
  if (tiers.empty()) return;
  const Memberships of_nodes(hyper_nodes, true);
  const Memberships of_hyper_nodes(hyper_nodes, false);
  std::unordered_map<const HyperNode*, const HyperNode*> above;
  for (const HyperNode& hyper_node : hyper_nodes) {
    above[&hyper_node] = of_hyper_nodes.Find(hyper_node.name, {}, hyper_node.tier);
  }
  for (Node& node : nodes) {
    const HyperNode* around = of_nodes.Find(node.name, node.labels, -1);
    for (const NetworkTier& tier : tiers) {
      while (around != nullptr && around->tier < tier.number) around = above[around];
      const bool is_in_one = around != nullptr && around->tier == tier.number;
      node.labels.Set(tier.level, is_in_one ? around->name : "alone-" + node.name);
    }
  }
}

KaiQueue ReadVolcanoQueue(JsonValue object, const ReadContext& context) {
  KaiQueue queue;
  queue.name = ReadObjectName(object, context);
  const auto spec = ObjectMember(object, "spec", context);
  if (!spec) return queue;
  queue.parent = TextMember(*spec, "parent", context);
  if (queue.parent == "root") queue.parent.clear();
  for (const auto& [resource, amount] : ResourcesMember(*spec, "capability", context)) {
    queue.limits[resource] = amount;
  }
  for (const std::string_view field : {"weight", "deserved", "guarantee", "reclaimable"}) {
    if (Member(*spec, field)) queue.unused_fields.push_back(fmt::format("spec.{}", field));
  }
  return queue;
}

}  // namespace espalier
