#include "host/packing/node_filter.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "host/packing/bytes_of.hpp"
#include "host/packing/node_match.hpp"

namespace espalier {
namespace {

// Lengths in front keep different constraints from ever giving one text.
class KeyText {
 public:
  void Add(std::string_view text) {
    fmt::format_to(std::back_inserter(out_), "{}:{}", text.size(), text);
  }
  void Add(std::size_t number) { fmt::format_to(std::back_inserter(out_), "#{}", number); }
  void Add(const NodeSelectorRequirement& requirement) {
    Add(requirement.key);
    Add(requirement.operation);
    Add(requirement.values.size());
    for (const std::string& value : requirement.values) Add(value);
  }
  void Add(const NodeSelectorTerm& term) {
    Add(term.match_expressions.size());
    for (const NodeSelectorRequirement& requirement : term.match_expressions) Add(requirement);
    Add(term.match_fields.size());
    for (const NodeSelectorRequirement& requirement : term.match_fields) Add(requirement);
  }
  std::string Take() { return fmt::to_string(out_); }

 private:
  fmt::memory_buffer out_;
};

// Returns whether only the values that a requirement lists can be an exception.
bool ListsValues(const NodeSelectorRequirement& requirement) {
  return requirement.operation == "In" || requirement.operation == "NotIn" ||
         requirement.operation == "Exists" || requirement.operation == "DoesNotExist";
}

// A requirement judged once per value that decides it, instead of once per node.
class CompiledRequirement {
 public:
  static CompiledRequirement OnLabel(const NodeSelectorRequirement& requirement,
                                     const NodeColumns& nodes, WorkBudget& budget) {
    CompiledRequirement compiled;
    compiled.label_ = nodes.FindLabel(requirement.key);
    compiled.holds_when_missing_ = RequirementHolds(requirement, nullptr);
    if (compiled.label_ == nullptr) return compiled;
    if (ListsValues(requirement)) {
      compiled.holds_otherwise_ =
          requirement.operation == "NotIn" || requirement.operation == "Exists";
      for (const std::string& value : requirement.values) {
        const std::int32_t listed = compiled.label_->FindValue(value);
        if (listed >= 0) compiled.listed_.push_back(listed);
        if (budget.stopped()) return compiled;
      }
      std::ranges::sort(compiled.listed_);
    } else {
      const std::vector<std::string>& values = compiled.label_->values;
      for (std::size_t i = 0; i < values.size() && !budget.stopped(); ++i) {
        if (RequirementHolds(requirement, &values[i])) {
          compiled.listed_.push_back(static_cast<std::int32_t>(i));
        }
      }
    }
    return compiled;
  }
  static CompiledRequirement OnName(const NodeSelectorRequirement& requirement) {
    CompiledRequirement compiled;
    compiled.on_name_ = &requirement;
    return compiled;
  }

  std::int64_t Bytes() const {
    return static_cast<std::int64_t>(sizeof(*this) + listed_.capacity() * sizeof(listed_[0]));
  }
  bool Holds(const NodeColumns& nodes, std::size_t node) const {
    if (on_name_ != nullptr) return RequirementHolds(*on_name_, &nodes.names[node]);
    const std::int32_t value = label_ == nullptr ? -1 : label_->value_of[node];
    if (value < 0) return holds_when_missing_;
    return std::ranges::binary_search(listed_, value) != holds_otherwise_;
  }

 private:
  const LabelColumn* label_ = nullptr;
  std::vector<std::int32_t> listed_;  // ascending indices of the values that are an exception
  bool holds_otherwise_ = false;      // for values that are not listed
  bool holds_when_missing_ = false;
  const NodeSelectorRequirement* on_name_ = nullptr;
};

// All requirements of a term; a term with none matches nothing (R7.5).
class CompiledTerm {
 public:
  // Goes on as long as `charge(bytes)`, asked for each requirement, returns true.
  template <class Charge>
  CompiledTerm(const NodeSelectorTerm& term, const NodeColumns& nodes, WorkBudget& budget,
               const Charge& charge) {
    for (const NodeSelectorRequirement& requirement : term.match_expressions) {
      requirements_.push_back(CompiledRequirement::OnLabel(requirement, nodes, budget));
      if (!charge(requirements_.back().Bytes())) return;
    }
    for (const NodeSelectorRequirement& requirement : term.match_fields) {
      requirements_.push_back(CompiledRequirement::OnName(requirement));
      if (!charge(requirements_.back().Bytes())) return;
    }
  }
  std::size_t size() const { return requirements_.size(); }
  bool Matches(const NodeColumns& nodes, std::size_t node) const {
    return !requirements_.empty() &&
           std::ranges::all_of(requirements_, [&](const CompiledRequirement& requirement) {
             return requirement.Holds(nodes, node);
           });
  }

 private:
  std::vector<CompiledRequirement> requirements_;
};

// Constraints bound to the columns of a cluster's nodes.
class CompiledConstraints {
 public:
  CompiledConstraints(const NodeConstraints& constraints, const NodeColumns& nodes,
                      WorkBudget& budget)
      : nodes_(nodes), budget_(budget), restricted_(constraints.required_affinity.has_value()) {
    const auto charge = [this](std::int64_t bytes) {
      charged_ += bytes;
      return budget_.Charge(bytes);
    };
    const std::size_t taint_sets = nodes.taint_sets.size();
    if (!charge(static_cast<std::int64_t>(taint_sets * (sizeof(Taint*) + sizeof(std::int64_t))))) {
      return;
    }
    repelled_.resize(taint_sets);
    repelled_by_.reserve(taint_sets);
    for (const std::vector<Taint>& taints : nodes.taint_sets) {
      repelled_by_.push_back(FirstUntoleratedTaint(taints, constraints.tolerations, budget));
      if (budget.stopped()) return;
    }
    for (const auto& [key, value] : constraints.node_selector) {
      selector_.push_back(CompiledRequirement::OnLabel({key, "In", {value}}, nodes, budget));
      if (!charge(selector_.back().Bytes())) return;
    }
    requirements_ = selector_.size();
    if (restricted_) {
      for (const NodeSelectorTerm& term : *constraints.required_affinity) {
        requirements_ += required_.emplace_back(term, nodes, budget, charge).size();
        if (!charge(sizeof(CompiledTerm))) return;
      }
    }
    for (const PreferredSchedulingTerm& term : constraints.preferred_affinity) {
      if (term.weight == 0) continue;
      preferred_.push_back({term.weight, {term.preference, nodes, budget, charge}});
      requirements_ += preferred_.back().second.size();
      if (!charge(sizeof(CompiledTerm))) return;
    }
  }
  ~CompiledConstraints() { budget_.Release(charged_); }
  CompiledConstraints(const CompiledConstraints&) = delete;
  CompiledConstraints& operator=(const CompiledConstraints&) = delete;

  // Requirements that a node is held against at most.
  std::size_t requirements() const { return requirements_; }

  // Returns whether a node matches; otherwise the counter of what excludes it goes up.
  bool Matches(std::size_t node, NodeFilter& counters) {
    const auto taints = static_cast<std::size_t>(nodes_.taint_set_of[node]);
    if (repelled_by_[taints] != nullptr) {
      ++repelled_[taints];
      return false;
    }
    if (!std::ranges::all_of(selector_, [&](const CompiledRequirement& requirement) {
          return requirement.Holds(nodes_, node);
        })) {
      ++counters.node_selector;
      return false;
    }
    if (restricted_ && std::ranges::none_of(required_, [&](const CompiledTerm& term) {
          return term.Matches(nodes_, node) || budget_.stopped();
        })) {
      ++counters.required_affinity;
      return false;
    }
    return true;
  }

  // The weights of the preferred terms that match (R7.8).
  std::int64_t Score(std::size_t node) const {
    std::int64_t score = 0;
    for (const auto& [weight, term] : preferred_) {
      if (budget_.stopped()) break;
      if (term.Matches(nodes_, node)) score += weight;
    }
    return score;
  }

  // The nodes that each taint has kept away, by its text.
  FlatMap<std::int64_t> Repelled() const {
    std::unordered_map<std::string, std::int64_t> by_text;
    for (std::size_t i = 0; i < repelled_.size(); ++i) {
      if (repelled_[i] > 0) by_text[TaintText(*repelled_by_[i])] += repelled_[i];
    }
    return FlatMap<std::int64_t>(
        std::vector<FlatMap<std::int64_t>::Entry>(by_text.begin(), by_text.end()));
  }

 private:
  const NodeColumns& nodes_;
  WorkBudget& budget_;
  std::int64_t charged_ = 0;
  std::vector<const Taint*> repelled_by_;  // by taint set; null: tolerated
  std::vector<std::int64_t> repelled_;     // nodes, by taint set
  std::vector<CompiledRequirement> selector_;
  bool restricted_;
  std::vector<CompiledTerm> required_;  // OR-ed
  std::vector<std::pair<std::int64_t, CompiledTerm>> preferred_;
  std::size_t requirements_ = 0;
};

}  // namespace

NodeFilter EvaluateFilter(const NodeConstraints& constraints, const NodeColumns& nodes,
                          std::span<const std::int32_t> node_of_leaf, const TreeView& tree,
                          WorkBudget& budget) {
  constexpr std::size_t kPauseAfter = std::size_t{1} << 16;  // requirements
  const bool scored = !constraints.preferred_affinity.empty();
  const std::size_t words = (node_of_leaf.size() + 63) / 64;
  const auto domains = scored ? static_cast<std::size_t>(tree.domain_count()) : 0;
  NodeFilter filter;
  const std::int64_t first = filter.Bytes() + static_cast<std::int64_t>(8 * (words + domains));
  budget.Charge(first);
  CompiledConstraints compiled(constraints, nodes, budget);
  if (budget.stopped()) return filter;
  filter.matches.assign(words, 0);
  filter.affinity.assign(domains, 0);
  const auto first_leaf = static_cast<std::size_t>(tree.LevelBegin(tree.lowest()));
  bool all = true;
  std::size_t since_pause = 0;
  for (std::size_t leaf = 0; leaf < node_of_leaf.size(); ++leaf) {
    since_pause += compiled.requirements() + 1;
    if (since_pause > kPauseAfter) {
      if (!budget.MayContinue()) return filter;
      since_pause = 0;
    }
    const auto node = static_cast<std::size_t>(node_of_leaf[leaf]);
    if (node_of_leaf[leaf] < 0 || !compiled.Matches(node, filter)) {
      all = false;
      continue;
    }
    filter.matches[leaf / 64] |= std::uint64_t{1} << (leaf % 64);
    if (scored) filter.affinity[first_leaf + leaf] = compiled.Score(node);
  }
  filter.taints = compiled.Repelled();
  if (all) filter.matches = {};
  budget.Charge(filter.Bytes() - first);
  if (scored) {  // R8.2
    for (std::int32_t d = tree.domain_count(); d-- > tree.LevelEnd(0);) {
      filter.affinity[static_cast<std::size_t>(tree.parent[d])] +=
          filter.affinity[static_cast<std::size_t>(d)];
    }
  }
  return filter;
}

std::vector<std::uint64_t> AllLeaves(std::size_t leaves) {
  std::vector<std::uint64_t> bitmap((leaves + 63) / 64, ~std::uint64_t{0});
  if (leaves % 64 != 0) bitmap.back() = (std::uint64_t{1} << (leaves % 64)) - 1;
  return bitmap;
}

FilterChanges::FilterChanges(const NodeConstraints& constraints, const TreeView& tree,
                             NodeFilter& filter)
    : constraints_(constraints), tree_(tree), filter_(filter) {}

FilterChanges::Verdict FilterChanges::Judge(const Node* node, const Taint*& taint) const {
  if (node == nullptr) return Verdict::kNobody;
  taint = FirstUntoleratedTaint(node->taints, constraints_.tolerations);
  if (taint != nullptr) return Verdict::kTaint;
  if (!MatchesSelector(node->labels, constraints_.node_selector)) return Verdict::kSelector;
  if (constraints_.required_affinity &&
      std::ranges::none_of(*constraints_.required_affinity, [&](const NodeSelectorTerm& term) {
        return TermMatches(term, node->labels, node->name);
      })) {
    return Verdict::kAffinity;
  }
  return Verdict::kMatches;
}

std::int64_t FilterChanges::Score(const Node& node) const {
  std::int64_t score = 0;
  for (const PreferredSchedulingTerm& term : constraints_.preferred_affinity) {
    if (TermMatches(term.preference, node.labels, node.name)) score += term.weight;
  }
  return score;
}

void FilterChanges::Count(Verdict verdict, const Taint* taint, std::int64_t nodes) {
  if (verdict == Verdict::kSelector) filter_.node_selector += nodes;
  if (verdict == Verdict::kAffinity) filter_.required_affinity += nodes;
  if (verdict != Verdict::kTaint) return;
  const std::string text = TaintText(*taint);
  if ((filter_.taints[text] += nodes) == 0) filter_.taints.Erase(text);
}

// Adds to the score of a leaf and of the domains above it (R8.2).
void FilterChanges::AddScore(std::int32_t leaf, std::int64_t score) {
  if (score == 0) return;
  for (std::int32_t d = tree_.LevelBegin(tree_.lowest()) + leaf; d >= 0; d = tree_.parent[d]) {
    filter_.affinity[static_cast<std::size_t>(d)] += score;
  }
}

void FilterChanges::Change(std::int32_t leaf, const Node* before, const Node* after) {
  const Taint* taint_before = nullptr;
  const Taint* taint_after = nullptr;
  const Verdict was = Judge(before, taint_before);
  const Verdict is = Judge(after, taint_after);
  Count(was, taint_before, -1);
  Count(is, taint_after, 1);
  if (!filter_.affinity.empty()) {
    if (was == Verdict::kMatches) AddScore(leaf, -Score(*before));
    if (is == Verdict::kMatches) AddScore(leaf, Score(*after));
  }
  if ((was == Verdict::kMatches) == (is == Verdict::kMatches)) return;
  if (filter_.matches.empty()) {
    filter_.matches = AllLeaves(static_cast<std::size_t>(tree_.leaf_count()));
  }
  filter_.matches[static_cast<std::size_t>(leaf) / 64] ^= std::uint64_t{1} << (leaf % 64);
}

void FilterChanges::Finish(bool vacant) {
  if (!vacant && filter_.node_selector == 0 && filter_.required_affinity == 0 &&
      filter_.taints.empty()) {
    filter_.matches = {};
  }
}

std::int64_t NodeFilter::Bytes() const {
  std::int64_t bytes = sizeof(NodeFilter);
  bytes += static_cast<std::int64_t>(matches.size() * sizeof(matches[0]) +
                                     affinity.size() * sizeof(affinity[0]));
  for (const auto& [taint, leaves] : taints) {
    bytes += BytesOf(taint) + static_cast<std::int64_t>(sizeof(leaves));
  }
  return bytes;
}

std::string NodeConstraints::Key() const {
  KeyText key;
  key.Add(node_selector.size());
  for (const auto& [name, value] : node_selector) {
    key.Add(name);
    key.Add(value);
  }
  key.Add(tolerations.size());
  for (const Toleration& toleration : tolerations) {
    key.Add(toleration.key);
    key.Add(toleration.operation);
    key.Add(toleration.value);
    key.Add(toleration.effect);
  }
  key.Add(required_affinity ? "affinity" : "");
  if (required_affinity) {
    key.Add(required_affinity->size());
    for (const NodeSelectorTerm& term : *required_affinity) key.Add(term);
  }
  for (const PreferredSchedulingTerm& term : preferred_affinity) {
    key.Add(std::to_string(term.weight));
    key.Add(term.preference);
  }
  return key.Take();
}

}  // namespace espalier
