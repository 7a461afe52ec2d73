// One question about one flavor, and the two that answer it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "host/engine/engine.hpp"
#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier::differential {

struct Instance {
  FeatureGates gates;
  ClusterStateInput cluster;  // one topology, one flavor, at most one usage entry per leaf
  WorkloadRequest request;

  const Topology& topology() const { return cluster.topologies.front(); }
  const ResourceFlavor& flavor() const { return cluster.flavors.front(); }
};

WorkloadAnswer AskOracle(const Instance& instance);
WorkloadAnswer AskEngine(const Instance& instance, const std::shared_ptr<Backend>& backend);

// Returns what differs, or nothing. Reasons that the rules leave open are compared as far as they
// go: what upstream leaves undefined (R24.1) must fail, and Kubernetes' own parse errors (R18.2)
// must begin alike. Shortfalls are not compared.
std::optional<std::string> Difference(const WorkloadAnswer& oracle, const WorkloadAnswer& engine);

// Returns the instance as one line of the form of the recorded cases, `expected` as its answer.
// Scores that an earlier evaluation consumed (R7.9) have no place in that form.
std::string CaseLine(const std::string& name, const Instance& instance,
                     const WorkloadAnswer& expected);

}  // namespace espalier::differential
