// Keeps an index of leaves up to date as they change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/decisions/slice_index.hpp"
#include "kernels/views.hpp"

namespace espalier {

class LeafSummary {
 public:
  // Sums up all `leaves`, numbered from 0, whose domains start with `first_domain`.
  void Reset(const StoredCount* slices, std::int32_t leaves, std::int32_t first_domain) {
    histogram_.Clear();
    histogram_.Add(slices, leaves);
    const auto runs = static_cast<std::size_t>((leaves + kRun - 1) / kRun);
    runs_.assign(runs, {});
    stale_.assign(runs, true);
    held_by_group_.resize(static_cast<std::size_t>((leaves + kGroup - 1) / kGroup));
    index_.slices = slices;
    index_.domains = {first_domain, first_domain + leaves};
    index_.histogram = &histogram_;
    index_.runs = runs_.data();
    index_.held_by_group = held_by_group_.data();
    Note({0, leaves});
  }

  // Clears the summary; there is no index until Reset.
  void Forget() { index_.domains = {}; }

  // Prepares for a change of the slices of `leaves`, which AfterChange must follow; the index must
  // not be read in between.
  void BeforeChange(DomainRange leaves) {
    if (index() != nullptr) {
      before_.assign(index_.slices + leaves.begin, index_.slices + leaves.end);
    }
  }
  void AfterChange(DomainRange leaves) {
    const StoredCount* before = before_.data();
    for (std::int32_t i = leaves.begin; index() != nullptr && i < leaves.end; ++i, ++before) {
      if (*before == index_.slices[i]) continue;
      histogram_.Replace(*before, index_.slices[i]);
      stale_[static_cast<std::size_t>(i / kRun)] = true;
    }
    if (index() != nullptr) Note(leaves);
  }

  // Returns the current index of the leaves, or null when there is none. Valid as long as this
  // object is not moved.
  const SliceIndex* index() const {
    return index_.leaf_count() > 0 && histogram_.fits() ? &index_ : nullptr;
  }

 private:
  static constexpr std::int32_t kRun = SliceIndex::kRun;
  static constexpr std::int32_t kGroup = SliceIndex::kGroup;

  // Sums up the runs and groups with these leaves, numbered from 0.
  void Note(DomainRange leaves) {
    for (std::int32_t run = leaves.begin / kRun; run * kRun < leaves.end; ++run) {
      if (stale_[static_cast<std::size_t>(run)]) NoteRun(run);
    }
    for (std::int32_t g = leaves.begin / kGroup; g * kGroup < leaves.end; ++g) {
      const auto begin = static_cast<std::size_t>(g * (kGroup / kRun));
      const std::size_t end = std::min(begin + kGroup / kRun, runs_.size());
      std::uint64_t held = 0;
      for (std::size_t run = begin; run < end; ++run) held |= runs_[run].held;
      held_by_group_[static_cast<std::size_t>(g)] = held;
    }
  }
  void NoteRun(std::int32_t run) {
    const std::int32_t begin = run * kRun;
    const std::int32_t end = std::min(begin + kRun, index_.leaf_count());
    const std::span slices(index_.slices + begin, index_.slices + end);
    SliceIndex::Run noted;
    for (const StoredCount held : slices) noted.held |= SliceIndex::Bit(held);
    noted.with_most =
        static_cast<std::int32_t>(std::ranges::count(slices, SliceIndex::HighestBit(noted.held)));
    runs_[static_cast<std::size_t>(run)] = noted;
    stale_[static_cast<std::size_t>(run)] = false;
  }

  SliceIndex index_;
  Histogram histogram_;
  std::vector<SliceIndex::Run> runs_;
  std::vector<std::uint8_t> stale_;  // by run: it is of before
  std::vector<std::uint64_t> held_by_group_;
  std::vector<StoredCount> before_;  // between BeforeChange and AfterChange
};

}  // namespace espalier
