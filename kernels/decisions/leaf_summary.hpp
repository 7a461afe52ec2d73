// What all leaves hold, in numbers that are kept up to date as leaves change: what one lane asks
// before it looks at leaves, which on a large cluster are many.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/decisions/histogram.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Of the slices of leaves, without a leader.
class LeafSummary {
 public:
  static constexpr std::int32_t kRun = 64;  // leaves

  // Of all `leaves`, numbered from 0, whose domains start with `first_domain`.
  void Reset(const StoredCount* slices, std::int32_t leaves, std::int32_t first_domain) {
    slices_ = slices;
    domains_ = {first_domain, first_domain + leaves};
    histogram_.Clear();
    histogram_.Add(slices, leaves);
    runs_.assign(static_cast<std::size_t>((leaves + kRun - 1) / kRun), Run{});
    held_by_group_.resize(static_cast<std::size_t>((leaves + kGroup - 1) / kGroup));
    Note({0, leaves});
  }

  // Of nothing, as when new.
  void Forget() { domains_ = {}; }

  // Call before and after the slices of `leaves` change; nothing may be asked in between.
  void BeforeChange(DomainRange leaves) {
    if (usable()) before_.assign(slices_ + leaves.begin, slices_ + leaves.end);
  }
  void AfterChange(DomainRange leaves) {
    const StoredCount* before = before_.data();
    for (std::int32_t i = leaves.begin; usable() && i < leaves.end; ++i, ++before) {
      if (*before == slices_[i]) continue;
      histogram_.Replace(*before, slices_[i]);
      runs_[static_cast<std::size_t>(i / kRun)].stale = true;
    }
    if (usable()) Note(leaves);
  }

  // False: nothing else may be asked, until Reset.
  bool usable() const { return domains_.size() > 0 && histogram_.fits(); }
  // Whether these domains are leaves.
  bool Has(DomainRange domains) const {
    return domains.begin >= domains_.begin && domains.end <= domains_.end;
  }
  std::int32_t leaf_count() const { return domains_.size(); }
  const Histogram& histogram() const { return histogram_; }

  // What none of these leaves holds more than. Looks at fewer numbers than TopOf.
  StoredCount MostOf(DomainRange leaves) const {
    std::uint64_t held = 0;
    const std::int32_t end = leaves.end - domains_.begin;
    for (std::int32_t g = (leaves.begin - domains_.begin) / kGroup; g * kGroup < end; ++g) {
      held |= held_by_group_[static_cast<std::size_t>(g)];
    }
    const StoredCount last = HighestBit(held);
    return last == kLastBit ? histogram_.most() : last;
  }

  // No leaf holds more than `most`, no more of them than `leaves` hold that, all others at most
  // `next`.
  struct Top {
    StoredCount most = 0;
    std::int32_t leaves = 0;
    StoredCount next = 0;
  };
  Top TopOf(DomainRange leaves) const {
    const std::span<const Run> runs = RunsWith(leaves);
    const std::uint64_t held = HeldBy(runs);
    const StoredCount last = HighestBit(held);
    if (last == kLastBit) return {histogram_.most(), leaves.size(), histogram_.most()};
    Top top{last, 0, HighestBit(held & ~Bit(last))};
    for (const Run& run : runs) {
      if (HighestBit(run.held) == last) top.leaves += run.with_most;
    }
    return top;
  }

  // The first run, not before `run`, in which a leaf may hold from `least` to `most`, 0 to
  // kMaxStored; one past the last run: in none. Run r is the leaves from kRun * r on.
  std::int32_t FirstRunWith(std::int32_t run, StoredCount least, StoredCount most) const {
    constexpr std::int32_t kRunsOfGroup = kGroup / kRun;
    const std::uint64_t up_to_most = (Bit(most) << 1) - 1;
    const std::uint64_t wanted = least > most ? 0 : up_to_most & ~(Bit(least) - 1);
    const auto end = static_cast<std::int32_t>(runs_.size());
    while (run < end) {
      const bool group_begins = run % kRunsOfGroup == 0;
      if (group_begins &&
          (held_by_group_[static_cast<std::size_t>(run / kRunsOfGroup)] & wanted) == 0) {
        run += kRunsOfGroup;
      } else if ((runs_[static_cast<std::size_t>(run)].held & wanted) == 0) {
        ++run;
      } else {
        return run;
      }
    }
    return end;
  }

  // The first leaf, from 0, that holds the least of what is at least `need`; -1: none does.
  std::int32_t FirstTightest(Count need) const {
    if (need > histogram_.most()) return -1;
    auto value = static_cast<StoredCount>(std::max(need, Count{0}));
    while (histogram_[value] == 0) ++value;
    for (std::int32_t run = 0;; ++run) {
      run = FirstRunWith(run, value, value);
      const DomainRange leaves = LeavesOf(run);
      const StoredCount* const end = slices_ + leaves.end;
      const StoredCount* const found = std::find(slices_ + leaves.begin, end, value);
      if (found != end) return static_cast<std::int32_t>(found - slices_);
    }
  }

 private:
  static constexpr std::int32_t kLastBit = 63;
  static constexpr std::int32_t kGroup = 4 * kRun;  // leaves

  struct Run {
    std::uint64_t held = 0;      // bit v: some leaf holds v; the last bit: or more
    std::int32_t with_most = 0;  // leaves
    bool stale = true;           // the other two are of before
  };

  static std::uint64_t Bit(StoredCount slices) {
    return std::uint64_t{1} << std::min(slices, kLastBit);
  }
  static StoredCount HighestBit(std::uint64_t held) {
    return std::max(static_cast<StoredCount>(std::bit_width(held)) - 1, 0);
  }
  static std::uint64_t HeldBy(std::span<const Run> runs) {
    std::uint64_t held = 0;
    for (const Run& run : runs) held |= run.held;
    return held;
  }
  std::span<const Run> RunsWith(DomainRange leaves) const {
    const std::int32_t begin = (leaves.begin - domains_.begin) / kRun;
    const std::int32_t end = (leaves.end - domains_.begin + kRun - 1) / kRun;
    return {runs_.data() + begin, runs_.data() + end};
  }
  DomainRange LeavesOf(std::int32_t run) const {
    return {run * kRun, std::min((run + 1) * kRun, domains_.size())};
  }
  // Sums up the runs and groups with these leaves, numbered from 0.
  void Note(DomainRange leaves) {
    for (std::int32_t run = leaves.begin / kRun; run * kRun < leaves.end; ++run) {
      if (runs_[static_cast<std::size_t>(run)].stale) NoteRun(run);
    }
    for (std::int32_t g = leaves.begin / kGroup; g * kGroup < leaves.end; ++g) {
      const auto begin = static_cast<std::size_t>(g * (kGroup / kRun));
      const std::size_t end = std::min(begin + kGroup / kRun, runs_.size());
      held_by_group_[static_cast<std::size_t>(g)] =
          HeldBy({runs_.data() + begin, runs_.data() + end});
    }
  }
  void NoteRun(std::int32_t run) {
    const DomainRange leaves = LeavesOf(run);
    const StoredCount* const end = slices_ + leaves.end;
    Run noted{.stale = false};
    for (const StoredCount* slices = slices_ + leaves.begin; slices != end; ++slices) {
      noted.held |= Bit(*slices);
    }
    const StoredCount most = HighestBit(noted.held);
    noted.with_most = static_cast<std::int32_t>(std::count(slices_ + leaves.begin, end, most));
    runs_[static_cast<std::size_t>(run)] = noted;
  }

  const StoredCount* slices_ = nullptr;  // by leaf
  DomainRange domains_;
  Histogram histogram_;
  std::vector<Run> runs_;
  std::vector<std::uint64_t> held_by_group_;  // as in its runs
  std::vector<StoredCount> before_;           // between BeforeChange and AfterChange
};

// The summary that these domains are part of, where they are leaves and nothing but their capacity
// tells them apart; null elsewhere.
inline const LeafSummary* SummaryWith(const CountsView& counts, DomainRange leaves) {
  const LeafSummary* const summary = counts.leaf_summary;
  if (summary == nullptr || counts.affinity != nullptr || counts.leaders != nullptr) return nullptr;
  return summary->usable() && summary->Has(leaves) ? summary : nullptr;
}

// The summary of the domains of a whole level whose slices are their pods.
inline const LeafSummary* SummaryOf(const CountsView& counts, DomainRange level) {
  const LeafSummary* const summary = counts.PodsAlone() ? SummaryWith(counts, level) : nullptr;
  return summary != nullptr && summary->leaf_count() == level.size() ? summary : nullptr;
}

}  // namespace espalier
