// R7.1 to R7.8: which leaves a pod may go to at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/oracle/cluster.hpp"

namespace espalier::oracle {

// Why a leaf is out, or that it is not.
struct Match {
  enum class Verdict { kMatches, kTaint, kNodeSelector, kAffinity };
  Verdict verdict = Verdict::kMatches;
  std::string taint;  // the textual form, for kTaint
};

Match MatchNode(const Node& node, const PodTemplate& pod);

// Returns the sum of the weights of the preferred terms that match (R7.8).
std::int64_t AffinityScore(const Node& node, const std::vector<PreferredSchedulingTerm>& terms);

// Returns whether upstream can parse the terms (R7.5).
bool IsParseable(const std::vector<NodeSelectorTerm>& terms);
bool IsParseable(const std::vector<PreferredSchedulingTerm>& terms);

}  // namespace espalier::oracle
