// Lets resource claims say where pods go (W8.2).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/readers/effective_requests.hpp"

namespace espalier {

// Reads the claims in `spec.resourceClaims` of a pod or a pod template. A claim that names a level
// makes it the required one of the group, whose pods share the claim; what a claim is allocated for
// narrows their node affinity. A claim of devices that says nothing of places stays among the
// constraints that are not looked at. What names a level and is not understood becomes the group's
// claim_problem.
//
// A pod that has a node is placed only if it leaves it, and its claims are allocated anew then: its
// own ones, and those that no pods use but `going`, which leave with it.
void ApplyPodClaims(JsonValue pod, std::string_view name_space, const ReadContext& context,
                    const ClusterDefaults& defaults, EqGroup& group,
                    std::span<const std::string_view> going = {});

// Reads the claims in `resourceClaims` of a pod group's spec, which all its pods share, as topology
// requests of the gang. A claim that says nothing of places is noted.
void ReadGroupClaims(JsonValue spec, const ReadContext& context, const ClusterDefaults& defaults,
                     GangGroup& gang, std::vector<std::string>& notes);

// Resolves the topology requests by claim at all levels of the workload in the same way. A claim
// that is not in the input or not understood makes the workload wait.
void ResolveClaims(const ResourceClaims& claims, GangWorkload& workload);

}  // namespace espalier
