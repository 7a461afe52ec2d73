#include "tests/oracle/resizes.hpp"

#include <algorithm>

namespace espalier::oracle {

// --- R21.13 (a), (b) -----------------------------------------------------------------------------

FlavorAmounts DifferenceOf(const Workload& old, const std::vector<std::int64_t>& counts) {
  FlavorAmounts difference;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const PodSet& pod_set = old.pod_sets[i];
    const PodSetAssignment& held = old.admission->pod_set_assignments[i];
    for (const auto& [resource, amount] : pod_set.pod_template.requests) {
      const Amount* before = held.resource_usage.Find(resource);
      const Amount more = amount * counts[i] - (before == nullptr ? 0 : *before);
      if (more > 0) difference[{*held.flavors.Find(resource), resource}] += more;
    }
  }
  return difference;
}

bool IsWithinQuota(const FlavorAmounts& difference, const FlavorAmounts& nominal,
                   const FlavorAmounts& used) {
  for (const auto& [key, more] : difference) {
    const auto most = nominal.find(key);
    const auto taken = used.find(key);
    const Amount limit = most == nominal.end() ? 0 : most->second;
    if (more + (taken == used.end() ? 0 : taken->second) > limit) return false;
  }
  return true;
}

// --- R16.4 ---------------------------------------------------------------------------------------

WorkloadAnswer AnswerSlice(const OracleInput& input, const Workload& old, std::int64_t count,
                           const TopologyAssignment& previous) {
  const PodSet& pod_set = old.pod_sets.front();
  WorkloadRequest request;
  request.key = old.key;
  PodSetRequest& asked = request.pod_sets.emplace_back();
  asked.name = pod_set.name;
  asked.flavor = input.flavor.name;
  asked.count = static_cast<std::int32_t>(count);
  asked.requests = pod_set.pod_template.requests;
  asked.topology_request = pod_set.topology_request;
  asked.previous_assignment = previous;
  asked.pod_template = pod_set.pod_template;
  return Answer(input, request);
}

std::map<std::vector<std::string>, std::int64_t> ByDomain(
    const std::vector<TopologyDomainAssignment>& domains) {
  std::map<std::vector<std::string>, std::int64_t> pods;
  for (const TopologyDomainAssignment& domain : domains) {
    if (domain.count != 0) pods[domain.values] += domain.count;
  }
  return pods;
}

bool Contains(const TopologyAssignment& whole, const TopologyAssignment& part) {
  const auto there = ByDomain(whole.domains);
  const auto wanted = ByDomain(part.domains);
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    const auto found = there.find(entry.first);
    return found != there.end() && found->second >= entry.second;
  });
}

}  // namespace espalier::oracle
