#include "tests/differential/large_cluster.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/differential/generator.hpp"
#include "tests/generated/clusters.hpp"

namespace espalier::differential {
namespace {

// Usage by leaf.
using Used = std::map<std::string, Resources>;

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
  const std::int64_t nodes =
      random.Chance(10) ? random.Between(1024, 4096) : random.Between(64, 640);
  const std::int64_t of_rack = random.Pick<std::int64_t>({0, 16, 16, 64, 256});
  Racks racks;
  racks.flavor = "default";
  racks.depth = static_cast<std::size_t>(random.Between(1, 4));
  racks.racks = std::max<std::int64_t>(1, nodes / (of_rack > 0 ? of_rack : 20));
  racks.racks_of_block = 3;
  racks.hosts = of_rack > 0 ? Spread(std::min(of_rack, nodes)) : Spread(1, 40);
  const int taint_percent = random.Pick({0, 0, 5});
  const bool all_differ = random.Chance(30);
  ClusterStateInput cluster = MakeRacks(racks, random);
  Amount number = 0;
  for (Node& node : cluster.nodes) {
    const Amount kind = all_differ ? number++ : random.Between(0, 2);
    node.labels.Set("disk", random.Chance(50) ? "ssd" : "hdd");
    node.labels.Set("zone", random.Pick({"a", "b", "c"}));
    node.allocatable = {{"cpu", 64000 + 10 * kind},
                        {"memory", (256 + kind % 7) * kGi},
                        {"nvidia.com/gpu", random.Chance(90) ? 8 : 4},
                        {std::string(kPodsResource), 110}};
    if (random.Chance(taint_percent)) node.taints = {{"dedicated", "ml", "NoSchedule"}};
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
