#include "host/kueue/objects/delayed_topology.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "host/kueue/objects/workload_status.hpp"
#include "host/model/by_name.hpp"

namespace espalier {
namespace {

bool IsOf(std::string_view controller, const std::string& check, const ClusterLookup& lookup) {
  const AdmissionCheck* found = lookup.Check(check);
  return found != nullptr && found->controller_name == controller;
}

// A check without flavors is for all of them.
bool IsForFlavor(const ClusterQueue& queue, const std::string& check, const std::string& flavor) {
  const std::vector<std::string>* flavors = queue.admission_check_flavors.Find(check);
  return flavors == nullptr || flavors->empty() ||
         std::ranges::find(*flavors, flavor) != flavors->end();
}

// Returns whether a check is one of an admitted workload: it is for a flavor that the workload has.
bool IsForWorkload(const ClusterQueue& queue, const std::string& check, const Workload& workload) {
  if (queue.admission_check_flavors.Find(check) == nullptr || !workload.admission) return true;
  return std::ranges::any_of(
      workload.admission->pod_set_assignments, [&](const PodSetAssignment& assignment) {
        return std::ranges::any_of(assignment.flavors, [&](const auto& entry) {
          return IsForFlavor(queue, check, entry.second);
        });
      });
}

// Nodes of the flavor come with a ProvisioningRequest.
bool IsProvisioned(const ClusterQueue& queue, const std::string& flavor,
                   const ClusterLookup& lookup) {
  return std::ranges::any_of(queue.admission_checks, [&](const std::string& check) {
    return IsForFlavor(queue, check, flavor) && IsOf(kProvisioningRequest, check, lookup);
  });
}

}  // namespace

std::vector<std::string> TakeDelayed(WorkloadRequest& request, const Workload& workload,
                                     const ClusterQueue& queue, const ClusterLookup& lookup) {
  std::vector<std::string> delayed;
  const bool elsewhere = UsesMultiKueue(queue, lookup);
  const bool reserved = HasCondition(workload, kQuotaReserved);
  std::map<std::string, bool, std::less<>> provisioned;  // by flavor
  const auto is_provisioned = [&](const std::string& flavor) {
    const auto [it, fresh] = provisioned.try_emplace(flavor);
    if (fresh) it->second = IsProvisioned(queue, flavor, lookup);
    return it->second;
  };
  std::erase_if(request.pod_sets, [&](const PodSetRequest& pod_set) {
    const bool waits = elsewhere || (!reserved && is_provisioned(pod_set.flavor));
    if (waits) delayed.push_back(pod_set.name);
    return waits;
  });
  return delayed;
}

bool UsesMultiKueue(const ClusterQueue& queue, const ClusterLookup& lookup) {
  return std::ranges::any_of(queue.admission_checks, [&](const std::string& check) {
    return IsOf(kMultiKueue, check, lookup);
  });
}

bool AllChecksReady(const Workload& workload, const ClusterQueue& queue) {
  if (queue.admission_checks.empty()) return true;
  const auto states = ByName(workload.admission_checks);
  return std::ranges::all_of(queue.admission_checks, [&](const std::string& name) {
    if (!IsForWorkload(queue, name, workload)) return true;
    const AdmissionCheckState* state = FindOrNull(states, name);
    return state != nullptr && state->state == "Ready";
  });
}

bool HasDelayedPodSet(const Workload& workload) {
  return workload.admission &&
         std::ranges::any_of(workload.admission->pod_set_assignments, [](const auto& assignment) {
           return assignment.delayed_topology_request == kDelayPending &&
                  !assignment.topology_assignment;
         });
}

}  // namespace espalier
