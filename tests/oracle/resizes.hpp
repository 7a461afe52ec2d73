// R21.13: what a slice that replaces another gets, from the rules alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/model/workload.hpp"
#include "tests/oracle/oracle.hpp"

namespace espalier::oracle {

// Amounts by flavor and resource.
using FlavorAmounts = std::map<std::pair<std::string, std::string>, Amount>;

// Returns what a slice with these counts, in spec order, asks for beyond what the old one holds, by
// the flavors of the old one: never less than nothing of a pod set (R21.13 a, b).
FlavorAmounts DifferenceOf(const Workload& old, const std::vector<std::int64_t>& counts);

// Says whether the quota that `used` leaves of `nominal` is enough for the difference (R21.13 b).
bool IsWithinQuota(const FlavorAmounts& difference, const FlavorAmounts& nominal,
                   const FlavorAmounts& used);

// Answers a slice whose only pod set is on `input.flavor` and whose old pods are at `previous`
// (R16.4).
WorkloadAnswer AnswerSlice(const OracleInput& input, const Workload& old, std::int64_t count,
                           const TopologyAssignment& previous);

// Says whether `whole` has on each domain at least the pods that `part` has there.
bool Contains(const TopologyAssignment& whole, const TopologyAssignment& part);

// Adds equal domains up, by their values; leaves out those without pods.
std::map<std::vector<std::string>, std::int64_t> ByDomain(
    const std::vector<TopologyDomainAssignment>& domains);

}  // namespace espalier::oracle
