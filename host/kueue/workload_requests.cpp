#include "host/kueue/workload_requests.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "host/kueue/topology_request.hpp"
#include "host/kueue/workload_status.hpp"

namespace espalier {
namespace {

constexpr std::string_view kElasticJob = "kueue.x-k8s.io/elastic-job";
constexpr std::string_view kSliceReplacementFor = "kueue.x-k8s.io/workload-slice-replacement-for";
constexpr std::string_view kIsGroupWorkload = "kueue.x-k8s.io/is-group-workload";

bool HasAnnotation(const Workload& workload, std::string_view key, std::string_view value) {
  const std::string* found = workload.annotations.Find(key);
  return found != nullptr && *found == value;
}

bool IsElastic(const Workload& workload, const FeatureGates& gates) {
  return gates.elastic_jobs_via_workload_slices &&
         gates.elastic_jobs_via_workload_slices_with_tas &&
         HasAnnotation(workload, kElasticJob, "true");
}

const PodSetAssignment* AdmittedPodSet(const Workload& workload, std::string_view name) {
  if (!workload.admission) return nullptr;
  const auto& assignments = workload.admission->pod_set_assignments;
  const auto it = std::ranges::find(assignments, name, &PodSetAssignment::name);
  return it == assignments.end() ? nullptr : &*it;
}

const TopologyAssignment* AdmittedTopology(const Workload& workload, std::string_view name) {
  const PodSetAssignment* assignment = AdmittedPodSet(workload, name);
  if (assignment == nullptr || !assignment->topology_assignment) return nullptr;
  return &*assignment->topology_assignment;
}

bool HoldsUnhealthyNode(const TopologyAssignment& assignment, const Workload& workload) {
  return std::ranges::any_of(assignment.domains, [&](const TopologyDomainAssignment& domain) {
    return !domain.values.empty() &&
           std::ranges::find(workload.unhealthy_nodes, domain.values.back()) !=
               workload.unhealthy_nodes.end();
  });
}

std::vector<PodSetUpdate> ReadyUpdates(const Workload& workload, std::string_view pod_set) {
  std::vector<PodSetUpdate> updates;
  for (const AdmissionCheckState& check : workload.admission_checks) {
    if (check.state != "Ready") continue;
    std::ranges::copy_if(check.pod_set_updates, std::back_inserter(updates),
                         [&](const PodSetUpdate& update) { return update.name == pod_set; });
  }
  return updates;
}

bool QueueHasTasFlavor(const ClusterQueue& queue, const ClusterLookup& lookup) {
  for (const ResourceGroup& group : queue.resource_groups) {
    for (const FlavorQuota& quota : group.flavors) {
      if (lookup.IsTas(quota.flavor)) return true;
    }
  }
  return false;
}

// R20.3.
tl::expected<std::string, std::string> ChosenTasFlavor(const Workload& workload,
                                                       const PodSet& pod_set,
                                                       const StringMap& flavors,
                                                       const WorkloadRequestContext& context) {
  if (pod_set.topology_request && IsElastic(workload, context.gates)) {
    const bool required = pod_set.topology_request->required.has_value();
    if (required || pod_set.topology_request->preferred) {
      return tl::unexpected(
          fmt::format("{} topology is not supported with ElasticJobsViaWorkloadSlices",
                      required ? "required" : "preferred"));
    }
  }
  if (context.queue != nullptr && !QueueHasTasFlavor(*context.queue, context.lookup)) {
    return tl::unexpected<std::string>(
        "workload requires Topology, but there is no TAS cache information");
  }
  const std::vector<std::string> names = TasFlavors(flavors, context.lookup);
  if (names.empty()) return tl::unexpected<std::string>("no TAS flavor assigned");
  if (names.size() > 1) {
    return tl::unexpected(
        fmt::format("more than one TAS flavor assigned: {}", fmt::join(names, ", ")));
  }
  return names.front();
}

PodSetRequest MakePodSetRequest(const Workload& workload, const PodSet& pod_set, std::string flavor,
                                std::int32_t count, const Workload* replaced) {
  PodSetRequest request;
  request.name = pod_set.name;
  request.flavor = std::move(flavor);
  request.count = count;
  request.requests = pod_set.pod_template.requests;
  request.topology_request = pod_set.topology_request;
  request.implied = !IsExplicitTas(pod_set);
  if (pod_set.topology_request) request.group = pod_set.topology_request->pod_set_group_name;
  if (replaced != nullptr) {
    const TopologyAssignment* previous = AdmittedTopology(*replaced, pod_set.name);
    if (previous != nullptr) request.previous_assignment = *previous;
  }
  request.pod_template = pod_set.pod_template;
  request.updates = ReadyUpdates(workload, pod_set.name);
  return request;
}

}  // namespace

tl::expected<WorkloadRequest, std::string> BuildWorkloadRequest(
    const Workload& workload, const FlavorAssignment& flavors,
    const WorkloadRequestContext& context) {
  const bool implied = context.queue == nullptr || IsTasOnly(*context.queue, context.lookup);
  const Workload* replaced = ReplacedSlice(workload, context);
  WorkloadRequest request;
  request.key = workload.key;
  for (const PodSet& pod_set : workload.pod_sets) {
    const PodSetFlavors* chosen = flavors.Find(pod_set.name);
    if (chosen == nullptr || chosen->count <= 0) continue;
    if (!IsExplicitTas(pod_set) && !implied) continue;
    const TopologyAssignment* existing = AdmittedTopology(workload, pod_set.name);
    if (existing != nullptr && !HoldsUnhealthyNode(*existing, workload)) continue;
    auto flavor = ChosenTasFlavor(workload, pod_set, chosen->flavors, context);
    if (!flavor) {
      return tl::unexpected(
          fmt::format("failed to assign flavors to pod set {}: {}", pod_set.name, flavor.error()));
    }
    request.pod_sets.push_back(
        MakePodSetRequest(workload, pod_set, std::move(*flavor), chosen->count, replaced));
  }
  if (!workload.unhealthy_nodes.empty() && workload.admission) {
    request.replacement =
        ReplacementContext{workload.unhealthy_nodes, workload.admission->pod_set_assignments,
                           OwnedBySinglePod(workload)};
  }
  return request;
}

FlavorAssignment RecordedFlavors(const Workload& workload) {
  FlavorAssignment result;
  for (const PodSet& pod_set : workload.pod_sets) {
    const PodSetAssignment* assignment = AdmittedPodSet(workload, pod_set.name);
    if (assignment == nullptr) continue;
    PodSetFlavors& flavors = result.pod_sets.emplace_back();
    flavors.name = pod_set.name;
    flavors.count = assignment->count.value_or(pod_set.count);
    flavors.flavors = assignment->flavors;
    flavors.requests = assignment->resource_usage;
  }
  return result;
}

bool OwnedBySinglePod(const Workload& workload) {
  return workload.owners.size() == 1 && workload.owners.front().kind == "Pod" &&
         workload.owners.front().api_version == "v1" &&
         !HasAnnotation(workload, kIsGroupWorkload, "true");
}

bool NeedsReplacement(const Workload& workload) {
  if (workload.unhealthy_nodes.empty() || !workload.admission) return false;
  return std::ranges::any_of(workload.admission->pod_set_assignments,
                             [&](const PodSetAssignment& assignment) {
                               return assignment.topology_assignment &&
                                      HoldsUnhealthyNode(*assignment.topology_assignment, workload);
                             });
}

const Workload* ReplacedSlice(const Workload& workload, const WorkloadRequestContext& context) {
  if (!IsElastic(workload, context.gates)) return nullptr;
  const std::string* reference = workload.annotations.Find(kSliceReplacementFor);
  if (reference == nullptr) return nullptr;
  ObjectKey key{workload.key.namespace_, *reference};
  if (const auto slash = reference->find('/'); slash != std::string::npos) {
    key = {reference->substr(0, slash), reference->substr(slash + 1)};
  }
  const Workload* slice = context.lookup.FindWorkload(key);
  return slice != nullptr && HasReservation(*slice) ? slice : nullptr;
}

}  // namespace espalier
