// Keeps domains that a Job of a JobSet has to itself free of Jobs of other JobSets (W8.11).
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "host/engine/request.hpp"
#include "host/kueue/planning/planned_answers.hpp"
#include "host/model/cluster.hpp"

namespace espalier {

// Domains that a workload is kept out of: labels of nodes, and their values there.
using ClosedDomains = std::map<std::string, std::set<std::string>>;

// Lets the pods of each workload of a plan go to no node of the domains that JobSets whose pods run
// on `nodes` keep it out of. Returns these by position: none unless the workload is of a JobSet.
std::vector<ClosedDomains> KeepApart(PlacementPlan& plan, const Cluster& cluster,
                                     std::span<const Node> nodes);

// Lets the pods of a request go to no node of closed domains, as KeepApart does.
void KeepOut(const ClosedDomains& closed, WorkloadRequest& request);

// Lets the pods of a request go to domains that KeepApart closed to it.
void LetIn(const ClosedDomains& closed, WorkloadRequest& request);

// Answers a plan as AnswerPlan does, and keeps exclusive domains besides, as JobSet's pod affinity
// does: no Job of an exclusive JobSet goes to a domain, told by the value of that label alone, with
// pods of another JobSet, and no pod of a JobSet to a domain that another one holds exclusively.
// Pods that are of no JobSet count for nothing. Counted are pods that run on `nodes`, and with
// `in_order` the workloads that the plan places before.
//
// Adds to the workloads' `not_honoured` what cannot be kept, as nodes are not told apart.
Result<PlannedAnswers> AnswerPlanApart(PlacementPlan& plan, Cluster& cluster,
                                       std::span<const Node> nodes, bool in_order,
                                       const Nominate& place, const Nominate& on_empty);

// A workload, by its position in the cluster, and where it is placed.
struct PlacedWorkload {
  std::size_t index = 0;
  const WorkloadAnswer* answer = nullptr;
};

// Adds to the `not_honoured` of workloads of JobSets, which are placed anew in this order without
// regard to exclusive domains, which domains they share with other JobSets though one of them has
// it to itself. Counted are pods that run on `nodes` of other JobSets than these, and those of
// these that are placed before.
void NoteSharedDomains(std::span<const PlacedWorkload> placed, std::span<const Node> nodes,
                       Cluster& cluster);

}  // namespace espalier
