#include "tests/differential/large_cluster.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/differential/generator.hpp"

namespace espalier::differential {
namespace {

// Usage by leaf.
using Used = std::map<std::string, Resources>;

struct LargeStyle {
  std::int64_t nodes = 0;
  std::size_t levels = 1;
  std::int64_t rack = 0;  // nodes of a rack; 0: of any size
  bool all_differ = false;
  int taint_percent = 0;
};

LargeStyle GenerateLargeStyle(Random& random) {
  LargeStyle style;
  const bool huge = random.Chance(10);
  style.nodes = huge ? random.Between(1024, 4096) : random.Between(64, 640);
  style.levels = static_cast<std::size_t>(random.Between(1, 4));
  style.rack = random.Pick({0, 16, 16, 64, 256});
  style.all_differ = random.Chance(30);
  style.taint_percent = random.Pick({0, 0, 5});
  return style;
}

Node MakeNode(Random& random, const LargeStyle& style, const std::vector<std::string>& levels,
              std::int64_t number, std::int64_t rack) {
  Node node;
  node.name = fmt::format("n{:05}", number);
  node.ready = true;
  std::int64_t index = rack;
  for (std::size_t level = levels.size() - 1; level-- > 0; index /= 3) {
    node.labels.Set(levels[level], fmt::format("{}{:04}", levels[level].back(), index));
  }
  node.labels.Set(kHostnameLabel, node.name);
  node.labels.Set("disk", random.Chance(50) ? "ssd" : "hdd");
  node.labels.Set("zone", random.Pick({"a", "b", "c"}));
  const Amount kind = style.all_differ ? number : random.Between(0, 2);
  node.allocatable.Set("cpu", 64000 + 10 * kind);
  node.allocatable.Set("memory", (256 + kind % 7) * kGi);
  node.allocatable.Set("nvidia.com/gpu", random.Chance(90) ? 8 : 4);
  node.allocatable.Set(kPodsResource, 110);
  if (random.Chance(style.taint_percent)) node.taints = {{"dedicated", "ml", "NoSchedule"}};
  return node;
}

// Returns usage that may be there; it is of few kinds, so that leaves stay alike.
Resources SomeUsage(Random& random) {
  const Amount pods = random.Between(1, 8);
  return {{"cpu", 7900 * pods}, {"nvidia.com/gpu", pods}, {std::string(kPodsResource), pods}};
}

// One cluster, the state that the engine has of it, and what the oracle is to know.
class Sequence {
 public:
  Sequence(std::uint64_t seed, std::shared_ptr<Backend> backend)
      : random_(seed), backend_(std::move(backend)), instance_(Generate(random_)) {
    instance_.cluster = GenerateLargeCluster(random_);
    instance_.gates.elastic_jobs_via_workload_slices_with_tas = false;
    // The oracle tries all sets of domains.
    if (instance_.cluster.nodes.size() > 128) instance_.gates.balanced_placement = false;
    const std::int64_t percent = random_.Pick({0, 30, 90});
    for (const Node& node : instance_.cluster.nodes) {
      if (random_.Chance(static_cast<int>(percent))) Use(node, SomeUsage(random_), 1);
    }
    TellOracle();
    state_.emplace(*ClusterState::Build(instance_.cluster));
  }

  std::optional<std::string> AskAfterChange() {
    Change();
    TellOracle();
    for (std::int64_t i = random_.Between(1, 3); i > 0; --i) {
      instance_.request = GeneratePlainRequest(random_, instance_.cluster);
      for (PodSetRequest& pod_set : instance_.request.pod_sets) {
        if (pod_set.count > 1) pod_set.count *= random_.Pick({1, 1, 4, 24});
      }
      const WorkloadAnswer expected = AskOracle(instance_);
      const Engine engine(backend_, instance_.gates);
      const WorkloadAnswer answer = engine.NominateOne(*state_, instance_.request);
      if (auto difference = Difference(expected, answer)) {
        return fmt::format("{}\n{}", *difference, CaseLine("large", instance_, expected));
      }
    }
    return std::nullopt;
  }

 private:
  void Change() {
    switch (random_.Between(0, 4)) {
      case 0:
        return;
      case 1:
        state_.emplace(state_->Branch());
        return;
      case 2:
        return ChangeCapacity();
      default:
        return ChangeUsage();
    }
  }

  // A run of nodes comes to have more or less in use.
  void ChangeUsage() {
    const std::vector<Node>& nodes = instance_.cluster.nodes;
    const std::int64_t first = random_.Between(0, std::ssize(nodes) - 1);
    const std::int64_t end =
        std::min(first + random_.Pick<std::int64_t>({1, 3, 16, 100}), std::ssize(nodes));
    const bool more = random_.Chance(60);
    const Resources usage = SomeUsage(random_);
    std::vector<FlavorLeafUsage> changes;
    for (std::int64_t n = first; n < end; ++n) {
      const Node& node = nodes[static_cast<std::size_t>(n)];
      changes.push_back({"default", LeafId(node, instance_.topology()), usage});
      Use(node, usage, more ? 1 : -1);
    }
    more ? state_->AddUsage(changes) : state_->RemoveUsage(changes);
  }

  void ChangeCapacity() {
    const auto position =
        static_cast<std::size_t>(random_.Between(0, std::ssize(instance_.cluster.nodes) - 1));
    Node& node = instance_.cluster.nodes[position];
    const Node before = node;
    node.allocatable.Set("nvidia.com/gpu", random_.Between(0, 9));
    const auto& others = instance_.cluster.non_tas_usage;
    const auto used = std::ranges::find(others, node.name, &NodeUsage::node);
    const Resources* used_by_others = used == others.end() ? nullptr : &used->usage;
    StateChange change;
    change.nodes = {{&before, &node, used_by_others, used_by_others}};
    change.usage_on = [&](std::string_view, std::string_view leaf) -> const Resources* {
      const auto found = used_.find(std::string(leaf));
      return found == used_.end() ? nullptr : &found->second;
    };
    if (!state_->CanApply(change) || !state_->Apply(change, true, WorkBudget::Unlimited())) {
      state_.emplace(*ClusterState::Build(instance_.cluster));
    }
  }

  void Use(const Node& node, const Resources& usage, std::int64_t sign) {
    AddTo(used_[LeafId(node, instance_.topology())], Times(usage, sign));
  }

  void TellOracle() {
    instance_.cluster.tas_usage.clear();
    for (const auto& [leaf, usage] : used_) {
      instance_.cluster.tas_usage.push_back({"default", leaf, usage});
    }
  }

  Random random_;
  std::shared_ptr<Backend> backend_;
  Instance instance_;
  Used used_;
  std::optional<ClusterState> state_;
};

}  // namespace

ClusterStateInput GenerateLargeCluster(Random& random) {
  const LargeStyle style = GenerateLargeStyle(random);
  std::vector<std::string> levels = {"cloud.com/zone", "cloud.com/block", "cloud.com/rack"};
  levels.erase(levels.begin(), levels.end() - static_cast<std::ptrdiff_t>(style.levels - 1));
  levels.emplace_back(kHostnameLabel);
  ClusterStateInput cluster;
  cluster.topologies = {{"default", levels}};
  ResourceFlavor flavor;
  flavor.name = "default";
  flavor.topology_name = "default";
  cluster.flavors = {flavor};
  std::int64_t rack = 0;
  std::int64_t left = 0;  // nodes of the rack
  for (std::int64_t i = 0; i < style.nodes; ++i) {
    if (left-- == 0) {
      ++rack;
      left = (style.rack > 0 ? style.rack : random.Between(1, 40)) - 1;
    }
    cluster.nodes.push_back(MakeNode(random, style, levels, i, rack));
  }
  return cluster;
}

std::optional<std::string> CheckLargeCluster(std::uint64_t seed,
                                             const std::shared_ptr<Backend>& backend) {
  constexpr int kChanges = 8;
  Sequence sequence(seed, backend);
  for (int change = 0; change < kChanges; ++change) {
    if (const auto difference = sequence.AskAfterChange()) {
      return fmt::format("seed {}, change {}\n{}", seed, change, *difference);
    }
  }
  return std::nullopt;
}

}  // namespace espalier::differential
