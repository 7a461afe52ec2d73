// Explains why a workload is not placed, in lines that a person reads.
#pragma once

#include <string>
#include <vector>

#include "host/engine/request.hpp"
#include "host/kueue/validation/certificate.hpp"
#include "service/cli/reports/domain_text.hpp"

namespace espalier {

// Returns a line for each part of what the pods ask of nodes, and each taint, that rules out nodes
// of the nearest domain, with what would help.
std::vector<std::string> RuledOutLines(const NearMiss& miss);

// Returns a line for each cause for which nodes take no part, with the first nodes by name.
std::vector<std::string> LeftOutLines(const std::vector<LeftOutNodes>& left_out);

// Returns which domain comes nearest and how near, such as "rack b2/r1: 1 of 2 pods fit; room for
// one on 1 of 1 node".
std::string NearMissText(const NearMiss& miss, const NamesByFlavor& names);

// Returns a line for each resource that is short there, such as "cpu: enough for 1 of 2 pods, 4
// short", the scarcest first; when none is, a line with the other reason that rules the domain out.
std::vector<std::string> BindingLines(const NearMiss& miss);

// Returns a line for each change after which the request fits; empty when there is none.
std::vector<std::string> ChangeLines(const PossibleChanges& changes, const WorkloadRequest& request,
                                     const NamesByFlavor& names);

// Returns the names of the workloads of which removing any one is enough.
std::vector<std::string> NamesOfGone(const PossibleChanges& changes);

}  // namespace espalier
