#include "tests/oracle/elastic_workloads.hpp"

#include <algorithm>

#include "host/kueue/objects/workload_status.hpp"

namespace espalier::oracle {

PodSetCounts CountsOf(const Workload& workload) {
  PodSetCounts counts;
  for (const PodSet& pod_set : workload.pod_sets) counts.push_back(pod_set.count);
  return counts;
}

std::int64_t Sum(const PodSetCounts& counts) {
  std::int64_t sum = 0;
  for (const std::int64_t count : counts) sum += count;
  return sum;
}

PodSetCounts Wanted(const Workload& workload, const ResizeRequest& request) {
  PodSetCounts counts = CountsOf(workload);
  for (const auto& [name, count] : request.counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (workload.pod_sets[i].name == name) counts[i] = count;
    }
  }
  return counts;
}

PodSetCounts CountsOf(const ResizePlan& plan) {
  PodSetCounts counts;
  for (const auto& [name, count] : plan.counts) counts.push_back(count);
  return counts;
}

const TopologyAssignment& PlacesOf(const Workload& workload, std::size_t pod_set) {
  static const TopologyAssignment kNone;
  const auto& places = workload.admission->pod_set_assignments[pod_set].topology_assignment;
  return places ? *places : kNone;
}

std::int64_t PodsIn(const TopologyAssignment& assignment) {
  std::int64_t pods = 0;
  for (const TopologyDomainAssignment& domain : assignment.domains) pods += domain.count;
  return pods;
}

bool IsOnNode(const Workload& workload, const std::string& node) {
  if (!HasReservation(workload)) return false;
  for (std::size_t i = 0; i < workload.admission->pod_set_assignments.size(); ++i) {
    if (ByDomain(PlacesOf(workload, i).domains).contains({node})) return true;
  }
  return false;
}

std::map<std::string, Resources> LeafUsageOf(const std::vector<Workload>& workloads,
                                             const ObjectKey& but) {
  std::map<std::string, Resources> usage;
  for (const Workload& workload : workloads) {
    if (!HasReservation(workload) || workload.key == but) continue;
    for (std::size_t i = 0; i < workload.pod_sets.size(); ++i) {
      Resources pod = workload.pod_sets[i].pod_template.requests;
      pod.Set(kPodsResource, 1);
      for (const auto& [values, pods] : ByDomain(PlacesOf(workload, i).domains)) {
        AddTo(usage[values.back()], Times(pod, pods));
      }
    }
  }
  return usage;
}

FlavorAmounts QuotaUsed(const std::vector<Workload>& workloads) {
  FlavorAmounts used;
  for (const Workload& workload : workloads) {
    if (!HasReservation(workload)) continue;
    for (const PodSetAssignment& held : workload.admission->pod_set_assignments) {
      for (const auto& [resource, amount] : held.resource_usage) {
        if (const std::string* flavor = held.flavors.Find(resource)) {
          used[{*flavor, resource}] += amount;
        }
      }
    }
  }
  return used;
}

void Withdraw(Workload& workload) {
  workload.admission.reset();
  workload.conditions.clear();
  workload.unhealthy_nodes.clear();
}

bool IsReplicaOf(const Workload& workload, const std::string& job) {
  return std::ranges::any_of(workload.owners, [&](const OwnerReference& owner) {
    return owner.kind == "Workload" && (owner.name == job || owner.name.starts_with(job + "-"));
  });
}

bool IsReplica(const Workload& workload) {
  return std::ranges::any_of(workload.owners,
                             [](const OwnerReference& owner) { return owner.kind == "Workload"; });
}

}  // namespace espalier::oracle
