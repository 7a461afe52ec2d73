#include "host/engine/assignments.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include <fmt/format.h>

namespace espalier {

std::string DomainIdText(const std::vector<std::string>& values) {
  return fmt::format("{}", fmt::join(values, ","));
}

std::string LeafIdText(const std::vector<std::string>& values,
                       const std::vector<std::string>& levels) {
  return levels.back() == kHostnameLabel ? values.back() : DomainIdText(values);
}

const TopologyDomainAssignment* FirstStaleDomain(const TopologyAssignment& assignment,
                                                 const FlavorSnapshot& snapshot) {
  DomainIds ids;
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    if (!snapshot.FindLeaf(ids.Of(domain.values)).valid()) return &domain;
  }
  return nullptr;
}

std::vector<LeafShare> ToShares(const TopologyAssignment& assignment,
                                const FlavorSnapshot& snapshot) {
  std::vector<LeafShare> shares;
  shares.reserve(assignment.domains.size());
  DomainIds ids;
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    shares.push_back({snapshot.FindLeaf(ids.Of(domain.values)), 0, domain.count});
  }
  return shares;
}

TopologyAssignment ToAssignment(std::span<const LeafShare> shares, bool leaders,
                                const FlavorSnapshot& snapshot) {
  TopologyAssignment assignment;
  assignment.levels = snapshot.host_topology() ? std::vector<std::string>{snapshot.levels().back()}
                                               : snapshot.levels();
  if (!leaders) assignment.domains.reserve(shares.size());
  for (const LeafShare& share : shares) {
    const Count count = leaders ? share.leaders : share.pods;
    if (count == 0) continue;
    const DomainId domain = snapshot.LeafDomain(share.leaf);
    assignment.domains.push_back({snapshot.host_topology()
                                      ? std::vector<std::string>{snapshot.Value(domain)}
                                      : snapshot.Path(domain),
                                  static_cast<std::int32_t>(std::min<Count>(
                                      count, std::numeric_limits<std::int32_t>::max()))});
  }
  return assignment;
}

std::vector<LeafShare> MergeShares(std::span<const LeafShare> a, std::span<const LeafShare> b) {
  std::vector<LeafShare> both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  std::ranges::stable_sort(both, {}, &LeafShare::leaf);
  std::vector<LeafShare> merged;
  for (const LeafShare& share : both) {
    if (!merged.empty() && merged.back().leaf == share.leaf) {
      merged.back().pods += share.pods;
      merged.back().leaders += share.leaders;
    } else {
      merged.push_back(share);
    }
  }
  return merged;
}

TopologyAssignment Truncate(const TopologyAssignment& assignment, std::int64_t pods) {
  TopologyAssignment kept{assignment.levels, {}};
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    if (pods <= 0) break;
    const auto count = static_cast<std::int32_t>(std::min<std::int64_t>(domain.count, pods));
    kept.domains.push_back({domain.values, count});
    pods -= count;
  }
  return kept;
}

std::int64_t TotalPods(const TopologyAssignment& assignment) {
  std::int64_t total = 0;
  for (const TopologyDomainAssignment& domain : assignment.domains) total += domain.count;
  return total;
}

Resources UsageOfPods(const Resources& requests, std::int64_t count) {
  Resources usage = Times(requests, count);
  Amount& slots = usage[kPodsResource];
  slots = SaturatingAdd(slots, count);
  return usage;
}

AssumedUsage::AssumedUsage(const std::vector<LeafUsage>& usage) {
  for (const LeafUsage& entry : usage) AddTo(by_leaf_[entry.leaf], entry.usage);
}

AssumedUsage::AssumedUsage(const AssumedUsage& all, const FlavorSnapshot& snapshot) {
  all.ForEachOn(snapshot, [this](const std::string& id, const Resources& usage) {
    by_leaf_.emplace(id, usage);
  });
}

// Calls `visit` with the usage of each leaf of the snapshot, in time that follows the smaller of
// the two: a workload may have many flavors of few leaves.
template <class Visit>
void AssumedUsage::ForEachOn(const FlavorSnapshot& snapshot, const Visit& visit) const {
  const std::int32_t leaves = snapshot.leaf_count();
  if (by_leaf_.size() <= static_cast<std::size_t>(leaves)) {
    for (const auto& [id, usage] : by_leaf_) {
      if (snapshot.FindLeaf(id).valid()) visit(id, usage);
    }
    return;
  }
  for (std::int32_t leaf = 0; leaf < leaves; ++leaf) {
    const auto found = by_leaf_.find(snapshot.LeafIdText(LeafId(leaf)));
    // A vacant leaf still has the name of the node that it had.
    if (found != by_leaf_.end() && snapshot.FindLeaf(found->first) == LeafId(leaf)) {
      visit(found->first, found->second);
    }
  }
}

void AssumedUsage::BookOn(FlavorState* state) {
  booked_on_ = state;
  bound_to_ = nullptr;  // what is booked is not bound
  bound_ = {};
  changed_.clear();
  if (state == nullptr) return;
  std::vector<LeafChange> changes;
  ForEachOn(state->snapshot(), [&](const std::string& id, const Resources& usage) {
    changes.push_back({state->snapshot().FindLeaf(id), &usage});
  });
  state->Add(changes);
}

void AssumedUsage::Add(const TopologyAssignment& assignment, const Resources& requests) {
  std::unordered_map<std::string, std::int32_t> counts;
  counts.reserve(assignment.domains.size());
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    counts.insert_or_assign(DomainIdText(domain.values), domain.count);
  }
  for (const auto& [leaf, count] : counts) {
    const Resources usage = UsageOfPods(requests, count);
    AddTo(by_leaf_[leaf], usage);
    if (booked_on_ == nullptr) {
      changed_.push_back(leaf);
      continue;
    }
    const LeafId booked = booked_on_->snapshot().FindLeaf(leaf);
    if (booked.valid()) booked_on_->Add(booked, usage);
  }
}

std::int64_t AssumedUsage::BoundBytes(const FlavorSnapshot& snapshot) const {
  return static_cast<std::int64_t>(
      by_leaf_.size() * (sizeof(AssumedLeaf) + snapshot.resources().size() * sizeof(Amount)));
}

AssumedLeaves AssumedUsage::Bind(const FlavorSnapshot& snapshot) {
  if (bound_to_ != &snapshot) {
    bound_to_ = &snapshot;
    bound_ = {};
    changed_.clear();
    ForEachOn(snapshot,
              [this](const std::string& id, const Resources&) { changed_.push_back(id); });
  }
  if (changed_.empty()) return bound_;
  std::vector<AssumedLeaf>& bound = bound_.Mutable();
  const std::size_t before = bound.size();
  for (const std::string& id : changed_) {
    const LeafId leaf = snapshot.FindLeaf(id);
    if (!leaf.valid()) continue;
    const auto known = std::span(bound).first(before);
    const auto found = std::ranges::lower_bound(known, leaf, {}, &AssumedLeaf::leaf);
    const bool fresh = found == known.end() || found->leaf != leaf;
    AssumedLeaf& entry = fresh ? bound.emplace_back(AssumedLeaf{leaf, {}}) : *found;
    entry.amounts.assign(snapshot.resources().size(), 0);
    for (const auto& [name, amount] : by_leaf_.at(id)) {
      const std::int32_t column = snapshot.FindResource(name);
      if (column >= 0) entry.amounts[static_cast<std::size_t>(column)] = amount;
    }
  }
  changed_.clear();
  const auto added = bound.begin() + static_cast<std::ptrdiff_t>(before);
  std::ranges::sort(added, bound.end(), {}, &AssumedLeaf::leaf);
  // A leaf that was added to twice has two equal entries.
  const auto same = [](const AssumedLeaf& a, const AssumedLeaf& b) { return a.leaf == b.leaf; };
  bound.erase(std::unique(added, bound.end(), same), bound.end());
  std::ranges::inplace_merge(bound, bound.begin() + static_cast<std::ptrdiff_t>(before), {},
                             &AssumedLeaf::leaf);
  return bound_;
}

}  // namespace espalier
