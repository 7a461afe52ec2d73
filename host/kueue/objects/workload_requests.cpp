#include "host/kueue/objects/workload_requests.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/topology_request.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/by_name.hpp"
#include "host/nested/gang_tree.hpp"

namespace espalier {
namespace {

constexpr std::string_view kIsGroupWorkload = "kueue.x-k8s.io/is-group-workload";

bool HasAnnotation(const Workload& workload, std::string_view key, std::string_view value) {
  const std::string* found = workload.annotations.Find(key);
  return found != nullptr && *found == value;
}

// Returns whether sections 15 to 17 treat the workload as elastic (R16.1).
bool IsElasticWithTas(const Workload& workload, const FeatureGates& gates) {
  return gates.elastic_jobs_via_workload_slices &&
         gates.elastic_jobs_via_workload_slices_with_tas && IsElasticJob(workload);
}

using AdmittedPodSets = std::unordered_map<std::string_view, const PodSetAssignment*>;

AdmittedPodSets Admitted(const Workload& workload) {
  return workload.admission ? ByName(workload.admission->pod_set_assignments) : AdmittedPodSets();
}

SharedValue<TopologyAssignment> TopologyOf(const AdmittedPodSets& admitted, std::string_view name) {
  const PodSetAssignment* assignment = FindOrNull(admitted, name);
  return assignment == nullptr ? std::nullopt : assignment->topology_assignment;
}

// The nodes of a workload that are unhealthy.
class UnhealthyNodes {
 public:
  explicit UnhealthyNodes(const Workload& workload)
      : names_(workload.unhealthy_nodes.begin(), workload.unhealthy_nodes.end()) {}

  bool AnyIn(const TopologyAssignment& assignment) const {
    return !names_.empty() &&
           std::ranges::any_of(assignment.domains, [&](const TopologyDomainAssignment& domain) {
             return !domain.values.empty() && names_.contains(domain.values.back());
           });
  }

 private:
  std::unordered_set<std::string_view> names_;
};

// Updates by pod set, in the order of the checks.
using Updates = std::unordered_map<std::string_view, std::vector<const PodSetUpdate*>>;
Updates ReadyUpdates(const Workload& workload) {
  Updates updates;
  for (const AdmissionCheckState& check : workload.admission_checks) {
    if (check.state != "Ready") continue;
    for (const PodSetUpdate& update : check.pod_set_updates) {
      updates[update.name].push_back(&update);
    }
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
                                                       const StringMap& flavors, bool tas_queue,
                                                       const WorkloadRequestContext& context) {
  if (pod_set.topology_request && IsElasticWithTas(workload, context.gates)) {
    const bool required = pod_set.topology_request->required.has_value();
    if (required || pod_set.topology_request->preferred) {
      return tl::unexpected(
          fmt::format("{} topology is not supported with ElasticJobsViaWorkloadSlices",
                      required ? "required" : "preferred"));
    }
  }
  if (!tas_queue) {
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

// Makes the request one for the tree of its workload.
tl::expected<void, std::string> AddTree(const GangWorkload& gangs,
                                        const WorkloadRequestContext& context,
                                        WorkloadRequest& request) {
  if (request.pod_sets.empty()) return {};
  const Topology* topology = context.lookup.TopologyOf(request.pod_sets.front().flavor);
  auto tree = TreeOf(gangs, request,
                     topology == nullptr ? std::span<const std::string>() : topology->levels);
  if (!tree) return tl::unexpected(std::move(tree.error().message));
  tree->profile = context.rules.trees;
  request.tree = *std::move(tree);
  return {};
}

PodSetRequest MakePodSetRequest(const PodSet& pod_set, std::string flavor, std::int32_t count,
                                const AdmittedPodSets& replaced, const Updates& updates) {
  PodSetRequest request;
  request.name = pod_set.name;
  request.flavor = std::move(flavor);
  request.count = count;
  request.requests = pod_set.pod_template.requests;
  request.topology_request = pod_set.topology_request;
  request.implied = !IsExplicitTas(pod_set);
  if (pod_set.topology_request) request.group = pod_set.topology_request->pod_set_group_name;
  request.previous_assignment = TopologyOf(replaced, pod_set.name);
  request.pod_template = pod_set.pod_template;
  if (const auto ready = updates.find(pod_set.name); ready != updates.end()) {
    for (const PodSetUpdate* update : ready->second) request.updates.push_back(*update);
  }
  return request;
}

}  // namespace

tl::expected<WorkloadRequest, std::string> BuildWorkloadRequest(
    const Workload& workload, const FlavorAssignment& flavors,
    const WorkloadRequestContext& context) {
  const bool implied = context.queue == nullptr || IsTasOnly(*context.queue, context.lookup);
  const bool tas_queue =
      context.queue == nullptr || QueueHasTasFlavor(*context.queue, context.lookup);
  const Workload* slice =
      IsElasticWithTas(workload, context.gates)
          ? ReplacedSlice(workload, context.lookup, context.queue, context.gates)
          : nullptr;  // R20.8
  const AdmittedPodSets replaced = slice == nullptr ? AdmittedPodSets() : Admitted(*slice);
  const AdmittedPodSets admitted = Admitted(workload);
  const UnhealthyNodes unhealthy(workload);
  const Updates updates = ReadyUpdates(workload);
  const auto chosen_by_name = ByName(flavors.pod_sets);
  WorkloadRequest request;
  request.key = workload.key;
  request.previous_pods_first = context.rules.previous_pods_first;
  for (const PodSet& pod_set : workload.pod_sets) {
    if (context.budget.stopped()) break;
    const PodSetFlavors* chosen = FindOrNull(chosen_by_name, pod_set.name);
    if (chosen == nullptr || chosen->count <= 0) continue;
    if (!IsExplicitTas(pod_set) && !implied) continue;
    const SharedValue<TopologyAssignment> existing = TopologyOf(admitted, pod_set.name);
    if (existing && !unhealthy.AnyIn(*existing)) continue;
    auto flavor = ChosenTasFlavor(workload, pod_set, chosen->flavors, tas_queue, context);
    if (!flavor) {
      return tl::unexpected(
          fmt::format("failed to assign flavors to pod set {}: {}", pod_set.name, flavor.error()));
    }
    request.pod_sets.push_back(
        MakePodSetRequest(pod_set, std::move(*flavor), chosen->count, replaced, updates));
  }
  if (!workload.unhealthy_nodes.empty() && workload.admission) {
    request.replacement =
        ReplacementContext{workload.unhealthy_nodes, workload.admission->pod_set_assignments,
                           OwnedBySinglePod(workload), context.rules.joint_replacement};
  }
  if (workload.tree) {
    if (auto added = AddTree(*workload.tree, context, request); !added) {
      return tl::unexpected(std::move(added.error()));
    }
  }
  return request;
}

FlavorAssignment RecordedFlavors(const Workload& workload) {
  FlavorAssignment result;
  const AdmittedPodSets admitted = Admitted(workload);
  for (const PodSet& pod_set : workload.pod_sets) {
    const PodSetAssignment* assignment = FindOrNull(admitted, pod_set.name);
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
  const UnhealthyNodes unhealthy(workload);
  return std::ranges::any_of(
      workload.admission->pod_set_assignments, [&](const PodSetAssignment& assignment) {
        return assignment.topology_assignment && unhealthy.AnyIn(*assignment.topology_assignment);
      });
}

}  // namespace espalier
