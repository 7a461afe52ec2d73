#include "tests/nested/nested_generator.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tests/differential/generator.hpp"
#include "tests/generated/random.hpp"

namespace espalier::differential {
namespace {

constexpr std::size_t kMostNodes = 24;

class TreeGenerator {
 public:
  TreeGenerator(Random& random, const ClusterStateInput& cluster, bool one_shape)
      : random_(random), cluster_(cluster), levels_(cluster.topologies.front().levels) {
    const auto shapes = one_shape ? 1 : random.Between(2, 3);
    for (std::int64_t i = 0; i < shapes; ++i) shapes_.push_back(Shape());
    small_ = random.Chance(60);
  }

  NestedGroup Tree() {
    NestedGroup root = Group("w", static_cast<int>(random_.Between(0, 3)), -1);
    root.copies = root.min_copies = 1;
    return root;
  }

 private:
  NestedPodSet Shape() {
    NestedPodSet pods;
    pods.requests.Set("cpu", 100);
    if (cluster_.nodes.empty()) return pods;
    const Resources& any = random_.Pick(cluster_.nodes).allocatable;
    for (const auto& [name, amount] : any) {
      if (name == kPodsResource || !random_.Chance(60)) continue;
      pods.requests.Set(name, std::max<Amount>(0, amount / random_.Between(1, 8)));
    }
    if (random_.Chance(15)) pods.pod_template.node_selector.Set("disk", "ssd");
    if (random_.Chance(15)) pods.pod_template.tolerations.push_back({"spot", "Exists", "", ""});
    return pods;
  }

  std::int32_t Number(std::int64_t most) {
    return static_cast<std::int32_t>(random_.Between(1, small_ ? (most + 1) / 2 : most));
  }

  NestedGroup Pods(std::string name) {
    NestedGroup group;
    group.name = std::move(name);
    group.pods = random_.Pick(shapes_);
    group.pods->max_count = Number(8);
    group.pods->min_count = group.pods->max_count;
    if (random_.Chance(25)) {
      group.pods->min_count = static_cast<std::int32_t>(random_.Between(0, group.pods->max_count));
    }
    return group;
  }

  int SomeLevel(int finest_of_outer) {
    const int last = static_cast<int>(levels_.size()) - 1;
    return static_cast<int>(random_.Between(std::max(0, finest_of_outer), last));
  }

  const std::string& Key(int level) const { return levels_[static_cast<std::size_t>(level)]; }

  // Answers the finest level that is required by now.
  int AddTopology(NestedGroup& group, int outer) {
    int required = -1;
    if (random_.Chance(45)) required = SomeLevel(outer);
    if (required >= 0) group.required = Key(required);
    if (random_.Chance(25)) group.preferred = Key(SomeLevel(required));
    if (random_.Chance(3)) group.running_on = {SomeLeaf()};
    return std::max(required, outer);
  }

  std::string SomeLeaf() {
    std::vector<std::string> leaves;
    const Topology& topology = cluster_.topologies.front();
    const ResourceFlavor& flavor = cluster_.flavors.front();
    for (const Node& node : cluster_.nodes) {
      bool belongs = node.ready && !node.unschedulable;
      for (const auto& [key, value] : flavor.node_labels) {
        const std::string* label = node.labels.Find(key);
        belongs = belongs && (label != nullptr ? *label : std::string()) == value;
      }
      for (const std::string& level : topology.levels) {
        belongs = belongs && node.labels.Contains(level);
      }
      if (belongs) leaves.push_back(LeafId(node, topology));
    }
    return leaves.empty() ? std::string() : random_.Pick(leaves);
  }

  void AddCopies(NestedGroup& group) {
    if (!random_.Chance(50)) return;
    group.copies = Number(4);
    group.min_copies = random_.Chance(70)
                           ? group.copies
                           : static_cast<std::int32_t>(random_.Between(0, group.copies));
    group.apart = group.required && random_.Chance(25);
  }

  NestedGroup Ranked(std::string name) {
    NestedGroup group;
    group.name = std::move(name);
    const std::int64_t sets = random_.Between(1, 3);
    for (std::int64_t i = 0; i < sets; ++i) group.groups.push_back(Pods(fmt::format("p{}", i)));
    group.ranks = random_.Pick({RankPlacement::kContiguous, RankPlacement::kBalanced,
                                RankPlacement::kStriped, RankPlacement::kTogether});
    if (group.ranks != RankPlacement::kContiguous) group.rank_level = Key(SomeLevel(0));
    if (group.ranks == RankPlacement::kTogether && random_.Chance(50)) {
      NestedGroup inner;
      inner.name = "inner";
      inner.groups = {Pods("a"), Pods("b")};
      group.groups.push_back(inner);
    }
    return group;
  }

  NestedGroup Group(std::string name, int depth, int outer) {
    NestedGroup group;
    if (depth == 0) {
      group = Pods(std::move(name));
    } else if (random_.Chance(25)) {
      group = Ranked(std::move(name));
    } else {
      group.name = std::move(name);
      group.in_order = random_.Chance(20);
    }
    outer = AddTopology(group, outer);
    AddCopies(group);
    if (depth == 0 || group.ranks != RankPlacement::kByPath) return group;
    const std::int64_t children = random_.Pick({0, 1, 1, 1, 1, 2, 2, 2, 3});
    for (std::int64_t i = 0; i < children; ++i) {
      group.groups.push_back(Group(fmt::format("g{}", i), depth - 1, outer));
    }
    return group;
  }

  Random& random_;
  const ClusterStateInput& cluster_;
  const std::vector<std::string>& levels_;
  std::vector<NestedPodSet> shapes_;
  bool small_ = false;
};

void DropMissingLeaves(NestedGroup& group) {
  if (!group.running_on.empty() && group.running_on.front().empty()) group.running_on.clear();
  for (NestedGroup& child : group.groups) DropMissingLeaves(child);
}

}  // namespace

NestedInstance GenerateNested(std::uint64_t seed) {
  Random random(seed);
  NestedInstance instance;
  instance.cluster = GenerateCluster(random);
  if (instance.cluster.nodes.size() > kMostNodes) instance.cluster.nodes.resize(kMostNodes);
  if (random.Chance(15)) instance.profile = NestedProfile::kKep5732;
  const std::int64_t requests = random.Between(1, 3);
  const bool one_shape = random.Chance(50);
  for (std::int64_t i = 0; i < requests; ++i) {
    TreeGenerator generator(random, instance.cluster, one_shape);
    NestedRequest request;
    request.key = {"ns", fmt::format("w{}", i)};
    request.flavor = instance.cluster.flavors.front().name;
    request.profile = instance.profile;
    request.root = generator.Tree();
    DropMissingLeaves(request.root);
    instance.requests.push_back(std::move(request));
  }
  return instance;
}

}  // namespace espalier::differential
