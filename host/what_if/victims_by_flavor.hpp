// Resolves the usage of victims to leaves and columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/model/resources.hpp"
#include "host/packing/cluster_state.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/what_if/fit_tracker.hpp"
#include "host/what_if/victim.hpp"

namespace espalier {

// The usage of all victims on one flavor, resolved, and checked to be no more than what is in use.
class VictimsOnFlavor {
 public:
  // `together`: as in ResolveVictims.
  VictimsOnFlavor(const FlavorState& flavor, bool together)
      : flavor_(&flavor), together_(together), sums_(flavor.snapshot().resources().size()) {}

  const FlavorState* flavor() const { return flavor_; }

  // Starts the usage of victim `victim`; victims ascend.
  void Begin(std::size_t victim) { begin_.resize(victim + 1, amounts_.size()); }

  // Adds the victim's usage on a leaf. Returns an error text, or "" when there is no error.
  std::string Add(LeafId leaf, const Resources& usage) {
    if (usage.empty()) return {};
    if (usage.keys() != bound_) Bind(usage.keys());
    for (std::size_t i = 0; i < usage.size(); ++i) {
      const std::int32_t column = known_[i].second;
      const Amount amount = usage.values()[i];
      if (column < 0) continue;
      if (amount < 0) {
        return fmt::format("it holds {} {}; want 0 or more", amount,
                           Where({leaf.value, column, 0}));
      }
      amounts_.push_back({leaf.value, column, amount});
    }
    return {};
  }

  // Ends the usage of the last victim. Returns an error text, or "" when there is no error.
  std::string End() {
    const auto first = amounts_.begin() + static_cast<std::ptrdiff_t>(begin_.back());
    const auto place = [](const LeafAmount& held) { return std::pair(held.leaf, held.column); };
    if (!std::ranges::is_sorted(first, amounts_.end(), {}, place)) {
      std::ranges::sort(first, amounts_.end(), {}, place);
    }
    if (first == amounts_.end()) return {};
    auto last = first;  // of those that are added up
    for (auto next = first + 1; next != amounts_.end(); ++next) {
      if (place(*next) == place(*last)) {
        last->amount = SaturatingAdd(last->amount, next->amount);
      } else {
        *++last = *next;
      }
    }
    amounts_.erase(last + 1, amounts_.end());
    for (auto held = first; held != amounts_.end(); ++held) {
      if (SumWith(*held) <= Used(*held)) continue;
      return fmt::format("it and those before it hold more {} than is in use there", Where(*held));
    }
    return {};
  }

  // Returns what some victims hold in the order in which FlavorState::Remove is soonest.
  std::vector<LeafAmount> HeldBy(std::span<const std::uint32_t> victims) const;

  // Returns what is in use of that resource on that leaf.
  Amount Used(const LeafAmount& held) const {
    return flavor_->Usage(static_cast<std::size_t>(held.column) *
                              static_cast<std::size_t>(flavor_->snapshot().stride()) +
                          static_cast<std::size_t>(held.leaf));
  }

  // Returns the usage of a victim, leaves ascending, each resource of a leaf once.
  std::span<const LeafAmount> Of(std::size_t victim) const {
    if (victim >= begin_.size()) return {};
    const std::size_t end = victim + 1 < begin_.size() ? begin_[victim + 1] : amounts_.size();
    return std::span(amounts_).subspan(begin_[victim], end - begin_[victim]);
  }

 private:
  // Finds the columns of a list of resources, by position in known_. Most lists are the one before,
  // or name the same resources in the same order.
  void Bind(const SharedKeys& names) {
    bound_ = names;
    if (known_.size() < names->size()) known_.resize(names->size(), {std::string(), -1});
    for (std::size_t i = 0; i < names->size(); ++i) {
      auto& [known, column] = known_[i];
      if (known == (*names)[i]) continue;
      known = (*names)[i];
      column = flavor_->snapshot().FindResource(known);
    }
  }

  // Returns what is held there, with the victims before it where all are removed together.
  Amount SumWith(const LeafAmount& held) {
    if (!together_) return held.amount;
    std::vector<Amount>& sums = sums_[static_cast<std::size_t>(held.column)];
    sums.resize(static_cast<std::size_t>(flavor_->snapshot().leaf_count()));
    Amount& sum = sums[static_cast<std::size_t>(held.leaf)];
    return sum = SaturatingAdd(sum, held.amount);
  }

  std::string Where(const LeafAmount& held) const {
    const FlavorSnapshot& snapshot = flavor_->snapshot();
    return fmt::format("{} on {}",
                       Excerpt(snapshot.resources()[static_cast<std::size_t>(held.column)]),
                       Excerpt(snapshot.LeafIdText(LeafId(held.leaf))));
  }

  const FlavorState* flavor_;
  bool together_;
  std::vector<std::vector<Amount>> sums_;  // [column][leaf], empty: no victim uses the column
  std::vector<LeafAmount> amounts_;
  std::vector<std::size_t> begin_;                           // by victim, into amounts_
  SharedKeys bound_;                                         // the list that was bound last
  std::vector<std::pair<std::string, std::int32_t>> known_;  // resources by position, and columns
};

using VictimsByFlavor = std::vector<VictimsOnFlavor>;  // one for each flavor that a victim uses

// Tells whether victims of a list may be removed together. The victims must outlive it.
class TogetherCheck {
 public:
  TogetherCheck(const VictimsByFlavor& held, std::span<const Victim> victims);

  // Returns whether no two victims of a list have the same name or hold the same amounts; `list`
  // are positions in the victims.
  bool Holds(std::span<const std::uint32_t> list);

 private:
  const VictimsByFlavor& held_;
  std::vector<std::uint32_t> name_of_;  // by victim: a number of its name
  std::vector<bool> named_;             // by that number
  std::vector<Amount> sums_;            // [column][leaf] of one flavor; 0 between the calls
};

// Resolves the usage of victims. Errors (kBadInput) name the victim: on a flavor that does not
// exist, or with more usage than there is on a leaf. `together`: victims are removed at the same
// time, so that each is named once and no two hold the same amounts.
Result<VictimsByFlavor> ResolveVictims(const ClusterState& state, std::span<const Victim> victims,
                                       bool together);

}  // namespace espalier
