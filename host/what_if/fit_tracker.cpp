#include "host/what_if/fit_tracker.hpp"

#include <algorithm>

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
    : job_(job), tree_(job.state->snapshot().tree()) {
  BindColumns();
  backend.CountDomains(job, stored_);
  counts_ = stored_.View();
  counts_.affinity = ScoresOf(job);
  tallies_.resize(static_cast<std::size_t>(tree_.level_count));
  for (std::int32_t level = 0; level < tree_.level_count; ++level) {
    LevelTally& tally = tallies_[static_cast<std::size_t>(level)];
    for (std::int32_t d = tree_.LevelBegin(level); d < tree_.LevelEnd(level); ++d) {
      Tally(counts_, job_.query, d, 1, tally);
    }
  }
}

// Gives every column that is asked for a number here, and takes those numbers for a request.
RequestView FitTracker::Rebind(const RequestVector& request, std::vector<std::int32_t>& columns) {
  for (const std::int32_t column : request.columns) {
    columns.push_back(column < 0 ? -1 : column_of_[static_cast<std::size_t>(column)]);
  }
  return {static_cast<std::int32_t>(columns.size()), columns.data(), request.amounts.data()};
}

void FitTracker::BindColumns() {
  const FlavorSnapshot& snapshot = job_.state->snapshot();
  const auto leaves = static_cast<std::size_t>(snapshot.leaf_count());
  column_of_.assign(snapshot.resources().size(), -1);
  std::int32_t columns = 0;
  for (const RequestVector* request : {&job_.shape->workers, &job_.shape->leader}) {
    for (const std::int32_t column : request->columns) {
      if (column < 0) continue;
      std::int32_t& own = column_of_[static_cast<std::size_t>(column)];
      if (own < 0) own = columns++;
    }
  }
  amounts_.resize(leaves * static_cast<std::size_t>(columns));
  for (std::size_t c = 0; c < column_of_.size(); ++c) {
    if (column_of_[c] < 0) continue;
    const Amount* from = AmountsOf(job_).data() + c * static_cast<std::size_t>(snapshot.stride());
    Amount* to = amounts_.data() + static_cast<std::size_t>(column_of_[c]) * leaves;
    std::copy_n(from, leaves, to);
    for (const AssumedLeaf& assumed : job_.assumed) {
      to[static_cast<std::size_t>(assumed.leaf.value)] -= assumed.amounts[c];
    }
  }
  input_ = MakeLeafInput(job_, {});  // assumed usage is taken out of the amounts
  input_.capacity = {amounts_.data(), static_cast<std::int64_t>(leaves)};
  input_.workers = Rebind(job_.shape->workers, worker_columns_);
  input_.leader = Rebind(job_.shape->leader, leader_columns_);
}

// Counts a leaf anew. Returns whether it offers something else than before.
bool FitTracker::Recount(std::int32_t leaf) {
  if (!Admits(input_, leaf)) return false;
  const std::int32_t domain = tree_.LevelBegin(tree_.lowest()) + leaf;
  LevelTally& tally = tallies_.back();
  const Offer before = OfferOf(counts_, domain);
  Tally(counts_, job_.query, domain, -1, tally);
  StoreLeaf(tree_, job_.shape->slice, input_, counts_, leaf);
  Tally(counts_, job_.query, domain, 1, tally);
  return OfferOf(counts_, domain) != before;
}

// Rolls up what lies above the changed leaves, level by level, as far as something changes.
void FitTracker::RollUpChanged() {
  for (std::int32_t level = tree_.lowest() - 1; level >= 0 && !changed_.empty(); --level) {
    LevelTally& tally = tallies_[static_cast<std::size_t>(level)];
    std::size_t kept = 0;
    std::int32_t last = -1;
    for (const std::int32_t child : changed_) {
      const std::int32_t domain = tree_.parent[child];
      if (domain == last) continue;
      last = domain;
      const Offer before = OfferOf(counts_, domain);
      Tally(counts_, job_.query, domain, -1, tally);
      RollUpDomain(tree_, job_.shape->slice, counts_, level, domain);
      Tally(counts_, job_.query, domain, 1, tally);
      if (OfferOf(counts_, domain) != before) changed_[kept++] = domain;
    }
    changed_.resize(kept);
  }
}

bool FitTracker::Change(std::span<const LeafAmount> amounts, Amount sign) {
  const auto leaves = static_cast<std::size_t>(tree_.leaf_count());
  changed_.clear();
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const LeafAmount& entry = amounts[i];
    const std::int32_t column = column_of_[static_cast<std::size_t>(entry.column)];
    if (column >= 0) {
      amounts_[static_cast<std::size_t>(column) * leaves + static_cast<std::size_t>(entry.leaf)] +=
          sign * entry.amount;
    }
    const bool leaf_ends = i + 1 == amounts.size() || amounts[i + 1].leaf != entry.leaf;
    if (leaf_ends && Recount(entry.leaf)) {
      changed_.push_back(tree_.LevelBegin(tree_.lowest()) + entry.leaf);
    }
  }
  const bool any = !changed_.empty();
  RollUpChanged();
  return any;
}

}  // namespace espalier
