#include "host/nested/nested_steps.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "host/engine/feature_gates.hpp"
#include "host/engine/request_resolution.hpp"

namespace espalier {
namespace {

// The demands on a group by the groups around it.
struct Outer {
  std::int32_t required = kNoLevel;  // the finest level that is required
  std::string required_by;           // path of the group that says so
  std::int32_t depth = 0;
};

std::string JoinPath(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

// Adds what one shape needs to a list that has each shape once.
void AddNeed(std::vector<NestedNeed>& needs, const NestedNeed& more) {
  const auto known = std::ranges::find(needs, more.shape, &NestedNeed::shape);
  if (known == needs.end()) {
    needs.push_back(more);
  } else {
    known->min_pods += more.min_pods;
    known->max_pods += more.max_pods;
  }
}

class Resolver {
 public:
  Resolver(const NestedRequest& request, const FlavorSnapshot& snapshot, WorkBudget& budget)
      : request_(request), snapshot_(snapshot), budget_(budget) {}

  Result<NestedSteps> Resolve() {
    if (request_.root.copies != 1) {
      return Bad("", "copies", fmt::format("{}", request_.root.copies),
                 "the root of the tree has one copy; put copies below it");
    }
    if (auto checked = Check(request_.root, "", {}); !checked) {
      return tl::unexpected(std::move(checked.error()));
    }
    if (auto added = Add(request_.root, {0, 0, false}, -1); !added) {
      return tl::unexpected(std::move(added.error()));
    }
    SumNeeds();
    out_.uniform = IsUniform(request_.root);
    return std::move(out_);
  }

 private:
  struct Copy {
    std::int32_t copy = 0;
    std::int32_t position = 0;
    bool optional = false;
  };

  tl::unexpected<Error> Bad(const std::string& path, std::string_view field, std::string_view value,
                            std::string_view remedy) const {
    return BadInput(fmt::format("workload {}{}: {} is {}: {}", request_.key.ToString(),
                                path.empty() ? std::string() : ", group " + path, field, value,
                                remedy));
  }

  std::string LevelNames() const { return fmt::format("{}", fmt::join(snapshot_.levels(), ", ")); }

  // The level of a key, or kNoLevel where there is none.
  Result<std::int32_t> Level(const std::optional<std::string>& key, const std::string& path,
                             std::string_view field) const {
    if (!key) return kNoLevel;
    const std::int32_t level = snapshot_.FindLevel(*key);
    if (level < 0) {
      return Bad(
          path, field, *key,
          fmt::format("topology {} has the levels {}", snapshot_.topology_name(), LevelNames()));
    }
    return level;
  }

  Result<void> CheckCounts(const NestedGroup& group, const std::string& path) const {
    if (group.copies < 1) {
      return Bad(path, "copies", fmt::format("{}", group.copies), "it must be at least 1");
    }
    if (group.min_copies < 0 || group.min_copies > group.copies) {
      return Bad(path, "min_copies", fmt::format("{}", group.min_copies),
                 fmt::format("it must be from 0 to copies, {}", group.copies));
    }
    const auto children = static_cast<std::int32_t>(group.groups.size());
    if (group.min_groups < 0 || group.min_groups > children) {
      return Bad(path, "min_groups", fmt::format("{}", group.min_groups),
                 fmt::format("it must be from 0 to the number of groups inside, {}", children));
    }
    if (group.apart && !group.required) {
      return Bad(path, "apart", "true", "copies are apart in domains of a level that is required");
    }
    if (!group.pods) return {};
    if (!group.groups.empty()) {
      return Bad(path, "groups", fmt::format("{} groups", group.groups.size()),
                 "a group has pods or groups inside it, not both");
    }
    if (group.pods->min_count < 0 || group.pods->min_count > group.pods->max_count) {
      return Bad(path, "min_count", fmt::format("{}", group.pods->min_count),
                 fmt::format("it must be from 0 to max_count, {}", group.pods->max_count));
    }
    for (const auto& [name, amount] : group.pods->requests) {
      if (amount < 0) {
        return Bad(path, fmt::format("requests of {}", name), fmt::format("{}", amount),
                   "requests must not be negative");
      }
    }
    return {};
  }

  // Returns whether the group says for itself where its pods go, so that the group around it
  // cannot.
  static bool HasPlaceOfItsOwn(const NestedGroup& group) {
    return group.required || group.preferred || group.copies != 1 || group.min_copies != 1 ||
           group.ranks != RankPlacement::kByPath || !group.running_on.empty() ||
           group.min_groups != 0;
  }

  Result<void> CheckRanks(const NestedGroup& group, const std::string& path) const {
    const bool wants_level = HasLevel(group.ranks);
    if (wants_level != group.rank_level.has_value()) {
      return Bad(path, "rank_level", group.rank_level.value_or("not set"),
                 wants_level ? "ranks together, balanced or striped need a level"
                             : "only ranks together, balanced or striped have a level");
    }
    if (group.ranks == RankPlacement::kByPath) return {};
    const bool together = group.ranks == RankPlacement::kTogether;
    for (const NestedGroup& child : group.groups) {
      if (HasPlaceOfItsOwn(child) || (!child.pods && !together)) {
        return Bad(JoinPath(path, child.name), "the topology request", "set",
                   "where the ranks of a group have places, the groups inside it are pod sets, or, "
                   "together, groups of pod sets, with one copy and no request of their own");
      }
      for (const NestedGroup& inner : child.groups) {
        if (HasPlaceOfItsOwn(inner) || !inner.pods) {
          return Bad(JoinPath(JoinPath(path, child.name), inner.name), "the topology request",
                     "set", "in a group whose ranks are placed together only pod sets may be");
        }
      }
    }
    return {};
  }

  // Checks a group and all in it, without making a step of every copy.
  Result<void> Check(const NestedGroup& group, const std::string& path, Outer outer) const {
    if (outer.depth >= kMostNestedDepth) {
      return Bad(path, "the depth of the tree", fmt::format("more than {}", kMostNestedDepth),
                 "nest fewer groups");
    }
    if (auto checked = CheckCounts(group, path); !checked) return checked;
    if (auto checked = CheckRanks(group, path); !checked) return checked;
    const auto required = Level(group.required, path, "required");
    if (!required) return tl::unexpected(required.error());
    const auto preferred = Level(group.preferred, path, "preferred");
    if (!preferred) return tl::unexpected(preferred.error());
    const auto rank_level = Level(group.rank_level, path, "rank_level");
    if (!rank_level) return tl::unexpected(rank_level.error());
    if (*preferred != kNoLevel && *preferred < *required) {
      return Bad(path, "preferred", *group.preferred,
                 fmt::format("it must not be above the required level {}", *group.required));
    }
    if (*required != kNoLevel && *required < outer.required) {
      return Bad(path, "required", *group.required,
                 fmt::format("it must not be above {}, which {} around it requires",
                             snapshot_.levels()[static_cast<std::size_t>(outer.required)],
                             outer.required_by.empty() ? "the workload" : outer.required_by));
    }
    if (*required != kNoLevel) outer = {*required, path, outer.depth};
    ++outer.depth;
    std::set<std::string_view> names;
    for (const NestedGroup& child : group.groups) {
      if (child.name.empty() || !names.insert(child.name).second) {
        return Bad(path, "a group's name", child.name.empty() ? "empty" : child.name,
                   "groups inside a group need different names");
      }
      if (child.name.find_first_of("/[") != std::string::npos) {
        return Bad(path, "a group's name", child.name,
                   "it must have no '/' and no '[', which are for the paths of groups");
      }
      if (auto checked = Check(child, JoinPath(path, child.name), outer); !checked) return checked;
    }
    return {};
  }

  Result<std::int32_t> ShapeOf(const NestedPodSet& pods, const std::string& path) {
    PodSetRequest pod_set;
    pod_set.requests = pods.requests;
    pod_set.pod_template = pods.pod_template;
    pod_set.topology_request.emplace().required = snapshot_.levels().back();
    FeatureGates gates;
    gates.respect_node_affinity_preferred = false;
    const auto resolved = ResolveRequest(pod_set, snapshot_, gates);
    if (!resolved) {
      return BadInput(fmt::format("workload {}, group {}: {}", request_.key.ToString(), path,
                                  resolved.error()));
    }
    const auto shape = MakeShape(*resolved, pod_set, nullptr, snapshot_, budget_);
    const auto known = std::ranges::find(out_.shapes, shape);
    if (known != out_.shapes.end()) {
      return static_cast<std::int32_t>(known - out_.shapes.begin());
    }
    out_.shapes.push_back(shape);
    return static_cast<std::int32_t>(out_.shapes.size()) - 1;
  }

  // Children in the order they are placed in (R25.5), as positions in declared order.
  std::vector<std::int32_t> PlacingOrder(const NestedGroup& group) const {
    std::vector<std::int32_t> order(group.groups.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
    if (group.in_order || request_.profile == NestedProfile::kKep5732) return order;
    const auto key = [&](std::int32_t i) {
      const NestedGroup& child = group.groups[static_cast<std::size_t>(i)];
      return std::pair(!child.required.has_value(), -RequiredPods(child));
    };
    std::ranges::stable_sort(order, {}, key);
    return order;
  }

  // Pods that are required of one copy of a group.
  static std::int64_t RequiredPods(const NestedGroup& group) {
    if (group.pods) return group.pods->min_count;
    std::int64_t pods = 0;
    for (const NestedGroup& child : group.groups) {
      pods = std::min(kMostNestedPods + 1, pods + child.min_copies * RequiredPods(child));
    }
    return pods;
  }

  Result<void> AddPods(const NestedGroup& group, std::int32_t step) {
    auto shape = shape_of_.find(&group);
    if (shape == shape_of_.end()) {
      auto made = ShapeOf(*group.pods, out_.PathOf(step));
      if (!made) return tl::unexpected(std::move(made.error()));
      shape = shape_of_.emplace(&group, *made).first;
    }
    NestedStep& added = out_.steps[static_cast<std::size_t>(step)];
    added.shape = shape->second;
    added.min_pods = group.pods->min_count;
    added.max_pods = group.pods->max_count;
    pods_ += added.max_pods;
    if (pods_ > kMostNestedPods) {
      return Bad("", "the number of pods", fmt::format("more than {}", kMostNestedPods),
                 "split the workload");
    }
    const Count leaves = snapshot_.leaf_count();
    out_.most_takes += static_cast<std::int32_t>(std::min(added.min_pods, leaves) +
                                                 std::min(added.max_pods - added.min_pods, leaves));
    return {};
  }

  // Returns a leaf of the finest domain that there is of those of a node, whose level values the
  // text joins with commas: a node that takes no part, as a cordoned one, is in its rack all the
  // same. Invalid where that is above `level`, which then has no domain of the node's.
  LeafId NeighbourOf(std::string_view path, std::int32_t level) const {
    const TreeView tree = snapshot_.tree();
    const auto take = [&path] {
      const std::string_view value = path.substr(0, path.find(','));
      path.remove_prefix(std::min(path.size(), value.size() + 1));
      return value;
    };
    DomainId found = snapshot_.FindRoot(take());
    if (!found.valid()) return {};
    LeafId leaf = FirstLeafIn(found, 0);
    std::int32_t depth = 0;
    while (leaf.valid() && !path.empty() && depth < tree.lowest()) {
      const std::string_view value = take();
      DomainId next;
      const DomainRange children = ChildrenOf(tree, found.value);
      for (std::int32_t child = children.begin; child < children.end && !next.valid(); ++child) {
        if (snapshot_.Value(DomainId(child)) == value) next = DomainId(child);
      }
      const LeafId inside = next.valid() ? FirstLeafIn(next, depth + 1) : LeafId();
      if (!inside.valid()) break;
      found = next;
      leaf = inside;
      ++depth;
    }
    return depth < level ? LeafId() : leaf;
  }

  // Returns the first leaf of a domain that has a node; invalid where none has.
  LeafId FirstLeafIn(DomainId domain, std::int32_t level) const {
    const DomainRange leaves =
        LeavesBelow(snapshot_.tree(), {domain.value, domain.value + 1}, level);
    for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
      if (snapshot_.FindLeaf(snapshot_.LeafIdText(LeafId(leaf))).valid()) return LeafId(leaf);
    }
    return {};
  }

  Result<void> AddRunning(const NestedGroup& group, std::int32_t step) {
    NestedStep& added = out_.steps[static_cast<std::size_t>(step)];
    for (const std::string& id : group.running_on) {
      LeafId leaf = snapshot_.FindLeaf(id);
      if (!leaf.valid()) leaf = NeighbourOf(id, added.required);
      if (!leaf.valid()) {
        return Bad(out_.PathOf(step), "running_on", id,
                   fmt::format("flavor {} has no such node", snapshot_.flavor().name));
      }
      const bool first = added.first_running < 0;
      added.first_running = first ? leaf.value : std::min(added.first_running, leaf.value);
      added.last_running = std::max(added.last_running, leaf.value);
    }
    return {};
  }

  Result<void> Add(const NestedGroup& group, const Copy& copy, std::int32_t parent) {
    if (static_cast<std::int64_t>(out_.steps.size()) >= kMostNestedSteps) {
      return Bad("", "the number of groups", fmt::format("more than {}", kMostNestedSteps),
                 "split the workload");
    }
    if (!budget_.MayContinue()) return tl::unexpected(budget_.Check().error());
    const auto step = static_cast<std::int32_t>(out_.steps.size());
    const auto at = static_cast<std::size_t>(step);
    out_.steps.emplace_back();
    out_.sources.push_back({&group, copy.copy, copy.position});
    out_.steps[at].parent = parent;
    out_.steps[at].optional = copy.optional;
    out_.steps[at].in_order = group.in_order;
    out_.steps[at].apart = group.apart;
    out_.steps[at].required = group.required ? snapshot_.FindLevel(*group.required) : kNoLevel;
    if (request_.profile == NestedProfile::kEspalier && group.preferred) {
      out_.steps[at].preferred = snapshot_.FindLevel(*group.preferred);
    }
    if (auto added = AddRunning(group, step); !added) return added;
    if (group.pods) {
      if (auto added = AddPods(group, step); !added) return added;
    }
    for (const std::int32_t position : PlacingOrder(group)) {
      const NestedGroup& child = group.groups[static_cast<std::size_t>(position)];
      for (std::int32_t c = 0; c < child.copies; ++c) {
        const Copy next{c, position, c >= child.min_copies};
        if (auto added = Add(child, next, step); !added) return added;
      }
    }
    out_.steps[at].end = static_cast<std::int32_t>(out_.steps.size());
    if (group.groups.size() == 1) {
      const NestedGroup& child = group.groups.front();
      if (child.required && child.min_copies < child.copies && RequiredPods(child) > 0) {
        out_.steps[at].copy = step + 1;
        out_.steps[at].copies = child.copies;
      }
    }
    AddRanks(group, step);
    return {};
  }

  static NestedRanks RanksOf(RankPlacement ranks) {
    switch (ranks) {
      case RankPlacement::kByPath:
        return NestedRanks::kByPath;
      case RankPlacement::kContiguous:
        return NestedRanks::kContiguous;
      case RankPlacement::kTogether:
        return NestedRanks::kTogether;
      case RankPlacement::kBalanced:
      case RankPlacement::kStriped:
        break;
    }
    return NestedRanks::kDealt;
  }

  void AddRanks(const NestedGroup& group, std::int32_t step) {
    NestedStep& at = out_.steps[static_cast<std::size_t>(step)];
    at.ranks = RanksOf(group.ranks);
    if (at.ranks == NestedRanks::kByPath) return;
    if (group.rank_level) at.rank_level = snapshot_.FindLevel(*group.rank_level);
    at.rank_order_begin = static_cast<std::int32_t>(out_.rank_order.size());
    AppendRanks(step);
    at.rank_order_end = static_cast<std::int32_t>(out_.rank_order.size());
  }

  // The pod sets below a step in declared order; ranks run through those of one group.
  void AppendRanks(std::int32_t step) {
    const std::int32_t end = out_.steps[static_cast<std::size_t>(step)].end;
    std::vector<std::int32_t> children;
    for (std::int32_t s = step + 1; s < end; s = out_.steps[static_cast<std::size_t>(s)].end) {
      children.push_back(s);
    }
    std::ranges::sort(children, {}, [&](std::int32_t s) {
      return out_.sources[static_cast<std::size_t>(s)].position;
    });
    const bool together =
        out_.steps[static_cast<std::size_t>(step)].ranks == NestedRanks::kTogether;
    Count rank = 0;
    for (const std::int32_t child : children) {
      NestedStep& at = out_.steps[static_cast<std::size_t>(child)];
      if (at.shape < 0) {
        AppendRanks(child);
        continue;
      }
      if (!together) at.first_rank = static_cast<std::int32_t>(rank);
      rank += at.min_pods;
      out_.rank_order.push_back(child);
    }
  }

  // Sets what is required of each step and may be placed for it, by shape, and the shape of most
  // pods.
  void SumNeeds() {
    std::vector<std::vector<NestedNeed>> needs(out_.steps.size());
    for (std::size_t s = out_.steps.size(); s-- > 0;) {
      if (!budget_.MayContinue()) return;
      const NestedStep& step = out_.steps[s];
      if (step.shape >= 0) AddNeed(needs[s], {step.shape, step.min_pods, step.max_pods});
      if (step.parent < 0) continue;
      for (NestedNeed need : needs[s]) {
        if (step.optional) need.min_pods = 0;
        AddNeed(needs[static_cast<std::size_t>(step.parent)], need);
      }
    }
    for (std::size_t s = 0; s < out_.steps.size(); ++s) {
      std::ranges::sort(needs[s], {}, &NestedNeed::shape);
      NestedStep& step = out_.steps[s];
      step.needs_begin = static_cast<std::int32_t>(out_.needs.size());
      out_.needs.insert(out_.needs.end(), needs[s].begin(), needs[s].end());
      step.needs_end = static_cast<std::int32_t>(out_.needs.size());
      const auto main = std::ranges::max_element(needs[s], {}, &NestedNeed::max_pods);
      if (main != needs[s].end()) step.main_shape = main->shape;
    }
  }

  // Returns whether all pod sets are of one shape and no group has children of which one may be in
  // the other's way.
  bool IsUniform(const NestedGroup& group) const {
    if (out_.shapes.size() > 1 || group.ranks != RankPlacement::kByPath) return false;
    if (!group.running_on.empty()) return false;
    if (group.groups.size() == 1) return IsUniform(group.groups.front());
    return std::ranges::all_of(group.groups, [](const NestedGroup& child) {
      return child.pods && !child.required && child.running_on.empty();
    });
  }

  const NestedRequest& request_;
  const FlavorSnapshot& snapshot_;
  WorkBudget& budget_;
  NestedSteps out_;
  std::int64_t pods_ = 0;
  std::map<const NestedGroup*, std::int32_t> shape_of_;
};

// One chain with `pods` copied into it for every pod set below `group`.
void AppendChains(const NestedGroup& group, std::vector<NestedGroup>& chains) {
  NestedGroup own;
  own.name = group.name;
  own.copies = own.min_copies = group.min_copies;
  own.required = group.required;
  own.pods = group.pods;
  if (own.pods) {
    own.pods->max_count = own.pods->min_count;
    if (own.pods->min_count > 0) chains.push_back(std::move(own));
    return;
  }
  for (const NestedGroup& child : group.groups) {
    if (child.min_copies == 0) continue;
    std::vector<NestedGroup> below;
    AppendChains(child, below);
    for (NestedGroup& chain : below) {
      own.groups.assign(1, std::move(chain));
      chains.push_back(own);
    }
  }
}

}  // namespace

std::string NestedSteps::PathOf(std::int32_t step) const {
  const auto at = static_cast<std::size_t>(step);
  if (steps[at].parent < 0) return {};
  const Source& source = sources[at];
  std::string name = source.group->name;
  if (source.group->copies > 1) name += fmt::format("[{}]", source.copy);
  return JoinPath(PathOf(steps[at].parent), name);
}

Result<NestedSteps> ResolveNested(const NestedRequest& request, const FlavorSnapshot& snapshot,
                                  WorkBudget& budget) {
  return Resolver(request, snapshot, budget).Resolve();
}

std::vector<NestedGroup> ChainsOf(const NestedGroup& root) {
  std::vector<NestedGroup> chains;
  AppendChains(root, chains);
  for (NestedGroup& chain : chains) chain.copies = chain.min_copies = 1;
  return chains;
}

}  // namespace espalier
