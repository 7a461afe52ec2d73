// Trees, counts and workspaces for tests of single decisions, written down by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "kernels/decisions/place.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/team/serial_team.hpp"
#include "kernels/views.hpp"

namespace espalier {

// A tree from the number of children of every domain, level by level: {{2}, {2, 1}} is two roots
// with two and one leaves. {{}} and {{0}} are a level without domains.
class HandTree {
 public:
  explicit HandTree(const std::vector<std::vector<std::int32_t>>& children) {
    level_begin_.push_back(0);
    for (std::size_t level = 0; level < children.size(); ++level) {
      std::int32_t next = level_begin_.back();
      for (std::size_t i = 0; i < children[level].size(); ++i) {
        const bool root = level == 0;
        if (!root) child_begin_.push_back(next);
        const std::int32_t above =
            root ? -1 : level_begin_[level - 1] + static_cast<std::int32_t>(i);
        parent_.insert(parent_.end(), static_cast<std::size_t>(children[level][i]), above);
        next += children[level][i];
      }
      level_begin_.push_back(next);
    }
    child_begin_.push_back(level_begin_.back());
  }

  TreeView view() const {
    return {static_cast<std::int32_t>(level_begin_.size()) - 1, level_begin_.data(), parent_.data(),
            child_begin_.data()};
  }

 private:
  std::vector<std::int32_t> level_begin_;
  std::vector<std::int32_t> parent_;
  std::vector<std::int32_t> child_begin_;
};

// Returns a single level of `roots` domains, which are the leaves as well.
inline HandTree FlatTree(std::int32_t roots) {
  return HandTree(std::vector<std::vector<std::int32_t>>{{roots}});
}

// One slice layer: `size` pods in one domain of `level`.
struct Layer {
  std::int32_t level = 0;
  Count size = 1;
};

// Returns the slice rule of these layers, coarsest first (R6.7); without layers single pods on
// leaves.
inline SliceRule Slices(const TreeView& tree, const std::vector<Layer>& layers = {}) {
  SliceRule rule;
  rule.level = tree.lowest();
  if (layers.empty()) return rule;
  rule.level = layers.front().level;
  rule.size = layers.front().size;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    rule.layer_level[i] = layers[i].level;
    rule.layer_size[i] = layers[i].size;
    rule.layer_count = static_cast<std::int32_t>(i) + 1;
    if (i == 0) continue;
    for (std::int32_t l = layers[i - 1].level + 1; l <= layers[i].level; ++l) {
      rule.inner_size[l] = layers[i].size;
    }
  }
  return rule;
}

// The counts of one leaf: P, and with a leader LD and PW.
struct HandLeaf {
  HandLeaf(Count p) : pods(p), pods_with_leader(p) {}  // NOLINT: reads as a number
  HandLeaf(Count p, Count pw) : pods(p), pods_with_leader(pw), leaders(1) {}

  Count pods;
  Count pods_with_leader;
  std::int32_t leaders = 0;
};

// Owns counts of every domain of a tree.
class HandCounts {
 public:
  explicit HandCounts(const TreeView& tree, bool with_leader = false)
      : with_leader_(with_leader),
        pods_(static_cast<std::size_t>(tree.domain_count())),
        slices_(pods_.size()),
        pods_with_leader_(pods_.size()),
        slices_with_leader_(pods_.size()),
        leaders_(pods_.size()) {}

  // Leaves in path order, rolled up into their ancestors; affinity by leaf, or none. With a leader
  // when some leaf can hold it.
  HandCounts(const TreeView& tree, const SliceRule& slice, const std::vector<HandLeaf>& leaves,
             const std::vector<std::int64_t>& affinity = {})
      : HandCounts(tree, slice, leaves, affinity, HoldsLeader(leaves)) {}
  HandCounts(const TreeView& tree, const SliceRule& slice, const std::vector<HandLeaf>& leaves,
             const std::vector<std::int64_t>& affinity, bool with_leader)
      : HandCounts(tree, with_leader) {
    const std::int32_t first = tree.LevelBegin(tree.lowest());
    const bool sliced = slice.level == tree.lowest();
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const std::size_t d = static_cast<std::size_t>(first) + i;
      pods_[d] = Store(leaves[i].pods);
      pods_with_leader_[d] = Store(leaves[i].pods_with_leader);
      leaders_[d] = static_cast<std::uint8_t>(leaves[i].leaders);
      slices_[d] = Store(sliced ? leaves[i].pods / slice.size : 0);
      slices_with_leader_[d] = Store(sliced ? leaves[i].pods_with_leader / slice.size : 0);
    }
    if (!affinity.empty()) {
      affinity_.assign(pods_.size(), 0);
      std::ranges::copy(affinity, affinity_.begin() + first);
      for (std::int32_t d = tree.domain_count(); d-- > tree.LevelEnd(0);) {
        affinity_[static_cast<std::size_t>(tree.parent[d])] +=
            affinity_[static_cast<std::size_t>(d)];
      }
    }
    SerialTeam team;
    RollUp(team, tree, slice, view(), 0, {0, tree.LevelEnd(0)});
  }

  CountsView view() {
    CountsView v;
    v.pods = pods_.data();
    v.slices = slices_.data();
    v.pods_with_leader = with_leader_ ? pods_with_leader_.data() : v.pods;
    v.slices_with_leader = with_leader_ ? slices_with_leader_.data() : v.slices;
    v.leaders = with_leader_ ? leaders_.data() : nullptr;
    v.affinity = affinity_.empty() ? nullptr : affinity_.data();
    return v;
  }

 private:
  static bool HoldsLeader(const std::vector<HandLeaf>& leaves) {
    return std::ranges::any_of(leaves, [](const HandLeaf& leaf) { return leaf.leaders > 0; });
  }

  bool with_leader_;
  std::vector<StoredCount> pods_;
  std::vector<StoredCount> slices_;
  std::vector<StoredCount> pods_with_leader_;
  std::vector<StoredCount> slices_with_leader_;
  std::vector<std::uint8_t> leaders_;
  std::vector<std::int64_t> affinity_;
};

// Owns the memory of a Workspace, balanced placement's part included.
class HandWorkspace {
 public:
  explicit HandWorkspace(const TreeView& tree, std::int32_t states = 10'000)
      : trial_(tree, true), best_(tree, true), states_(static_cast<std::size_t>(states)) {
    std::size_t width = 1;
    for (std::int32_t l = 0; l < tree.level_count; ++l) {
      width = std::max(width, static_cast<std::size_t>(tree.LevelEnd(l) - tree.LevelBegin(l)));
    }
    level_.resize(width);
    chosen_.resize(width);
    current_.resize(width);
    next_.resize(width);
    entropy_.resize(width);
    terms_.resize(width);
    state_heads_.resize(2 * (width + 1));
  }

  Workspace view() {
    Workspace w;
    w.level = level_.data();
    w.chosen = chosen_.data();
    w.current = current_.data();
    w.next = next_.data();
    w.trial = trial_.view();
    w.best = best_.view();
    w.entropy = entropy_.data();
    w.terms = terms_.data();
    w.states = states_.data();
    w.state_capacity = static_cast<std::int32_t>(states_.size());
    w.state_heads = state_heads_.data();
    return w;
  }

 private:
  HandCounts trial_;
  HandCounts best_;
  std::vector<Candidate> level_;
  std::vector<Candidate> chosen_;
  std::vector<Share> current_;
  std::vector<Share> next_;
  std::vector<double> entropy_;
  std::vector<Count> terms_;
  std::vector<SelectionState> states_;
  std::vector<std::int32_t> state_heads_;
};

// Returns a candidate that no leader changes.
inline Candidate Plain(std::int32_t domain, Count slices, Count pods, std::int64_t affinity = 0) {
  Candidate c;
  c.domain = domain;
  c.pods = c.pods_with_leader = pods;
  c.slices = c.slices_with_leader = slices;
  c.affinity = affinity;
  return c;
}

// Returns a candidate that can hold the leader.
inline Candidate Led(std::int32_t domain, Count slices, Count pods, Count slices_with_leader,
                     Count pods_with_leader) {
  Candidate c = Plain(domain, slices, pods);
  c.leaders = 1;
  c.slices_with_leader = slices_with_leader;
  c.pods_with_leader = pods_with_leader;
  return c;
}

inline CandidateList ListOf(std::vector<Candidate>& items) {
  return {items.data(), static_cast<std::int32_t>(items.size())};
}

inline std::vector<std::int32_t> Domains(const CandidateList& list) {
  std::vector<std::int32_t> domains;
  for (std::int32_t i = 0; i < list.size; ++i) domains.push_back(list[i].domain);
  return domains;
}

// A share that compares and prints: domain, leaders, pods.
using HandShare = std::tuple<std::int32_t, std::int32_t, Count>;

inline std::vector<HandShare> Shares(const ShareList& list) {
  std::vector<HandShare> shares;
  for (std::int32_t i = 0; i < list.size; ++i) {
    shares.emplace_back(list[i].domain, list[i].leaders, list[i].pods);
  }
  return shares;
}

}  // namespace espalier
