#include "tests/differential/victims.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/differential/generator.hpp"
#include "tests/oracle/oracle_input.hpp"
#include "tests/oracle/victims.hpp"

namespace espalier::differential {
namespace {

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
