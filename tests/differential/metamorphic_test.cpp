// Changes of the question that must not change the answer.
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "tests/differential/generator.hpp"

namespace espalier::differential::metamorphic_test {
namespace {

constexpr std::uint64_t kSeeds = 1500;

// Every assignment that a question holds.
std::vector<TopologyAssignment*> Assignments(Instance& instance) {
  std::vector<TopologyAssignment*> all;
  for (PodSetRequest& pod_set : instance.request.pod_sets) {
    if (pod_set.previous_assignment) all.push_back(&pod_set.previous_assignment.Mutable());
  }
  if (instance.request.replacement) {
    for (PodSetAssignment& admitted : instance.request.replacement->admitted) {
      if (admitted.topology_assignment) all.push_back(&admitted.topology_assignment.Mutable());
    }
  }
  return all;
}

// --- renaming ------------------------------------------------------------------------------------

// New names for the level values of an instance, in the same order and equal where they were equal.
class Renaming {
 public:
  explicit Renaming(Instance instance) {
    for (const Node& node : instance.cluster.nodes) {
      Collect(LevelValues(node, instance.topology()));
    }
    for (const TopologyAssignment* assignment : Assignments(instance)) {
      for (const auto& domain : assignment->domains) Collect(domain.values);
    }
    if (instance.request.replacement) Collect(instance.request.replacement->unhealthy_nodes);
    std::size_t number = 0;
    for (auto& [old_name, new_name] : names_) new_name = fmt::format("v{:05}", 7 * ++number);
  }

  // Names that are in no node and no assignment stay.
  std::string Apply(const std::string& name) const {
    const auto it = names_.find(name);
    return it == names_.end() ? name : it->second;
  }
  std::vector<std::string> Apply(std::vector<std::string> names) const {
    for (std::string& name : names) name = Apply(name);
    return names;
  }
  TopologyAssignment Apply(TopologyAssignment assignment) const {
    for (auto& domain : assignment.domains) domain.values = Apply(domain.values);
    return assignment;
  }
  std::string ApplyToLeafId(const std::string& id) const {
    std::vector<std::string> names(1);
    for (const char c : id) {
      if (c == ',') {
        names.emplace_back();
      } else {
        names.back() += c;
      }
    }
    return fmt::format("{}", fmt::join(Apply(names), ","));
  }

 private:
  void Collect(const std::vector<std::string>& names) {
    for (const std::string& name : names) names_[name];
  }

  std::map<std::string, std::string> names_;
};

Instance Renamed(Instance instance, const Renaming& renaming) {
  const Topology topology = instance.topology();
  for (Node& node : instance.cluster.nodes) {
    const auto values = renaming.Apply(LevelValues(node, topology));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (node.labels.Contains(topology.levels[i])) node.labels.Set(topology.levels[i], values[i]);
    }
  }
  for (auto& usage : instance.cluster.tas_usage) usage.leaf = renaming.ApplyToLeafId(usage.leaf);
  for (auto& usage : instance.request.assumed_usage) {
    usage.leaf = renaming.ApplyToLeafId(usage.leaf);
  }
  for (TopologyAssignment* assignment : Assignments(instance)) {
    *assignment = renaming.Apply(*assignment);
  }
  if (instance.request.replacement) {
    auto& nodes = instance.request.replacement->unhealthy_nodes;
    nodes = renaming.Apply(nodes);
  }
  return instance;
}

// The texts of R17.4 and R17.10 end in a name.
void CutNames(WorkloadAnswer& answer) {
  for (PodSetAnswer& pod_set : answer.pod_sets) {
    if (!pod_set.failure) continue;
    std::string& reason = pod_set.failure->reason;
    for (const std::string before : {"the stale domain", "for unhealthy node:"}) {
      const std::size_t at = reason.find(before);
      if (at != std::string::npos) reason.resize(at + before.size());
    }
  }
}

// --- the properties ------------------------------------------------------------------------------

class Metamorphic : public testing::Test {
 protected:
  // For every seed the changed instance has the same answer.
  template <class Change>
  void ExpectSameAnswer(const Change& change) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const Instance instance = Generate(seed);
      Random random(~seed);
      Instance changed = instance;
      change(random, changed);
      const auto difference = Difference(Ask(instance), Ask(changed));
      ASSERT_EQ(difference, std::nullopt) << "seed " << seed << "\n"
                                          << *difference << "\n"
                                          << CaseLine("changed", changed, AskOracle(changed));
    }
  }

  WorkloadAnswer Ask(const Instance& instance) { return AskEngine(instance, backend_); }

 private:
  std::shared_ptr<Backend> backend_ = MakeCpuBackend(1);
};

TEST_F(Metamorphic, RenamingDomainsInOrderRenamesTheAnswer) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Instance instance = Generate(seed);
    const Renaming renaming(instance);
    WorkloadAnswer expected = Ask(instance);
    for (PodSetAnswer& pod_set : expected.pod_sets) {
      if (pod_set.assignment) pod_set.assignment = renaming.Apply(*pod_set.assignment);
    }
    WorkloadAnswer answer = Ask(Renamed(instance, renaming));
    CutNames(expected);
    CutNames(answer);
    const auto difference = Difference(expected, answer);
    ASSERT_EQ(difference, std::nullopt) << "seed " << seed << "\n" << *difference;
  }
}

TEST_F(Metamorphic, OrderOfNodesAndUsageDoesNotMatter) {
  ExpectSameAnswer([](Random& random, Instance& instance) {
    random.Shuffle(instance.cluster.nodes);
    random.Shuffle(instance.cluster.tas_usage);
    random.Shuffle(instance.cluster.non_tas_usage);
    random.Shuffle(instance.request.assumed_usage);
  });
}

TEST_F(Metamorphic, NonManagedUsageMayBeSplit) {
  ExpectSameAnswer([](Random& random, Instance& instance) {
    std::vector<NodeUsage> split;
    for (NodeUsage usage : instance.cluster.non_tas_usage) {
      NodeUsage part{usage.node, {}};
      for (const auto& [name, amount] : Resources(usage.usage)) {
        part.usage.Set(name, random.Between(0, amount));
        usage.usage.Set(name, amount - *part.usage.Find(name));
      }
      split.push_back(part);
      split.push_back(usage);
    }
    random.Shuffle(split);
    instance.cluster.non_tas_usage = split;
  });
}

TEST_F(Metamorphic, NodesOutsideTheFlavorDoNotMatter) {
  ExpectSameAnswer([](Random& random, Instance& instance) {
    if (instance.cluster.nodes.empty()) return;
    for (int i = 0; i < 3; ++i) {
      Node node = random.Pick(instance.cluster.nodes);
      node.name = fmt::format("0-outside-{}", i);  // R4.4 would prefer the smallest name
      if (i == 0) node.ready = false;              // R3.1
      if (i == 1) node.unschedulable = true;
      if (i == 2) node.labels.Erase(random.Pick(instance.topology().levels));  // R3.2
      instance.cluster.nodes.push_back(node);
      instance.cluster.non_tas_usage.push_back({node.name, node.allocatable});
    }
  });
}

TEST_F(Metamorphic, PreferNoScheduleTaintsDoNotMatter) {
  ExpectSameAnswer([](Random& random, Instance& instance) {
    for (Node& node : instance.cluster.nodes) {
      if (random.Chance(50)) {
        node.taints.insert(node.taints.begin(), {"soft", "y", "PreferNoSchedule"});
      }
    }
  });
}

// All amounts but pod slots, of which every pod takes exactly one (R5.11).
bool Scale(Resources& resources, Amount factor) {
  Resources scaled;
  for (const auto& [name, amount] : resources) {
    if (amount > std::numeric_limits<Amount>::max() / 1'000'000) return false;  // may saturate
    scaled.Set(name, name == kPodsResource ? amount : amount * factor);
  }
  resources = scaled;
  return true;
}

TEST_F(Metamorphic, ScalingAllQuantitiesDoesNotMatter) {
  ExpectSameAnswer([](Random& random, Instance& instance) {
    const Amount factor = random.Between(2, 9);
    Instance scaled = instance;
    bool in_range = true;
    for (Node& node : scaled.cluster.nodes) in_range &= Scale(node.allocatable, factor);
    for (NodeUsage& usage : scaled.cluster.non_tas_usage) in_range &= Scale(usage.usage, factor);
    for (FlavorLeafUsage& usage : scaled.cluster.tas_usage) in_range &= Scale(usage.usage, factor);
    for (LeafUsage& usage : scaled.request.assumed_usage) in_range &= Scale(usage.usage, factor);
    for (PodSetRequest& pod_set : scaled.request.pod_sets) {
      in_range &= Scale(pod_set.requests, factor);
    }
    if (in_range) instance = scaled;
  });
}

}  // namespace
}  // namespace espalier::differential::metamorphic_test
