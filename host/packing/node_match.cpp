#include "host/packing/node_match.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "host/model/parse_integer.hpp"

namespace espalier {
namespace {

std::optional<std::int64_t> ParseCanonicalInteger(std::string_view text) {
  const std::optional<std::int64_t> value = ParseInteger<std::int64_t>(text);
  if (!value || std::to_string(*value) != text) return std::nullopt;
  return value;
}

}  // namespace

bool RepelsPods(const Taint& taint) {
  return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.operation.empty() || toleration.operation == "Equal") {
    return toleration.value == taint.value;
  }
  if (toleration.operation == "Exists") return true;
  const auto taint_value = ParseCanonicalInteger(taint.value);
  const auto toleration_value = ParseCanonicalInteger(toleration.value);
  if (!taint_value || !toleration_value) return false;
  if (toleration.operation == "Lt") return *taint_value < *toleration_value;
  if (toleration.operation == "Gt") return *taint_value > *toleration_value;
  return false;
}

const Taint* FirstUntoleratedTaint(const std::vector<Taint>& taints,
                                   const std::vector<Toleration>& tolerations,
                                   const WorkBudget& budget) {
  for (const Taint& taint : taints) {
    if (budget.stopped()) return nullptr;
    if (!RepelsPods(taint)) continue;
    if (std::ranges::none_of(tolerations,
                             [&](const Toleration& t) { return Tolerates(t, taint); })) {
      return &taint;
    }
  }
  return nullptr;
}

std::string TaintText(const Taint& taint) {
  return taint.value.empty() ? fmt::format("{}:{}", taint.key, taint.effect)
                             : fmt::format("{}={}:{}", taint.key, taint.value, taint.effect);
}

bool MatchesSelector(const StringMap& labels, const StringMap& selector) {
  return std::ranges::all_of(selector, [&](const auto& wanted) {
    const std::string* value = labels.Find(wanted.first);
    return value != nullptr && *value == wanted.second;
  });
}

std::optional<std::vector<std::string>> PathInFlavor(const Node& node, const ResourceFlavor& flavor,
                                                     const std::vector<std::string>& levels) {
  for (const auto& [key, value] : flavor.node_labels) {
    const std::string* label = node.labels.Find(key);
    if (label == nullptr ? !value.empty() : *label != value) return std::nullopt;
  }
  std::vector<std::string> path;
  for (const std::string& level : levels) {
    const std::string* value = node.labels.Find(level);
    if (value == nullptr) return std::nullopt;
    path.push_back(*value);
  }
  return path;
}

bool RequirementHolds(const NodeSelectorRequirement& requirement, const std::string* value) {
  const std::string& operation = requirement.operation;
  if (operation == "Exists") return value != nullptr;
  if (operation == "DoesNotExist") return value == nullptr;
  if (operation == "In" || operation == "NotIn") {
    const bool listed = value != nullptr &&
                        std::ranges::find(requirement.values, *value) != requirement.values.end();
    return listed == (operation == "In");
  }
  if (value == nullptr || requirement.values.size() != 1) return false;
  const auto left = ParseInteger<std::int64_t>(*value);
  const auto right = ParseInteger<std::int64_t>(requirement.values.front());
  if (!left || !right) return false;
  return operation == "Gt" ? *left > *right : operation == "Lt" && *left < *right;
}

std::optional<std::string> MalformedExpression(const NodeSelectorRequirement& requirement) {
  const std::string& operation = requirement.operation;
  const std::size_t values = requirement.values.size();
  if (operation == "In" || operation == "NotIn") {
    if (values > 0) return std::nullopt;
    return fmt::format("key \"{}\": operator {} needs at least one value", requirement.key,
                       operation);
  }
  if (operation == "Exists" || operation == "DoesNotExist") {
    if (values == 0) return std::nullopt;
    return fmt::format("key \"{}\": operator {} takes no value", requirement.key, operation);
  }
  if (operation == "Gt" || operation == "Lt") {
    if (values == 1 && ParseInteger<std::int64_t>(requirement.values.front())) return std::nullopt;
    return fmt::format("key \"{}\": operator {} needs exactly one integer", requirement.key,
                       operation);
  }
  return fmt::format("key \"{}\": \"{}\" is not a valid operator", requirement.key, operation);
}

std::optional<std::string> MalformedField(const NodeSelectorRequirement& requirement) {
  if (requirement.key != "metadata.name") {
    return fmt::format("field \"{}\" is not supported, only metadata.name", requirement.key);
  }
  if (requirement.operation != "In" && requirement.operation != "NotIn") {
    return fmt::format("field metadata.name: \"{}\" is not a valid operator",
                       requirement.operation);
  }
  if (requirement.values.size() != 1) {
    return std::string("field metadata.name: exactly one value is needed");
  }
  return std::nullopt;
}

std::optional<std::string> MalformedTerm(const NodeSelectorTerm& term) {
  for (const NodeSelectorRequirement& requirement : term.match_expressions) {
    if (auto problem = MalformedExpression(requirement)) return problem;
  }
  for (const NodeSelectorRequirement& requirement : term.match_fields) {
    if (auto problem = MalformedField(requirement)) return problem;
  }
  return std::nullopt;
}

bool TermMatches(const NodeSelectorTerm& term, const StringMap& labels,
                 std::string_view node_name) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  const std::string name(node_name);
  return std::ranges::all_of(term.match_expressions,
                             [&](const NodeSelectorRequirement& r) {
                               return RequirementHolds(r, labels.Find(r.key));
                             }) &&
         std::ranges::all_of(term.match_fields, [&](const NodeSelectorRequirement& r) {
           return RequirementHolds(r, &name);
         });
}

}  // namespace espalier
