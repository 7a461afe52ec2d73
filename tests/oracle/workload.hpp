// Sections 15 to 17: the pod sets of one workload on one flavor.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/oracle/placement.hpp"

namespace espalier::oracle {

// The inputs of one evaluation, and its findings so far.
struct Evaluation {
  const OracleInput& input;
  const WorkloadRequest& request;
  Cluster cluster;
  AssumedUsage assumed;                                   // R15.2
  std::map<std::string, TopologyAssignment> assignments;  // by pod set
  std::map<std::string, std::string> reasons;             // by pod set

  Situation Here() const {
    return {request.simulate_empty, request.affinity_scores_consumed, assumed, ""};
  }
  void Assume(const TopologyAssignment& assignment, const Resources& requests);  // R5.8
};

// Workers and leader of one group (R15.5).
struct Group {
  PodSetRequest workers;
  std::optional<PodSetRequest> leader;

  const PodSetRequest* Leader() const { return leader ? &*leader : nullptr; }
};

// Each answers one group or pod set and says whether the evaluation of the flavor goes on.
bool EvaluateGroup(Evaluation& evaluation, const Group& group);                  // R15.6
bool EvaluateElasticGroup(Evaluation& evaluation, const Group& group);           // section 16
bool EvaluateReplacement(Evaluation& evaluation, const PodSetRequest& request);  // section 17

// Merges as R16.7 says. Every domain of both is a leaf.
TopologyAssignment Merge(const Cluster& cluster, const TopologyAssignment& a,
                         const TopologyAssignment& b);

}  // namespace espalier::oracle
