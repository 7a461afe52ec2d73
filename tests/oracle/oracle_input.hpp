// The oracle's input from what the engine's state is built from.
#pragma once

#include "host/packing/cluster_state.hpp"
#include "tests/oracle/oracle.hpp"

namespace espalier::oracle {

// `cluster` has one topology and one flavor. Usage entries of one node or leaf are added up.
OracleInput MakeOracleInput(const ClusterStateInput& cluster, const FeatureGates& gates);

}  // namespace espalier::oracle
