// Summarizes all leaves in a few numbers per run of leaves. A team that has such an index reads it
// before it looks at leaves, which are many in a large cluster.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/decisions/histogram.hpp"
#include "kernels/views.hpp"

namespace espalier {

// An index of how many slices leaves hold, without a leader. A plain view: it owns nothing.
struct SliceIndex {
  static constexpr std::int32_t kRun = 64;          // leaves
  static constexpr std::int32_t kGroup = 4 * kRun;  // leaves

  static constexpr StoredCount kLastBit = 63;

  struct Run {
    std::uint64_t held = 0;      // bit v: some leaf holds v; the last bit: or more
    std::int32_t with_most = 0;  // leaves that hold what the highest bit says
  };

  const StoredCount* slices = nullptr;  // by leaf, from 0
  DomainRange domains;                  // of the leaves
  const Histogram* histogram = nullptr;
  const Run* runs = nullptr;
  const std::uint64_t* held_by_group = nullptr;  // as in its runs

  static ESPALIER_HD std::uint64_t Bit(StoredCount count) {
    return std::uint64_t{1} << (count < kLastBit ? count : kLastBit);
  }
  static ESPALIER_HD StoredCount HighestBit(std::uint64_t held) {
    return held == 0 ? 0 : static_cast<StoredCount>(std::bit_width(held)) - 1;
  }

  ESPALIER_HD std::int32_t leaf_count() const { return domains.size(); }
  ESPALIER_HD std::int32_t run_count() const { return (leaf_count() + kRun - 1) / kRun; }
  // Returns whether these domains are leaves.
  ESPALIER_HD bool Has(DomainRange wanted) const {
    return wanted.begin >= domains.begin && wanted.end <= domains.end;
  }

  // Returns an upper bound of what these leaves hold. Looks at fewer numbers than TopOf.
  ESPALIER_HD StoredCount MostOf(DomainRange leaves) const {
    std::uint64_t held = 0;
    const std::int32_t end = leaves.end - domains.begin;
    for (std::int32_t g = (leaves.begin - domains.begin) / kGroup; g * kGroup < end; ++g) {
      held |= held_by_group[g];
    }
    const StoredCount last = HighestBit(held);
    return last == kLastBit ? histogram->most() : last;
  }

  // Bounds of some leaves: no leaf holds more than `most`, at most `leaves` of them hold that, and
  // all others hold at most `next`.
  struct Top {
    StoredCount most = 0;
    std::int32_t leaves = 0;
    StoredCount next = 0;
  };
  ESPALIER_HD Top TopOf(DomainRange leaves) const {
    const std::int32_t begin = (leaves.begin - domains.begin) / kRun;
    const std::int32_t end = (leaves.end - domains.begin + kRun - 1) / kRun;
    std::uint64_t held = 0;
    for (std::int32_t run = begin; run < end; ++run) held |= runs[run].held;
    const StoredCount last = HighestBit(held);
    if (last == kLastBit) return {histogram->most(), leaves.size(), histogram->most()};
    Top top{last, 0, HighestBit(held & ~Bit(last))};
    for (std::int32_t run = begin; run < end; ++run) {
      if (HighestBit(runs[run].held) == last) top.leaves += runs[run].with_most;
    }
    return top;
  }

  // Returns the first run, not before `run`, in which a leaf may hold from `least` to `most`, 0 to
  // kMaxStored; run_count() where there is none. Run r is the leaves from kRun * r on.
  ESPALIER_HD std::int32_t FirstRunWith(std::int32_t run, StoredCount least,
                                        StoredCount most) const {
    constexpr std::int32_t kRunsOfGroup = kGroup / kRun;
    const std::uint64_t up_to_most = (Bit(most) << 1) - 1;
    const std::uint64_t wanted = least > most ? 0 : up_to_most & ~(Bit(least) - 1);
    const std::int32_t end = run_count();
    while (run < end) {
      const bool group_begins = run % kRunsOfGroup == 0;
      if (group_begins && (held_by_group[run / kRunsOfGroup] & wanted) == 0) {
        run += kRunsOfGroup;
      } else if ((runs[run].held & wanted) == 0) {
        ++run;
      } else {
        return run;
      }
    }
    return end;
  }

  // Returns the first leaf, from 0, that holds the least of what is at least `need`; -1: none does.
  ESPALIER_HD std::int32_t FirstTightest(Count need) const {
    if (need > histogram->most()) return -1;
    StoredCount value = need > 0 ? static_cast<StoredCount>(need) : 0;
    while ((*histogram)[value] == 0) ++value;
    for (std::int32_t run = 0;; ++run) {
      run = FirstRunWith(run, value, value);
      const std::int32_t end = (run + 1) * kRun < leaf_count() ? (run + 1) * kRun : leaf_count();
      for (std::int32_t leaf = run * kRun; leaf < end; ++leaf) {
        if (slices[leaf] == value) return leaf;
      }
    }
  }
};

// Returns the index that these domains are part of, where they are leaves and nothing but their
// capacity tells them apart; null elsewhere.
template <class Team>
ESPALIER_HD const SliceIndex* IndexWith(const Team& team, const CountsView& counts,
                                        DomainRange leaves) {
  const SliceIndex* const index = team.slice_index();
  if (index == nullptr || counts.affinity != nullptr || counts.leaders != nullptr) return nullptr;
  return index->Has(leaves) ? index : nullptr;
}

// Returns the index of the domains of a whole level whose slices are their pods; null elsewhere.
template <class Team>
ESPALIER_HD const SliceIndex* IndexOfLevel(const Team& team, const CountsView& counts,
                                           DomainRange level) {
  const SliceIndex* const index =
      counts.IsPlainPodCount() ? IndexWith(team, counts, level) : nullptr;
  return index != nullptr && index->leaf_count() == level.size() ? index : nullptr;
}

}  // namespace espalier
