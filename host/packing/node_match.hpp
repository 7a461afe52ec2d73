// Matches nodes, or sets of labels, with what a pod requires of them (R7.3 to R7.5, R7.8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/node.hpp"
#include "host/model/result.hpp"
#include "host/model/topology.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

// Returns whether a taint keeps pods away, as NoSchedule and NoExecute do; other effects are only
// preferences (R7.3).
bool RepelsPods(const Taint& taint);
bool Tolerates(const Toleration& toleration, const Taint& taint);

// Returns the first taint in list order that repels pods and that none tolerates, or null;
// meaningless once `budget` is stopped.
const Taint* FirstUntoleratedTaint(const std::vector<Taint>& taints,
                                   const std::vector<Toleration>& tolerations,
                                   const WorkBudget& budget = WorkBudget::Unlimited());

// Returns `key=value:Effect`, or `key:Effect` when the value is empty.
std::string TaintText(const Taint& taint);

// Returns whether every key is present with exactly that value (R7.4).
bool MatchesSelector(const StringMap& labels, const StringMap& selector);

// Returns the values of a node at `levels`, coarsest first; nullopt where it lacks one of them or
// not all labels are those of the flavor (R3.1). Whether it is available does not matter.
std::optional<std::vector<std::string>> PathInFlavor(const Node& node, const ResourceFlavor& flavor,
                                                     const std::vector<std::string>& levels);

// Returns whether one requirement holds for a label's value; null: the label is absent. The
// requirement is taken to be well formed.
bool RequirementHolds(const NodeSelectorRequirement& requirement, const std::string* value);

// Returns why a requirement on labels, or one on fields, is malformed (R7.5); nullopt: it is well
// formed.
std::optional<std::string> MalformedExpression(const NodeSelectorRequirement& requirement);
std::optional<std::string> MalformedField(const NodeSelectorRequirement& requirement);

// Returns a description of the first malformed requirement of a term, or nullopt.
std::optional<std::string> MalformedTerm(const NodeSelectorTerm& term);

// Returns whether all expressions and fields of the term hold; a term with neither matches nothing.
bool TermMatches(const NodeSelectorTerm& term, const StringMap& labels, std::string_view node_name);

}  // namespace espalier
