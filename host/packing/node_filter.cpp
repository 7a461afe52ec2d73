#include "host/packing/node_filter.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

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

// A requirement judged once per distinct value instead of once per node.
class CompiledRequirement {
 public:
  static CompiledRequirement OnLabel(const NodeSelectorRequirement& requirement,
                                     const NodeColumns& nodes) {
    CompiledRequirement compiled;
    compiled.label_ = nodes.FindLabel(requirement.key);
    compiled.holds_when_missing_ = RequirementHolds(requirement, nullptr);
    if (compiled.label_ == nullptr) return compiled;
    for (const std::string& value : compiled.label_->values) {
      compiled.holds_.push_back(RequirementHolds(requirement, &value));
    }
    return compiled;
  }
  static CompiledRequirement OnName(const NodeSelectorRequirement& requirement) {
    CompiledRequirement compiled;
    compiled.on_name_ = &requirement;
    return compiled;
  }

  bool Holds(const NodeColumns& nodes, std::size_t node) const {
    if (on_name_ != nullptr) return RequirementHolds(*on_name_, &nodes.names[node]);
    const std::int32_t value = label_ == nullptr ? -1 : label_->value_of[node];
    return value < 0 ? holds_when_missing_ : holds_[static_cast<std::size_t>(value)] != 0;
  }

 private:
  const LabelColumn* label_ = nullptr;
  std::vector<std::uint8_t> holds_;  // by value
  bool holds_when_missing_ = false;
  const NodeSelectorRequirement* on_name_ = nullptr;
};

// All requirements of a term; a term with none matches nothing (R7.5).
class CompiledTerm {
 public:
  CompiledTerm(const NodeSelectorTerm& term, const NodeColumns& nodes) {
    for (const NodeSelectorRequirement& requirement : term.match_expressions) {
      requirements_.push_back(CompiledRequirement::OnLabel(requirement, nodes));
    }
    for (const NodeSelectorRequirement& requirement : term.match_fields) {
      requirements_.push_back(CompiledRequirement::OnName(requirement));
    }
  }
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
  CompiledConstraints(const NodeConstraints& constraints, const NodeColumns& nodes)
      : nodes_(nodes), restricted_(constraints.required_affinity.has_value()) {
    for (const std::vector<Taint>& taints : nodes.taint_sets) {
      const Taint* taint = FirstUntoleratedTaint(taints, constraints.tolerations);
      repelled_by_.push_back(taint == nullptr ? std::string() : TaintText(*taint));
    }
    for (const auto& [key, value] : constraints.node_selector) {
      selector_.push_back(CompiledRequirement::OnLabel({key, "In", {value}}, nodes));
    }
    if (restricted_) {
      for (const NodeSelectorTerm& term : *constraints.required_affinity) {
        required_.emplace_back(term, nodes);
      }
    }
    for (const PreferredSchedulingTerm& term : constraints.preferred_affinity) {
      if (term.weight != 0) preferred_.push_back({term.weight, {term.preference, nodes}});
    }
  }

  // Whether a node matches; otherwise the counter of what excludes it goes up.
  bool Matches(std::size_t node, NodeFilter& counters) const {
    const std::string& taint = repelled_by_[static_cast<std::size_t>(nodes_.taint_set_of[node])];
    if (!taint.empty()) {
      ++counters.taints[taint];
      return false;
    }
    if (!std::ranges::all_of(selector_, [&](const CompiledRequirement& requirement) {
          return requirement.Holds(nodes_, node);
        })) {
      ++counters.node_selector;
      return false;
    }
    if (restricted_ && std::ranges::none_of(required_, [&](const CompiledTerm& term) {
          return term.Matches(nodes_, node);
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
      if (term.Matches(nodes_, node)) score += weight;
    }
    return score;
  }

 private:
  const NodeColumns& nodes_;
  std::vector<std::string> repelled_by_;  // by taint set; empty: tolerated
  std::vector<CompiledRequirement> selector_;
  bool restricted_;
  std::vector<CompiledTerm> required_;  // OR-ed
  std::vector<std::pair<std::int64_t, CompiledTerm>> preferred_;
};

}  // namespace

NodeFilter EvaluateFilter(const NodeConstraints& constraints, const NodeColumns& nodes,
                          std::span<const std::int32_t> node_of_leaf, const TreeView& tree) {
  const CompiledConstraints compiled(constraints, nodes);
  NodeFilter filter;
  filter.matches.assign((node_of_leaf.size() + 63) / 64, 0);
  const bool scored = !constraints.preferred_affinity.empty();
  if (scored) filter.affinity.assign(static_cast<std::size_t>(tree.domain_count()), 0);
  const auto first_leaf = static_cast<std::size_t>(tree.LevelBegin(tree.lowest()));
  bool all = true;
  for (std::size_t leaf = 0; leaf < node_of_leaf.size(); ++leaf) {
    const auto node = static_cast<std::size_t>(node_of_leaf[leaf]);
    if (!compiled.Matches(node, filter)) {
      all = false;
      continue;
    }
    filter.matches[leaf / 64] |= std::uint64_t{1} << (leaf % 64);
    if (scored) filter.affinity[first_leaf + leaf] = compiled.Score(node);
  }
  if (all) filter.matches.clear();
  if (scored) {  // R8.2
    for (std::int32_t d = tree.domain_count(); d-- > tree.LevelEnd(0);) {
      filter.affinity[static_cast<std::size_t>(tree.parent[d])] +=
          filter.affinity[static_cast<std::size_t>(d)];
    }
  }
  return filter;
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
