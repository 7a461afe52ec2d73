#include "host/packing/booked_amounts.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "host/packing/flavor_state.hpp"

namespace espalier {

namespace {

// Leaves whose usage is compared together.
constexpr std::int32_t kTogether = 64;

// Writes the usage that each of some leaves has more in `is` than in `was`, by leaf and then by
// resource. `plain`: no amount can saturate, and both have the same capacity without usage, so that
// usage is what is missing of one array.
void FindGained(const FlavorState& was, const FlavorState& is, bool plain, DomainRange leaves,
                std::vector<Amount>& gained) {
  const std::size_t columns = is.snapshot().resources().size();
  gained.resize(static_cast<std::size_t>(leaves.size()) * columns);
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t first = column * static_cast<std::size_t>(is.snapshot().stride()) +
                              static_cast<std::size_t>(leaves.begin);
    for (std::size_t i = 0; i < static_cast<std::size_t>(leaves.size()); ++i) {
      gained[i * columns + column] =
          plain ? was.remaining()[first + i] - is.remaining()[first + i]
                : SaturatingSubtract(is.Usage(first + i), was.Usage(first + i));
    }
  }
}

}  // namespace

void BookedAmounts::Add(const ClusterState& before, const ClusterState& after) {
  const std::vector<std::string_view> names = after.FlavorNames();
  flavors_.resize(names.size());
  std::vector<Amount> gained;
  for (std::size_t f = 0; f < names.size(); ++f) {
    const FlavorState& was = *before.Find(names[f]);
    const FlavorState& is = *after.Find(names[f]);
    const FlavorSnapshot& snapshot = is.snapshot();
    const std::size_t columns = snapshot.resources().size();
    const bool plain = &is.free() == &was.free() && is.IsExact() && was.IsExact();
    OfFlavor& booked = flavors_[f];
    const auto add = [&](DomainRange leaves) {
      FindGained(was, is, plain, leaves, gained);
      for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
        const auto on_leaf = std::span<const Amount>(gained).subspan(
            static_cast<std::size_t>(leaf - leaves.begin) * columns, columns);
        if (std::ranges::all_of(on_leaf, [](Amount amount) { return amount == 0; })) continue;
        booked.place_of_leaf.resize(static_cast<std::size_t>(snapshot.leaf_count()), -1);
        std::int32_t& place = booked.place_of_leaf[static_cast<std::size_t>(leaf)];
        if (place < 0) {
          place = static_cast<std::int32_t>(booked.leaves.size());
          booked.leaves.push_back(LeafId(leaf));
          booked.amounts.resize(booked.amounts.size() + columns);
        }
        Amount* amounts = booked.amounts.data() + static_cast<std::size_t>(place) * columns;
        for (std::size_t column = 0; column < columns; ++column) {
          amounts[column] = SaturatingAdd(amounts[column], on_leaf[column]);
        }
      }
    };
    is.stamps().ForEachDifference(was.stamps(), was.stamps().latest(), [&](std::size_t group) {
      const DomainRange leaves = snapshot.GroupLeaves(static_cast<std::int32_t>(group));
      for (std::int32_t begin = leaves.begin; begin < leaves.end; begin += kTogether) {
        add({begin, std::min(begin + kTogether, leaves.end)});
      }
    });
  }
}

Resources BookedAmounts::Take(const FlavorSnapshot& snapshot, OfFlavor& booked,
                              std::int32_t place) {
  const std::vector<std::string>& names = snapshot.resources();
  Amount* amounts = booked.amounts.data() + static_cast<std::size_t>(place) * names.size();
  thread_local RecentKeys recent;  // gangs of a shape take the same resources
  std::vector<std::pair<std::string_view, Amount>> taken;
  for (std::size_t column = 0; column < names.size(); ++column) {
    if (amounts[column] != 0) taken.emplace_back(names[column], std::exchange(amounts[column], 0));
  }
  return {std::move(taken), recent};
}

Resources BookedAmounts::Take(const ClusterState& state, std::string_view flavor,
                              std::string_view leaf) {
  if (flavors_.empty()) return {};
  const std::vector<std::string_view> names = state.FlavorNames();
  const auto found = std::ranges::lower_bound(names, flavor);
  const auto f = static_cast<std::size_t>(found - names.begin());
  if (f >= flavors_.size() || *found != flavor || flavors_[f].leaves.empty()) return {};
  const FlavorSnapshot& snapshot = state.Find(flavor)->snapshot();
  const LeafId id = snapshot.FindLeafOrVacant(leaf);
  if (!id.valid()) return {};
  const std::int32_t place = flavors_[f].place_of_leaf[static_cast<std::size_t>(id.value)];
  return place < 0 ? Resources() : Take(snapshot, flavors_[f], place);
}

std::vector<FlavorLeafUsage> BookedAmounts::TakeAll(const ClusterState& state) {
  std::vector<FlavorLeafUsage> all;
  const std::vector<std::string_view> names = state.FlavorNames();
  for (std::size_t f = 0; f < flavors_.size(); ++f) {
    const FlavorSnapshot& snapshot = state.Find(names[f])->snapshot();
    for (std::size_t place = 0; place < flavors_[f].leaves.size(); ++place) {
      Resources usage = Take(snapshot, flavors_[f], static_cast<std::int32_t>(place));
      if (usage.empty()) continue;
      all.push_back({std::string(names[f]), snapshot.LeafIdText(flavors_[f].leaves[place]),
                     std::move(usage)});
    }
  }
  flavors_.clear();
  return all;
}

std::int64_t BookedAmounts::MostBytes(const ClusterState& state) {
  std::int64_t bytes = 0;
  for (const std::string_view name : state.FlavorNames()) {
    const FlavorSnapshot& snapshot = state.Find(name)->snapshot();
    const std::size_t of_leaf =
        sizeof(std::int32_t) + sizeof(LeafId) + sizeof(Amount) * snapshot.resources().size();
    bytes += snapshot.leaf_count() * static_cast<std::int64_t>(of_leaf);
  }
  return bytes;
}

}  // namespace espalier
