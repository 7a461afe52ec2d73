#include "fallback_cpu/capacity_classes.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "host/packing/group_stamps.hpp"

namespace espalier {
namespace {

// So often all leaves can be looked at while they are classified.
constexpr std::int32_t kWorthClassifying = 8;
// Resources by which leaves are told apart, at most.
constexpr std::size_t kMostColumns = 64;
// Filters whose leaves are counted by class, at most: more where there are few leaves.
constexpr std::size_t kMostFilters = 64;
constexpr std::size_t kFewestFilters = 8;
constexpr std::size_t kLeavesOfFilters = std::size_t{1} << 20;

std::size_t MostFilters(std::size_t leaves) {
  return std::clamp(kLeavesOfFilters / (leaves + 1), kFewestFilters, kMostFilters);
}

// Returns how many classes are too many: nearly as many as leaves, where there are many of them.
std::int32_t MostClasses(std::int32_t leaves) {
  constexpr std::int32_t kFew = 2048;
  constexpr std::int32_t kLeavesOfClass = 4;
  return kFew + leaves / kLeavesOfClass;
}

// Leaves that are read together.
constexpr std::int32_t kTogether = 16;
// So many classes without leaves, and half of all, are dropped.
constexpr std::int32_t kWorthDropping = 1024;

std::uint32_t HashOf(const Amount* row, std::size_t columns) {
  return NameIndex::Hash({reinterpret_cast<const char*>(row), columns * sizeof(Amount)});
}

}  // namespace

bool CapacityClasses::CanClassify(const FlavorState& state) {
  return !state.remaining().sparse() && state.snapshot().resources().size() <= kMostColumns;
}

std::size_t CapacityClasses::MostBytes(const FlavorState& state) {
  const auto leaves = static_cast<std::size_t>(state.snapshot().leaf_count());
  const std::size_t numbers = (1 + MostFilters(leaves)) * sizeof(std::int32_t);
  const std::size_t of_class =
      sizeof(Amount) * state.snapshot().resources().size() + 2 * NameIndex::Bytes(1) + numbers;
  return leaves * (of_class + numbers);
}

void CapacityClasses::Forget() {
  asked_ = 0;
  useless_ = false;
  known_ = false;
  filters_.clear();
}

void CapacityClasses::BeginWith(const CapacityClasses& of_parent, const PlacementJob& job) {
  if (of_parent.useless_) return GiveUp();
  if (!of_parent.known_) return;
  const auto counted = OnBranch(of_parent.counted_, job);
  if (!counted) return;
  CapacityClasses copy(of_parent);
  copy.filters_.clear();                  // the parent's go on with the parent
  copy.numbering_ = GroupStamps::Next();  // both may go on to number others
  copy.counted_ = *counted;
  *this = std::move(copy);
}

CapacityClasses::Leaves CapacityClasses::LeavesOf(const PlacementJob& job) {
  if (useless_) return nullptr;
  if (!known_ && asked_ < kWorthClassifying) {
    ++asked_;
    return nullptr;
  }
  Refresh(job);
  if (useless_) return nullptr;
  if (job.filter == nullptr || job.filter->matches.empty()) return {Leaves(), &leaves_};
  auto of_filter = std::ranges::find(filters_, job.filter, &OfFilter::filter);
  if (of_filter == filters_.end()) {
    auto fresh = std::make_shared<OfFilter>();
    fresh->filter = job.filter;
    of_filter = filters_.insert(filters_.begin(), std::move(fresh));
    if (filters_.size() > MostFilters(class_of_leaf_.size())) filters_.pop_back();
  } else {
    std::rotate(filters_.begin(), of_filter, of_filter + 1);
    of_filter = filters_.begin();
  }
  Count(job, **of_filter);
  return {*of_filter, &(*of_filter)->leaves};
}

void CapacityClasses::Refresh(const PlacementJob& job) {
  if (known_ && counted_.IsOf(job)) return;
  const FlavorSnapshot& snapshot = job.state->snapshot();
  const std::int32_t most = MostClasses(snapshot.leaf_count());
  stale_.clear();
  if (std::exchange(known_, false) && AppendStale(counted_, job, nullptr, stale_)) {
    for (const std::int32_t group : stale_) {
      Classify(job, snapshot.GroupLeaves(group), std::numeric_limits<std::int32_t>::max());
    }
    if (count() - without_leaves_ > most) return GiveUp();
    if (without_leaves_ <= kWorthDropping || 2 * without_leaves_ <= count()) {
      counted_ = CapacityVersion::Of(job);
      known_ = true;
      return;
    }
  }
  Clear(snapshot);
  Classify(job, {0, snapshot.leaf_count()}, most);
  if (count() > most) return GiveUp();
  counted_ = CapacityVersion::Of(job);
  known_ = true;
}

void CapacityClasses::GiveUp() {
  *this = {};
  useless_ = true;
}

void CapacityClasses::Clear(const FlavorSnapshot& snapshot) {
  columns_ = snapshot.resources().size();
  numbering_ = GroupStamps::Next();
  class_of_leaf_.assign(static_cast<std::size_t>(snapshot.leaf_count()), -1);
  amounts_.clear();
  leaves_.clear();
  without_leaves_ = 0;
  index_ = NameIndex();
  filters_.clear();
}

void CapacityClasses::Classify(const PlacementJob& job, DomainRange leaves, std::int32_t most) {
  const PagedArray<Amount>& amounts = AmountsOf(job);
  const auto stride = static_cast<std::size_t>(job.state->snapshot().stride());
  rows_.resize(kTogether * columns_);
  for (std::int32_t begin = leaves.begin; begin < leaves.end && count() <= most;
       begin += kTogether) {
    const auto size = static_cast<std::size_t>(std::min(kTogether, leaves.end - begin));
    for (std::size_t column = 0; column < columns_; ++column) {
      const Amount* of_leaf = amounts.data() + column * stride + static_cast<std::size_t>(begin);
      for (std::size_t i = 0; i < size; ++i) rows_[i * columns_ + column] = of_leaf[i];
    }
    for (std::size_t i = 0; i < size; ++i) {
      const Amount* const row = rows_.data() + i * columns_;
      std::int32_t* const of_leaf = &class_of_leaf_[static_cast<std::size_t>(begin) + i];
      if (*of_leaf >= 0) {
        if (Equals(*of_leaf, row)) continue;
        without_leaves_ += --leaves_[static_cast<std::size_t>(*of_leaf)] == 0 ? 1 : 0;
      }
      const bool like_neighbour = i > 0 && std::equal(row, row + columns_, row - columns_);
      *of_leaf = like_neighbour ? of_leaf[-1] : Find(row);
      without_leaves_ -= leaves_[static_cast<std::size_t>(*of_leaf)]++ == 0 ? 1 : 0;
    }
  }
}

// Returns the address of the first amount of a class; the others follow, kTile apart.
Amount* CapacityClasses::FirstAmountOf(std::int32_t of_class) {
  const auto tile = static_cast<std::size_t>(of_class / kTile);
  return amounts_.data() + tile * kTile * columns_ + of_class % kTile;
}

bool CapacityClasses::Equals(std::int32_t of_class, const Amount* row) {
  const Amount* amount = FirstAmountOf(of_class);
  for (std::size_t column = 0; column < columns_; ++column, amount += kTile) {
    if (*amount != row[column]) return false;
  }
  return true;
}

// Returns the class of what remains on a leaf, which is added when it is new.
std::int32_t CapacityClasses::Find(const Amount* row) {
  const std::uint32_t hash = HashOf(row, columns_);
  const std::int32_t known =
      index_.FindIf(hash, [&](std::int32_t of_class) { return Equals(of_class, row); });
  if (known >= 0) return known;
  const std::int32_t added = count();
  if (added % kTile == 0) amounts_.resize(amounts_.size() + kTile * columns_);
  Amount* amount = FirstAmountOf(added);
  for (std::size_t column = 0; column < columns_; ++column, amount += kTile) *amount = row[column];
  leaves_.push_back(0);
  ++without_leaves_;
  index_.AddNew(added, hash);
  return added;
}

// Brings the leaves of a filter up to date with the classes.
void CapacityClasses::Count(const PlacementJob& job, OfFilter& of_filter) {
  if (!of_filter.class_of_leaf.empty() && of_filter.counted.IsOf(job)) return;
  const FlavorSnapshot& snapshot = job.state->snapshot();
  const auto count = [&](DomainRange leaves) {
    for (auto leaf = static_cast<std::size_t>(leaves.begin);
         leaf < static_cast<std::size_t>(leaves.end); ++leaf) {
      const bool admitted = (of_filter.filter->matches[leaf >> 6] >> (leaf & 63) & 1) != 0;
      const std::int32_t now = admitted ? class_of_leaf_[leaf] : -1;
      std::int32_t& before = of_filter.class_of_leaf[leaf];
      if (before == now) continue;
      if (before >= 0) --of_filter.leaves[static_cast<std::size_t>(before)];
      if (now >= 0) ++of_filter.leaves[static_cast<std::size_t>(now)];
      before = now;
    }
  };
  of_filter.leaves.resize(leaves_.size());
  stale_.clear();
  if (!of_filter.class_of_leaf.empty() && AppendStale(of_filter.counted, job, nullptr, stale_)) {
    for (const std::int32_t group : stale_) count(snapshot.GroupLeaves(group));
  } else {
    std::ranges::fill(of_filter.leaves, 0);
    of_filter.class_of_leaf.assign(class_of_leaf_.size(), -1);
    count({0, snapshot.leaf_count()});
  }
  of_filter.counted = CapacityVersion::Of(job);
}

}  // namespace espalier
