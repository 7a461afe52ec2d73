#include "tests/differential/victims.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/differential/generator.hpp"
#include "tests/oracle/oracle_input.hpp"
#include "tests/oracle/victims.hpp"

namespace espalier::differential {
namespace {

constexpr const char* kOtherFlavor = "spot";

Amount Percent(Amount amount, std::int64_t percent) {
  return amount < 10'000 ? amount * percent / 100 : amount / 100 * percent;
}

// Most of what a node has, so that little fits beside it.
Resources MostOf(Random& random, const Resources& allocatable) {
  Resources usage;
  for (const auto& [resource, amount] : allocatable) {
    if (amount > 0) usage.Set(resource, Percent(amount, random.Between(80, 100)));
  }
  return usage;
}

// Takes a part of the amounts, all of them one time in two.
Resources TakePart(Random& random, Resources& amounts) {
  const std::int64_t percent = random.Chance(50) ? 100 : random.Between(1, 99);
  Resources part;
  Resources left;
  for (const auto& [resource, amount] : amounts) {
    const Amount taken = percent == 100 ? amount : Percent(amount, percent);
    part.Set(resource, taken);
    left.Set(resource, amount - taken);
  }
  amounts = left;
  return part;
}

void FillCluster(Random& random, ClusterStateInput& cluster) {
  std::map<std::string, Resources> usage;
  for (const FlavorLeafUsage& entry : cluster.tas_usage) usage[entry.leaf] = entry.usage;
  for (const Node& node : cluster.nodes) {
    const std::string leaf = LeafId(node, cluster.topologies.front());
    if (!leaf.empty() && random.Chance(85)) usage[leaf] = MostOf(random, node.allocatable);
  }
  cluster.tas_usage.clear();
  for (auto& [leaf, amounts] : usage) {
    cluster.tas_usage.push_back({cluster.flavors.front().name, leaf, std::move(amounts)});
  }
}

// The same on every leaf, by names of the victims' own.
std::vector<oracle::Victim> ForOracle(const std::vector<Victim>& victims) {
  std::vector<oracle::Victim> same;
  for (const Victim& victim : victims) {
    same.push_back({victim.name, {}});
    for (const FlavorLeafUsage& entry : victim.usage) {
      AddTo(same.back().usage[entry.leaf], entry.usage);
    }
  }
  return same;
}

// Adds a flavor with the same nodes. What most victims hold is on it too.
void AddFlavor(Random& random, VictimsInstance& made) {
  ClusterStateInput& cluster = made.instance.cluster;
  ResourceFlavor other = cluster.flavors.front();
  other.name = kOtherFlavor;
  cluster.flavors.push_back(other);
  for (Victim& victim : made.victims) {
    std::vector<FlavorLeafUsage> there;
    for (FlavorLeafUsage usage : victim.usage) {
      if (!random.Chance(60)) continue;
      usage.flavor = kOtherFlavor;
      cluster.tas_usage.push_back(usage);
      there.push_back(std::move(usage));
    }
    std::ranges::move(there, std::back_inserter(victim.usage));
    if (random.Chance(30)) random.Shuffle(victim.usage);
  }
}

// Returns a request like another one, which may be counted with it.
WorkloadRequest Resized(Random& random, WorkloadRequest request) {
  for (PodSetRequest& pod_set : request.pod_sets) {
    if (random.Chance(20)) continue;
    pod_set.count = static_cast<std::int32_t>(random.Between(1, pod_set.count * 3 / 2 + 1));
  }
  if (random.Chance(30) && request.pod_sets.front().topology_request) {
    TopologyRequest& topology = *request.pod_sets.front().topology_request;
    if (topology.preferred) std::swap(topology.preferred, topology.required);
  }
  return request;
}

void GenerateRequests(Random& random, VictimBatch& batch) {
  const Instance& instance = batch.made.instance;
  batch.requests = {instance.request};
  for (std::int64_t more = random.Between(0, 9); more > 0; --more) {
    WorkloadRequest request = random.Chance(60) ? Resized(random, random.Pick(batch.requests))
                                                : GeneratePlainRequest(random, instance.cluster);
    request.key.name = fmt::format("wl-{}", batch.requests.size());
    if (random.Chance(5)) request.simulate_empty = true;
    if (instance.cluster.flavors.size() > 1 && random.Chance(40)) {
      for (PodSetRequest& pod_set : request.pod_sets) {
        if (random.Chance(80)) pod_set.flavor = kOtherFlavor;
      }
    }
    batch.requests.push_back(std::move(request));
  }
}

std::vector<std::uint32_t> GenerateList(Random& random, const std::vector<Victim>& victims) {
  std::vector<std::uint32_t> list;
  const int percent = random.Pick({0, 50, 90, 100, 100});
  for (std::uint32_t victim = 0; victim < victims.size(); ++victim) {
    if (random.Chance(percent)) list.push_back(victim);
  }
  if (random.Chance(70)) random.Shuffle(list);
  return list;
}

// One list for all requests, a list for each, or some that requests share.
void GenerateLists(Random& random, VictimBatch& batch) {
  const int lists = random.Pick({1, 1, 2, 3, 10});
  for (int i = 0; i < lists; ++i) batch.lists.push_back(GenerateList(random, batch.made.victims));
  if (lists == 1 && random.Chance(50)) return;
  VictimLists of_requests;
  for (std::size_t w = 0; w < batch.requests.size(); ++w) {
    of_requests.push_back(random.Pick(batch.lists));
  }
  batch.lists = std::move(of_requests);
}

std::string Render(const VictimsInstance& asked) {
  std::string text = CaseLine("victims", asked.instance, AskOracle(asked.instance));
  for (const Victim& victim : asked.victims) {
    text += "\n" + victim.name + ":";
    for (const FlavorLeafUsage& entry : victim.usage) {
      text += " " + entry.leaf + "{";
      for (const auto& [resource, amount] : entry.usage) {
        text += fmt::format(" {}={}", resource, amount);
      }
      text += " }";
    }
  }
  return text;
}

}  // namespace

VictimsInstance GenerateVictims(std::uint64_t seed, std::int64_t most) {
  VictimsInstance made{Generate(seed), {}};
  Random random(~seed);
  FillCluster(random, made.instance.cluster);
  const std::int64_t count = random.Between(1, most);
  for (std::int64_t i = 0; i < count; ++i) made.victims.push_back({fmt::format("v{}", i), {}});
  random.Shuffle(made.victims);
  for (const FlavorLeafUsage& entry : made.instance.cluster.tas_usage) {
    Resources left = entry.usage;
    for (std::int64_t parts = random.Between(1, 3); parts > 0; --parts) {
      const auto victim = static_cast<std::size_t>(random.Between(0, count - 1));
      made.victims[victim].usage.push_back({entry.flavor, entry.leaf, TakePart(random, left)});
    }
  }
  for (Victim& victim : made.victims) random.Shuffle(victim.usage);
  return made;
}

VictimBatch GenerateVictimBatch(std::uint64_t seed) {
  Random random(seed * 3 + 1);
  VictimBatch batch;
  batch.made = GenerateVictims(seed, random.Pick({12, 12, 24, 80}));
  if (random.Chance(30)) AddFlavor(random, batch.made);
  GenerateRequests(random, batch);
  GenerateLists(random, batch);
  return batch;
}

std::vector<FlavorLeafUsage> UsageWithout(const std::vector<FlavorLeafUsage>& usage,
                                          const std::vector<Victim>& victims,
                                          const std::vector<std::uint32_t>& gone) {
  std::map<std::pair<std::string, std::string>, Resources> left;
  for (const FlavorLeafUsage& entry : usage) {
    AddTo(left[{entry.flavor, entry.leaf}], entry.usage);
  }
  for (const std::uint32_t victim : gone) {
    for (const FlavorLeafUsage& entry : victims[victim].usage) {
      AddTo(left[{entry.flavor, entry.leaf}], Times(entry.usage, -1));
    }
  }
  std::vector<FlavorLeafUsage> kept;
  for (auto& [key, amounts] : left) kept.push_back({key.first, key.second, std::move(amounts)});
  return kept;
}

std::optional<std::string> CheckVictims(std::uint64_t seed,
                                        const std::shared_ptr<Backend>& backend) {
  const VictimsInstance asked = GenerateVictims(seed);
  const Instance& instance = asked.instance;
  const auto state = ClusterState::Build(instance.cluster);
  if (!state) return fmt::format("seed {}: {}", seed, state.error().message);
  const auto got =
      FindPrefix(Engine(backend, instance.gates), *state, instance.request, asked.victims);
  if (!got) return fmt::format("seed {}: {}", seed, got.error().message);
  const oracle::VictimsAnswer want =
      oracle::FindVictims(oracle::MakeOracleInput(instance.cluster, instance.gates),
                          instance.request, ForOracle(asked.victims));
  std::vector<std::string> targets;
  for (const std::size_t target : got->targets) targets.push_back(asked.victims[target].name);
  const auto difference = Difference(want.result, got->answer);
  if (want.fits == got->fits && want.prefix == got->prefix && want.targets == targets &&
      !difference) {
    return std::nullopt;
  }
  return fmt::format(
      "seed {}\noracle: fits {}, prefix {}, targets {}\nengine: fits {}, prefix {}, "
      "targets {}\n{}\n{}",
      seed, want.fits, want.prefix, fmt::join(want.targets, " "), got->fits, got->prefix,
      fmt::join(targets, " "), difference.value_or("same placement"), Render(asked));
}

}  // namespace espalier::differential
