// An independent, naive implementation of Kueue's topology-aware placement: sections 3 to 18 of the
// rules, one file per group of sections, written to be read beside them. It shares no code and no
// data structure with the engine, and takes as long as it likes.
//
// What upstream leaves undefined (R24.1) is answered with a failure whose reason begins with
// kUndefined:
//   "undefined upstream: balanced placement of no slice"             R14.6
//   "undefined upstream: additional slice layer of size 0"           R6.7, R17.6, R17.8
//   "undefined upstream: group of more than two pod sets"            R15.5, only when it would fit
//   "undefined upstream: leader without a previous assignment"       R16.5, R16.6
//   "undefined upstream: assignment with zero levels"                R17.3
// Where upstream is not deterministic the choice is the recommended one of section 24. The
// Kubernetes texts that R18.2 leaves out are cut after "invalid affinity node selectors" and
// "invalid preferred node affinity terms". PlacementFailure::shortfall is never filled in.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/model/node.hpp"
#include "host/model/topology.hpp"

namespace espalier::oracle {

inline constexpr std::string_view kUndefined = "undefined upstream: ";

// One flavor of a cluster.
struct OracleInput {
  std::vector<Node> nodes;
  Topology topology;
  ResourceFlavor flavor;
  std::map<std::string, Resources> non_tas_usage;  // node name -> usage with `pods` (R5.3)
  std::map<std::string, Resources> tas_usage;      // leaf id -> usage with `pods` (R5.4 to R5.6)
  FeatureGates gates;
};

// Answers a request whose pod sets are all on `input.flavor`.
WorkloadAnswer Answer(const OracleInput& input, const WorkloadRequest& request);

}  // namespace espalier::oracle
