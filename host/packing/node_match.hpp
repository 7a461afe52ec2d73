// Whether a node, or a set of labels, satisfies what a pod asks of it (R7.3 to R7.5, R7.8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/node.hpp"
#include "host/model/result.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

// NoSchedule and NoExecute keep pods away; other effects are only preferences (R7.3).
bool RepelsPods(const Taint& taint);
bool Tolerates(const Toleration& toleration, const Taint& taint);

// The first taint in list order that repels pods and that none tolerates, or null; meaningless
// once `budget` is stopped.
const Taint* FirstUntoleratedTaint(const std::vector<Taint>& taints,
                                   const std::vector<Toleration>& tolerations,
                                   const WorkBudget& budget = WorkBudget::Unlimited());

// `key=value:Effect`, or `key:Effect` when the value is empty.
std::string TaintText(const Taint& taint);

// Every key present with exactly that value (R7.4).
bool MatchesSelector(const StringMap& labels, const StringMap& selector);

// Whether one requirement holds for a label's value; null: the label is absent. The requirement is
// taken to be well formed.
bool RequirementHolds(const NodeSelectorRequirement& requirement, const std::string* value);

// Why a requirement on labels, or one on fields, is malformed (R7.5); nullopt: well formed.
std::optional<std::string> MalformedExpression(const NodeSelectorRequirement& requirement);
std::optional<std::string> MalformedField(const NodeSelectorRequirement& requirement);

// The first malformed requirement of a term in words, or nullopt.
std::optional<std::string> MalformedTerm(const NodeSelectorTerm& term);

// All expressions and fields of the term hold; a term with neither matches nothing.
bool TermMatches(const NodeSelectorTerm& term, const StringMap& labels, std::string_view node_name);

}  // namespace espalier
