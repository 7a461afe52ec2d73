#include "host/kueue/validation/ruled_out.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/packing/node_match.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostValues = 3;  // that are named of a label

std::string TextOf(const NodeSelectorRequirement& requirement) {
  if (requirement.values.empty()) {
    return fmt::format("{} {}", requirement.key, requirement.operation);
  }
  return fmt::format("{} {} {}", requirement.key, requirement.operation,
                     fmt::join(requirement.values, ","));
}

std::string TextOf(const NodeSelectorTerm& term) {
  std::vector<std::string> texts;
  for (const NodeSelectorRequirement& one : term.match_expressions) texts.push_back(TextOf(one));
  for (const NodeSelectorRequirement& one : term.match_fields) texts.push_back(TextOf(one));
  return texts.empty() ? "an empty term" : fmt::format("{}", fmt::join(texts, " and "));
}

std::string AffinityText(const std::vector<NodeSelectorTerm>& terms) {
  std::vector<std::string> texts;
  for (const NodeSelectorTerm& term : terms) texts.push_back(TextOf(term));
  return "required node affinity " +
         (texts.empty() ? "without a term" : fmt::format("{}", fmt::join(texts, ", or ")));
}

std::string SelectorText(const std::string& key, const std::string& value) {
  return fmt::format("nodeSelector {}={}", key, value);
}

// Returns what nodes have of a label that is asked for.
std::string ValuesText(const std::string& key, std::span<const Node* const> nodes) {
  std::set<std::string> values;
  for (const Node* node : nodes) {
    if (const std::string* value = node->labels.Find(key)) values.insert(*value);
  }
  if (values.empty()) return "none of the nodes has this label";
  std::vector<std::string> named;
  for (const std::string& value : values) {
    if (named.size() < kMostValues) named.push_back(value);
  }
  const std::size_t more = values.size() - named.size();
  return fmt::format("the nodes have {}{}", fmt::join(named, ", "),
                     more == 0 ? "" : fmt::format(" and {} others", more));
}

std::string TolerationText(const Taint& taint) {
  const Toleration toleration = TolerationOf(taint);
  const std::string value =
      toleration.value.empty() ? "" : fmt::format(", value: {}", toleration.value);
  return fmt::format("the toleration {{key: {}, operator: {}{}, effect: {}}} would help",
                     toleration.key, toleration.operation, value, toleration.effect);
}

bool MatchesAffinity(const NodeConstraints& constraints, const Node& node) {
  const auto& required = constraints.required_affinity;
  return !required || std::ranges::any_of(*required, [&](const NodeSelectorTerm& term) {
    return !MalformedTerm(term) && TermMatches(term, node.labels, node.name);
  });
}

}  // namespace

Toleration TolerationOf(const Taint& taint) {
  return {taint.key, taint.value.empty() ? "Exists" : "Equal", taint.value, taint.effect};
}

std::vector<RuledOut> WhatRulesOut(const NodeConstraints& constraints,
                                   std::span<const Node* const> nodes) {
  std::map<std::string, RuledOut> by_text;
  const auto count = [&](std::string by, const auto& remedy) {
    RuledOut& found = by_text[by];
    if (++found.nodes > 1) return;
    found.by = std::move(by);
    found.remedy = remedy();
  };
  for (const Node* node : nodes) {
    if (const Taint* taint = FirstUntoleratedTaint(node->taints, constraints.tolerations)) {
      count("taint " + TaintText(*taint), [&] { return TolerationText(*taint); });
      continue;
    }
    const auto& selector = constraints.node_selector;
    const auto differs = std::ranges::find_if(selector, [&](const auto& entry) {
      const std::string* value = node->labels.Find(entry.first);
      return value == nullptr || *value != entry.second;
    });
    if (differs != selector.end()) {
      const auto& [key, value] = *differs;
      count(SelectorText(key, value), [&, &name = key] { return ValuesText(name, nodes); });
    } else if (!MatchesAffinity(constraints, *node)) {
      count(AffinityText(*constraints.required_affinity), [&] {
        std::set<std::string> keys;
        for (const NodeSelectorTerm& term : *constraints.required_affinity) {
          for (const auto& requirement : term.match_expressions) keys.insert(requirement.key);
        }
        std::vector<std::string> texts;
        for (const std::string& key : keys) {
          texts.push_back(fmt::format("of {} {}", key, ValuesText(key, nodes)));
        }
        return fmt::format("{}", fmt::join(texts, "; "));
      });
    }
  }
  std::vector<RuledOut> ruled_out;
  for (auto& [text, one] : by_text) ruled_out.push_back(std::move(one));
  std::ranges::stable_sort(ruled_out, std::greater<>(), &RuledOut::nodes);
  return ruled_out;
}

std::vector<FewerConstraints> PartsOf(const NodeConstraints& constraints) {
  std::vector<FewerConstraints> parts;
  for (const auto& [key, value] : constraints.node_selector) {
    parts.push_back({SelectorText(key, value), key});
  }
  if (constraints.required_affinity)
    parts.push_back({AffinityText(*constraints.required_affinity)});
  return parts;
}

std::vector<Taint> UntoleratedTaints(const NodeConstraints& constraints,
                                     std::span<const Node* const> nodes) {
  std::map<std::string, Taint> taints;
  for (const Node* node : nodes) {
    for (const Taint& taint : node->taints) {
      if (FirstUntoleratedTaint({taint}, constraints.tolerations) != nullptr) {
        taints.emplace(TaintText(taint), taint);
      }
    }
  }
  std::vector<Taint> each;
  for (auto& [text, taint] : taints) each.push_back(std::move(taint));
  return each;
}

}  // namespace espalier
