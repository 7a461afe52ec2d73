// Keeps an index of leaves up to date as they change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fallback_cpu/simd_implementation.hpp"
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
    runs_.resize(runs);
    stale_.clear();
    held_by_group_.resize(static_cast<std::size_t>((leaves + kGroup - 1) / kGroup));
    index_.slices = slices;
    index_.domains = {first_domain, first_domain + leaves};
    index_.histogram = &histogram_;
    index_.runs = runs_.data();
    index_.held_by_group = held_by_group_.data();
    ActiveSimdImplementation().note_runs(slices, leaves, runs_.data());
    for (std::size_t group = 0; group < held_by_group_.size(); ++group) NoteGroup(group);
  }

  // Clears the summary; there is no index until Reset.
  void Forget() {
    index_.domains = {};
    stale_.clear();
  }

  // Prepares for a change of the slices of `leaves`, which AfterChange must follow. After the last
  // of several changes NoteChanges must follow before the index is read.
  void BeforeChange(DomainRange leaves) {
    if (index() != nullptr) {
      before_.assign(index_.slices + leaves.begin, index_.slices + leaves.end);
    }
  }
  void AfterChange(DomainRange leaves) {
    if (index() == nullptr) return;
    const StoredCount* before = before_.data();
    for (std::int32_t i = leaves.begin; i < leaves.end; ++i, ++before) {
      if (*before == index_.slices[i]) continue;
      histogram_.Replace(*before, index_.slices[i]);
      const auto run = static_cast<std::size_t>(i / kRun);
      if (stale_.empty() || stale_.back() != run) stale_.push_back(run);
    }
  }
  void NoteChanges() {
    for (const std::size_t run : stale_) {
      const std::int32_t begin = static_cast<std::int32_t>(run) * kRun;
      const std::int32_t leaves = std::min(kRun, index_.leaf_count() - begin);
      ActiveSimdImplementation().note_runs(index_.slices + begin, leaves, &runs_[run]);
    }
    for (const std::size_t run : stale_) NoteGroup(run / kRunsOfGroup);
    stale_.clear();
  }

  // Returns the current index of the leaves, or null when there is none. Valid as long as this
  // object is not moved.
  const SliceIndex* index() const {
    return index_.leaf_count() > 0 && histogram_.fits() ? &index_ : nullptr;
  }

 private:
  static constexpr std::int32_t kRun = SliceIndex::kRun;
  static constexpr std::int32_t kGroup = SliceIndex::kGroup;
  static constexpr std::size_t kRunsOfGroup = kGroup / kRun;

  void NoteGroup(std::size_t group) {
    const std::size_t begin = group * kRunsOfGroup;
    const std::size_t end = std::min(begin + kRunsOfGroup, runs_.size());
    std::uint64_t held = 0;
    for (std::size_t run = begin; run < end; ++run) held |= runs_[run].held;
    held_by_group_[group] = held;
  }

  SliceIndex index_;
  Histogram histogram_;
  std::vector<SliceIndex::Run> runs_;
  std::vector<std::size_t> stale_;  // runs that are of before; some may be in it twice
  std::vector<std::uint64_t> held_by_group_;
  std::vector<StoredCount> before_;  // between BeforeChange and AfterChange
};

}  // namespace espalier
