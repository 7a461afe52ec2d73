#include "host/what_if/fit_tracker.hpp"

#include <algorithm>
#include <utility>

#include "host/engine/leaf_input.hpp"
#include "kernels/decisions/roll_up.hpp"

namespace espalier {
namespace {

// The part of what a domain offers that the levels above and the tallies read.
struct Offer {
  StoredCount pods;
  StoredCount slices;
  StoredCount pods_with_leader;
  StoredCount slices_with_leader;
  Count leaders;
  bool operator==(const Offer&) const = default;
};

Offer OfferOf(const CountsView& counts, std::int32_t domain) {
  return {counts.pods[domain], counts.slices[domain], counts.pods_with_leader[domain],
          counts.slices_with_leader[domain], counts.Leaders(domain)};
}

}  // namespace

bool FitTracker::CanTrack(const PlacementJob& job) {
  const auto small = [](Amount amount) { return Magnitude(amount) < FlavorState::kExact; };
  return job.state->IsExact() && std::ranges::all_of(job.assumed, [&](const AssumedLeaf& leaf) {
           return std::ranges::all_of(leaf.amounts, small);
         });
}

FitTracker::FitTracker(const PlacementJob& job, const Backend& backend)
    : job_(job),
      tree_(job.state->snapshot().tree()),
      input_(MakeLeafInput(job, {})),
      row_of_(static_cast<std::size_t>(tree_.leaf_count()), -1) {
  for (const AssumedLeaf& assumed : job.assumed) {
    std::ranges::copy(assumed.amounts, ChangedLeaf(assumed.leaf.value));
  }
  backend.CountDomains(job, stored_);
  counts_ = stored_.View();
  counts_.affinity = ScoresOf(job);
  tallies_.resize(static_cast<std::size_t>(tree_.level_count));
  for (std::int32_t level = 0; level < tree_.level_count; ++level) {
    if (!Tallied(level)) continue;
    LevelTally& tally = tallies_[static_cast<std::size_t>(level)];
    for (std::int32_t d = tree_.LevelBegin(level); d < tree_.LevelEnd(level); ++d) {
      Tally(counts_, job_.query, d, 1, tally);
    }
  }
}

// Returns the row of a leaf in changed_leaves_, a free one if it has none.
Amount* FitTracker::ChangedLeaf(std::int32_t leaf) {
  if (row_of_[static_cast<std::size_t>(leaf)] >= 0) return changed_leaves_.Find(leaf);
  if (free_rows_.empty()) {
    const std::size_t columns = job_.state->snapshot().resources().size();
    // Room for all leaves takes no memory before it is written.
    if (rows_.empty()) rows_.reserve(row_of_.size() * columns);
    free_rows_.push_back(row_count_++);
    rows_.resize(static_cast<std::size_t>(row_count_) * columns);
    changed_leaves_ = {row_of_.data(), rows_.data(), static_cast<std::int32_t>(columns)};
  }
  const std::int32_t row = free_rows_.back();
  free_rows_.pop_back();
  return changed_leaves_.FindOrBegin(leaf, row);
}

// Frees the row of a leaf that is as it was, so that few rows are in use, which stay in the caches.
void FitTracker::FreeIfAsBefore(std::int32_t leaf, const Amount* row) {
  Amount any = 0;
  for (std::int32_t c = 0; c < changed_leaves_.columns; ++c) any |= row[c];
  if (any != 0) return;
  free_rows_.push_back(std::exchange(row_of_[static_cast<std::size_t>(leaf)], -1));
}

// Counts a domain of `level` anew, by count(). Returns whether it offers something else than
// before.
template <class Count>
bool FitTracker::Recount(std::int32_t level, std::int32_t domain, const Count& count) {
  LevelTally& tally = tallies_[static_cast<std::size_t>(level)];
  const Offer before = OfferOf(counts_, domain);
  if (Tallied(level)) Tally(counts_, job_.query, domain, -1, tally);
  count();
  if (Tallied(level)) Tally(counts_, job_.query, domain, 1, tally);
  return OfferOf(counts_, domain) != before;
}

// Rolls up what lies above the changed leaves, level by level, as far as something changes.
void FitTracker::RollUpChanged() {
  for (std::int32_t level = tree_.lowest() - 1; level >= 0 && !changed_.empty(); --level) {
    std::size_t kept = 0;
    std::int32_t last = -1;
    for (const std::int32_t child : changed_) {
      const std::int32_t domain = tree_.parent[child];
      if (domain == last) continue;
      last = domain;
      const bool changed = Recount(
          level, domain, [&] { RollUpDomain(tree_, job_.shape->slice, counts_, level, domain); });
      if (changed) changed_[kept++] = domain;
    }
    changed_.resize(kept);
  }
}

bool FitTracker::Change(std::span<const LeafAmount> amounts, Amount sign) {
  changed_.clear();
  for (std::size_t i = 0; i < amounts.size();) {
    const std::int32_t leaf = amounts[i].leaf;
    Amount* const row = ChangedLeaf(leaf);
    Amount differs = 0;
    for (; i < amounts.size() && amounts[i].leaf == leaf; ++i) {
      differs |= row[amounts[i].column] -= sign * amounts[i].amount;
    }
    if (differs == 0) FreeIfAsBefore(leaf, row);
    const std::int32_t domain = tree_.LevelBegin(tree_.lowest()) + leaf;
    changed_leaves_.Assume(leaf, input_);
    const bool changed = Admits(input_, leaf) && Recount(tree_.lowest(), domain, [&] {
                           StoreLeaf(tree_, job_.shape->slice, input_, counts_, leaf);
                         });
    if (changed) changed_.push_back(domain);
  }
  const bool any = !changed_.empty();
  RollUpChanged();
  return any;
}

}  // namespace espalier
