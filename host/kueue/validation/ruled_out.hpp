// Tells what of what pods ask of nodes rules which nodes out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/model/node.hpp"
#include "host/packing/node_filter.hpp"

namespace espalier {

// Nodes that one part of what pods ask of nodes, or a taint, rules out: the first for each node.
struct RuledOut {
  std::string by;  // such as "nodeSelector zone=a" or "taint gpu=yes:NoSchedule"
  std::int64_t nodes = 0;
  std::string remedy;  // what would help, such as a toleration, or what the nodes have instead
  bool operator==(const RuledOut&) const = default;
};

// Returns what rules out nodes: a taint, else a key of the selector, else the required affinity;
// most nodes first, then by text. Nodes that match are not counted.
std::vector<RuledOut> WhatRulesOut(const NodeConstraints& constraints,
                                   std::span<const Node* const> nodes);

// Returns the constraints once each without one of their parts, with the part's text: a key of the
// selector, or the required affinity.
struct FewerConstraints {
  std::string without;            // as RuledOut::by
  std::string selector_key = {};  // empty: the affinity
};
std::vector<FewerConstraints> PartsOf(const NodeConstraints& constraints);

// Returns the taints of some nodes that nothing tolerates, each once, in byte-wise order of their
// texts.
std::vector<Taint> UntoleratedTaints(const NodeConstraints& constraints,
                                     std::span<const Node* const> nodes);

// Returns the toleration that takes exactly this taint.
Toleration TolerationOf(const Taint& taint);

}  // namespace espalier
