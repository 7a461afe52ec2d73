#include "tests/oracle/leaf_matching.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <regex>

namespace espalier::oracle {
namespace {

std::optional<std::int64_t> ParseUnsignedOrMinus(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A signed decimal int64: "+5" and "007" are numbers (R7.5).
std::optional<std::int64_t> ParseLabelNumber(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return ParseUnsignedOrMinus(text);
}

// --- R7.3 ----------------------------------------------------------------------------------------

// "canonical decimal int64 (`0`, or an optional minus and digits without leading zero; no plus, no
// spaces)".
bool IsCanonicalDecimal(const std::string& text) {
  static const std::regex kForm("0|-?[1-9][0-9]*");
  if (!std::regex_match(text, kForm)) return false;
  errno = 0;
  (void)std::strtoll(text.c_str(), nullptr, 10);
  return errno == 0;  // within int64
}

// "taint value < (resp. >) toleration value", where both are canonical.
bool ValuesCompare(const std::string& taint, const std::string& toleration, bool less) {
  if (!IsCanonicalDecimal(taint) || !IsCanonicalDecimal(toleration)) return false;
  const long long a = std::stoll(taint);
  const long long b = std::stoll(toleration);
  return less ? a < b : a > b;
}

// "effect empty or equal; key empty or equal; operator empty/`Equal` -> values equal; `Exists` ->
// true; `Lt`/`Gt` -> [...]; any other operator never matches".
bool Tolerates(const Toleration& toleration, const Taint& taint) {
  const bool effect = toleration.effect == "" || toleration.effect == taint.effect;
  const bool key = toleration.key == "" || toleration.key == taint.key;
  using Values = std::function<bool()>;
  const std::map<std::string, Values> operators = {
      {"", [&] { return taint.value == toleration.value; }},
      {"Equal", [&] { return taint.value == toleration.value; }},
      {"Exists", [] { return true; }},
      {"Lt", [&] { return ValuesCompare(taint.value, toleration.value, true); }},
      {"Gt", [&] { return ValuesCompare(taint.value, toleration.value, false); }}};
  const auto found = operators.find(toleration.operation);
  return effect && key && found != operators.end() && found->second();
}

std::optional<Taint> FirstUntolerated(const Node& node, const std::vector<Toleration>& list) {
  for (const Taint& taint : node.taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    bool tolerated = false;
    for (const Toleration& toleration : list) tolerated = tolerated || Tolerates(toleration, taint);
    if (!tolerated) return taint;
  }
  return std::nullopt;
}

std::string TaintText(const Taint& taint) {
  return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" + taint.effect;
}

// --- R7.5 ----------------------------------------------------------------------------------------

bool IsParseableExpression(const NodeSelectorRequirement& requirement) {
  const std::size_t values = requirement.values.size();
  const std::string& operation = requirement.operation;
  if (operation == "In" || operation == "NotIn") return values > 0;
  if (operation == "Exists" || operation == "DoesNotExist") return values == 0;
  if (operation == "Gt" || operation == "Lt") {
    return values == 1 && ParseLabelNumber(requirement.values.front()).has_value();
  }
  return false;
}

bool IsParseableField(const NodeSelectorRequirement& requirement) {
  return (requirement.operation == "In" || requirement.operation == "NotIn") &&
         requirement.values.size() == 1;
}

bool IsEmpty(const NodeSelectorTerm& term) {
  return term.match_expressions.empty() && term.match_fields.empty();
}

bool IsParseableTerm(const NodeSelectorTerm& term) {
  return std::all_of(term.match_expressions.begin(), term.match_expressions.end(),
                     IsParseableExpression) &&
         std::all_of(term.match_fields.begin(), term.match_fields.end(), IsParseableField);
}

bool Contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool ExpressionMatches(const NodeSelectorRequirement& requirement, const std::string* label) {
  const std::string& operation = requirement.operation;
  if (operation == "In") return label != nullptr && Contains(requirement.values, *label);
  if (operation == "NotIn") return label == nullptr || !Contains(requirement.values, *label);
  if (operation == "Exists") return label != nullptr;
  if (operation == "DoesNotExist") return label == nullptr;
  const auto label_number = label == nullptr ? std::nullopt : ParseLabelNumber(*label);
  if (!label_number) return false;
  const std::int64_t number = *ParseLabelNumber(requirement.values.front());
  return operation == "Gt" ? *label_number > number : *label_number < number;
}

bool FieldMatches(const NodeSelectorRequirement& requirement, const Node& node) {
  const std::string value = requirement.key == "metadata.name" ? node.name : "";
  return (value == requirement.values.front()) == (requirement.operation == "In");
}

bool TermMatches(const NodeSelectorTerm& term, const Node& node) {
  if (IsEmpty(term)) return false;
  for (const NodeSelectorRequirement& requirement : term.match_expressions) {
    if (!ExpressionMatches(requirement, node.labels.Find(requirement.key))) return false;
  }
  for (const NodeSelectorRequirement& requirement : term.match_fields) {
    if (!FieldMatches(requirement, node)) return false;
  }
  return true;
}

bool AnyTermMatches(const std::vector<NodeSelectorTerm>& terms, const Node& node) {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const NodeSelectorTerm& term) { return TermMatches(term, node); });
}

// --- R7.4 ----------------------------------------------------------------------------------------

bool SelectorMatches(const StringMap& selector, const Node& node) {
  for (const auto& [key, value] : selector) {
    const std::string* label = node.labels.Find(key);
    if (label == nullptr || *label != value) return false;
  }
  return true;
}

}  // namespace

bool IsParseable(const std::vector<NodeSelectorTerm>& terms) {
  return std::all_of(terms.begin(), terms.end(), IsParseableTerm);
}

bool IsParseable(const std::vector<PreferredSchedulingTerm>& terms) {
  return std::all_of(terms.begin(), terms.end(), [](const PreferredSchedulingTerm& term) {
    return term.weight == 0 || IsParseableTerm(term.preference);
  });
}

// --- R7.2 ----------------------------------------------------------------------------------------

Match MatchNode(const Node& node, const PodTemplate& pod) {
  if (const auto taint = FirstUntolerated(node, pod.tolerations)) {
    return {Match::Verdict::kTaint, TaintText(*taint)};
  }
  if (!SelectorMatches(pod.node_selector, node)) return {Match::Verdict::kNodeSelector, ""};
  if (pod.affinity.required && !AnyTermMatches(*pod.affinity.required, node)) {
    return {Match::Verdict::kAffinity, ""};
  }
  return {};
}

// --- R7.8 ----------------------------------------------------------------------------------------

std::int64_t AffinityScore(const Node& node, const std::vector<PreferredSchedulingTerm>& terms) {
  std::int64_t score = 0;
  for (const PreferredSchedulingTerm& term : terms) {
    if (term.weight != 0 && TermMatches(term.preference, node)) score += term.weight;
  }
  return score;
}

}  // namespace espalier::oracle
