#include "host/what_if/victims_by_flavor.hpp"

#include <numeric>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace espalier {
namespace {

VictimsOnFlavor* FindOrAdd(VictimsByFlavor& held, const FlavorState* flavor, bool together) {
  const auto it = std::ranges::find(held, flavor, &VictimsOnFlavor::flavor);
  return it == held.end() ? &held.emplace_back(*flavor, together) : &*it;
}

// Returns amounts in ascending order of key(amount), which is less than `keys`; equal ones stay in
// order.
template <class Key>
std::vector<LeafAmount> SortedBy(const std::vector<LeafAmount>& amounts, std::size_t keys,
                                 const Key& key) {
  std::vector<std::size_t> place(keys + 1, 0);
  for (const LeafAmount& amount : amounts) ++place[key(amount) + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<LeafAmount> sorted(amounts.size());
  for (const LeafAmount& amount : amounts) sorted[place[key(amount)]++] = amount;
  return sorted;
}

}  // namespace

std::vector<LeafAmount> VictimsOnFlavor::HeldBy(std::span<const std::uint32_t> victims) const {
  constexpr std::int32_t kTile = TiledCapacity::kTileLeaves;
  const FlavorSnapshot& snapshot = flavor_->snapshot();
  std::vector<LeafAmount> amounts;
  for (const std::uint32_t victim : victims) {
    const std::span<const LeafAmount> of_victim = Of(victim);
    amounts.insert(amounts.end(), of_victim.begin(), of_victim.end());
  }
  const auto within_tile = [](const LeafAmount& amount) {
    return static_cast<std::size_t>(amount.column * kTile + amount.leaf % kTile);
  };
  amounts = SortedBy(amounts, kTile * snapshot.resources().size(), within_tile);
  const auto tiles = static_cast<std::size_t>(snapshot.leaf_count() / kTile + 1);
  return SortedBy(amounts, tiles,
                  [](const LeafAmount& amount) { return TiledCapacity::TileOf(amount.leaf); });
}

Result<VictimsByFlavor> ResolveVictims(const ClusterState& state, std::span<const Victim> victims,
                                       bool together) {
  VictimsByFlavor held;
  std::unordered_set<std::string_view> names;
  names.reserve(victims.size());
  std::vector<std::string_view> ids;  // of a run
  std::vector<LeafId> leaves;
  for (std::size_t v = 0; v < victims.size(); ++v) {
    const Victim& victim = victims[v];
    const auto wrong = [&](const std::string& problem) {
      return BadInput(fmt::format("victim {}: {}", Excerpt(victim.name), problem));
    };
    if (together && !names.insert(victim.name).second) {
      return wrong("it is named twice; want each once");
    }
    for (std::span<const FlavorLeafUsage> rest = victim.usage; !rest.empty();) {
      const std::span<const FlavorLeafUsage> run = FirstOfOneFlavor(rest);
      rest = rest.subspan(run.size());
      const FlavorState* flavor = state.Find(run[0].flavor);
      if (flavor == nullptr) {
        return wrong(fmt::format("it is on the flavor {}, which the state does not have",
                                 Excerpt(run[0].flavor)));
      }
      ids.clear();
      for (const FlavorLeafUsage& entry : run) ids.emplace_back(entry.leaf);
      leaves.resize(run.size());
      flavor->snapshot().FindLeaves(ids, leaves);
      VictimsOnFlavor* on_flavor = FindOrAdd(held, flavor, together);
      on_flavor->Begin(v);
      for (std::size_t i = 0; i < run.size(); ++i) {
        if (!leaves[i].valid()) continue;
        if (const std::string problem = on_flavor->Add(leaves[i], run[i].usage); !problem.empty()) {
          return wrong(problem);
        }
      }
    }
    for (VictimsOnFlavor& any : held) {
      any.Begin(v);
      if (const std::string problem = any.End(); !problem.empty()) return wrong(problem);
    }
  }
  return held;
}

TogetherCheck::TogetherCheck(const VictimsByFlavor& held, std::span<const Victim> victims)
    : held_(held), named_(victims.size(), false) {
  std::unordered_map<std::string_view, std::uint32_t> names;
  names.reserve(victims.size());
  for (const Victim& victim : victims) {
    const auto number = static_cast<std::uint32_t>(names.size());
    name_of_.push_back(names.try_emplace(victim.name, number).first->second);
  }
}

bool TogetherCheck::Holds(std::span<const std::uint32_t> list) {
  bool holds = true;
  for (const std::uint32_t victim : list) {
    holds = holds && !named_[name_of_[victim]];
    named_[name_of_[victim]] = true;
  }
  for (const std::uint32_t victim : list) named_[name_of_[victim]] = false;
  for (const VictimsOnFlavor& held : held_) {
    const FlavorSnapshot& snapshot = held.flavor()->snapshot();
    const auto leaves = static_cast<std::size_t>(snapshot.leaf_count());
    sums_.resize(std::max(sums_.size(), leaves * snapshot.resources().size()));
    const auto sum_of = [&](const LeafAmount& amount) -> Amount& {
      return sums_[static_cast<std::size_t>(amount.column) * leaves +
                   static_cast<std::size_t>(amount.leaf)];
    };
    for (const std::uint32_t victim : list) {
      for (const LeafAmount& amount : held.Of(victim)) {
        Amount& sum = sum_of(amount);
        sum = SaturatingAdd(sum, amount.amount);
        holds = holds && sum <= held.Used(amount);
      }
    }
    for (const std::uint32_t victim : list) {
      for (const LeafAmount& amount : held.Of(victim)) sum_of(amount) = 0;
    }
  }
  return holds;
}

}  // namespace espalier
