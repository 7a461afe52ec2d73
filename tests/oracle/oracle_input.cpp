#include "tests/oracle/oracle_input.hpp"

namespace espalier::oracle {

OracleInput MakeOracleInput(const ClusterStateInput& cluster, const FeatureGates& gates) {
  OracleInput input;
  input.nodes = cluster.nodes;
  input.topology = cluster.topologies.front();
  input.flavor = cluster.flavors.front();
  input.gates = gates;
  for (const NodeUsage& usage : cluster.non_tas_usage) {
    AddTo(input.non_tas_usage[usage.node], usage.usage);
  }
  for (const FlavorLeafUsage& usage : cluster.tas_usage) {
    AddTo(input.tas_usage[usage.leaf], usage.usage);
  }
  return input;
}

}  // namespace espalier::oracle
