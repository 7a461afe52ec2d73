#include "service/cli/reports/reported_gangs.hpp"

#include <functional>
#include <utility>

#include "host/kueue/cycle/flavor_choice.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/by_name.hpp"

namespace espalier {
namespace {

ReportedGang GangOf(const Workload& workload) {
  ReportedGang gang;
  gang.name = workload.key.ToString();
  gang.priority = workload.priority;
  return gang;
}

ReportedPodSet PodSetOf(const PodSetRequest& pod_set, const NamesByFlavor& names) {
  return {.name = pod_set.name,
          .flavor = pod_set.flavor,
          .requested = RequestText(pod_set.topology_request, names.Of(pod_set.flavor)),
          .pods = pod_set.count,
          .requests = pod_set.requests,
          .assignment = {}};
}

ReportedGang AdmittedGang(const Workload& workload, const ClusterLookup& lookup,
                          const NamesByFlavor& names) {
  ReportedGang gang = GangOf(workload);
  gang.state = ReportedGang::State::kRunning;
  gang.status = HasCondition(workload, kAdmitted) ? "running" : "quota reserved";
  gang.cluster_queue = workload.admission->cluster_queue;
  const auto pod_sets = ByName(workload.pod_sets);
  for (const PodSetAssignment& assignment : workload.admission->pod_set_assignments) {
    const PodSet* pod_set = FindOrNull(pod_sets, assignment.name);
    if (pod_set == nullptr) continue;
    const std::vector<std::string> flavors = TasFlavors(assignment.flavors, lookup);
    const std::string flavor = flavors.empty() ? std::string() : flavors.front();
    gang.pod_sets.push_back(
        {.name = pod_set->name,
         .flavor = flavor,
         .requested = flavors.empty() ? "a flavor without a topology"
                                      : RequestText(pod_set->topology_request, names.Of(flavor)),
         .pods = assignment.count.value_or(pod_set->count),
         .requests = pod_set->pod_template.requests,
         .assignment = assignment.topology_assignment});
  }
  return gang;
}

// Returns a request without what tells alike gangs apart and no placement depends on.
WorkloadRequest WithoutNames(WorkloadRequest request) {
  request.key = {};
  for (PodSetRequest& pod_set : request.pod_sets) {
    if (!pod_set.updates.empty()) continue;  // which may contradict these (R6.10)
    pod_set.pod_template.labels = {};
    pod_set.pod_template.annotations = {};
  }
  return request;
}

}  // namespace

std::vector<ReportedGang> RunningGangs(const Cluster& cluster) {
  const ClusterLookup lookup(cluster);
  const NamesByFlavor names(cluster.flavors, cluster.topologies, {});
  std::vector<ReportedGang> gangs;
  for (const Workload& workload : cluster.workloads) {
    if (HasReservation(workload)) gangs.push_back(AdmittedGang(workload, lookup, names));
  }
  return gangs;
}

ReportedGang WaitingGang(const Workload& workload, const std::string& cluster_queue,
                         const WorkloadRequest* request, const NamesByFlavor& names) {
  ReportedGang gang = GangOf(workload);
  gang.status = "waits";
  gang.cluster_queue = cluster_queue;
  if (request != nullptr) {
    for (const PodSetRequest& pod_set : request->pod_sets) {
      gang.pod_sets.push_back(PodSetOf(pod_set, names));
    }
    return gang;
  }
  for (const PodSet& pod_set : workload.pod_sets) {
    gang.pod_sets.push_back({.name = pod_set.name,
                             .flavor = {},
                             .requested = RequestText(pod_set.topology_request, names.OfFirst()),
                             .pods = pod_set.count,
                             .requests = pod_set.pod_template.requests,
                             .assignment = {}});
  }
  return gang;
}

std::vector<ReportedPodSet> PlacedPodSets(const WorkloadRequest& request,
                                          const WorkloadAnswer& answer,
                                          const NamesByFlavor& names) {
  std::vector<ReportedPodSet> pod_sets;
  const auto answers = ByName(answer.pod_sets);
  for (const PodSetRequest& asked : request.pod_sets) {
    ReportedPodSet& pod_set = pod_sets.emplace_back(PodSetOf(asked, names));
    const PodSetAnswer* placed = FindOrNull(answers, asked.name);
    if (placed != nullptr) pod_set.assignment = placed->assignment;
  }
  return pod_sets;
}

std::size_t NearMissReader::Hash::operator()(const WorkloadRequest& request) const {
  std::size_t hash = request.pod_sets.size();
  for (const PodSetRequest& pod_set : request.pod_sets) {
    hash = hash * 31 + std::hash<std::string>()(pod_set.flavor);
    hash = hash * 31 + static_cast<std::size_t>(pod_set.count);
    for (const auto& [resource, amount] : pod_set.requests) {
      hash = hash * 31 + static_cast<std::size_t>(amount);
    }
  }
  return hash;
}

void NearMissReader::Read(const WorkloadRequest& request, ReportedGang& gang) {
  const auto [known, fresh] = known_.try_emplace(WithoutNames(request));
  if (fresh) known->second = FindNearMiss(state_, request, engine_);
  gang.nearest = known->second;
  gang.nearest_when = "on what is left";
  progress_.Update(++read_);
}

}  // namespace espalier
