#include "bench/scenarios/queues.hpp"

#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

constexpr const char* kNamespace = "bench";
constexpr std::int64_t kFirstSecond = 1767225600;  // 2026-01-01T00:00:00Z
constexpr Amount kPlenty = Amount{1} << 58;

ClusterQueue MakeClusterQueue(int number, const LoadedScenario& loaded) {
  ClusterQueue queue;
  queue.name = fmt::format("cluster-queue-{}", number);
  queue.queueing_strategy = "BestEffortFIFO";
  queue.namespace_selector.emplace();  // every namespace
  ResourceGroup& group = queue.resource_groups.emplace_back();
  FlavorQuota& quota = group.flavors.emplace_back();
  quota.flavor = loaded.flavor_name;
  for (const std::string& resource : loaded.flavor().snapshot().resources()) {
    if (resource == kPodsResource) continue;
    group.covered_resources.push_back(resource);
    quota.resources.push_back({resource, kPlenty, std::nullopt});
  }
  return queue;
}

PodSet ToPodSet(const PodSetRequest& request, std::int32_t count) {
  PodSet pod_set;
  pod_set.name = request.name;
  pod_set.count = count;
  pod_set.topology_request = request.topology_request;
  pod_set.pod_template = request.pod_template;
  pod_set.pod_template.requests = request.requests;
  if (request.group && pod_set.topology_request) {
    pod_set.topology_request->pod_set_group_name = request.group;
  }
  return pod_set;
}

// Gangs of one-slot pods that run on one node alone become one.
std::vector<RunningGang> WithSinglesMerged(const std::vector<RunningGang>& gangs) {
  std::vector<RunningGang> merged;
  std::map<std::int32_t, std::int64_t> singles;  // node -> pods
  for (const RunningGang& gang : gangs) {
    if (gang.slots == 1 && gang.pods.size() == 1) {
      singles[gang.pods.front().first] += gang.pods.front().second;
    } else {
      merged.push_back(gang);
    }
  }
  for (const auto& [node, pods] : singles) merged.push_back({1, {{node, pods}}});
  return merged;
}

Workload RunningWorkload(const LoadedScenario& loaded, const RunningGang& gang) {
  Workload workload;
  PodSet& pod_set = workload.pod_sets.emplace_back();
  pod_set.name = "main";
  pod_set.pod_template.requests = SlotRequests(loaded.cluster, gang.slots);
  pod_set.topology_request.emplace().unconstrained = true;
  PodSetAssignment assignment;
  assignment.name = "main";
  TopologyAssignment& topology = assignment.topology_assignment.Mutable();
  topology.levels.emplace_back(kHostnameLabel);
  for (const auto& [node, pods] : gang.pods) {
    pod_set.count += static_cast<std::int32_t>(pods);
    topology.domains.push_back({{loaded.cluster.nodes.names[static_cast<std::size_t>(node)]},
                                static_cast<std::int32_t>(pods)});
  }
  for (const auto& [resource, amount] : pod_set.pod_template.requests) {
    assignment.flavors.Set(resource, loaded.flavor_name);
  }
  assignment.resource_usage = Times(pod_set.pod_template.requests, pod_set.count);
  assignment.count = pod_set.count;
  workload.admission.emplace().pod_set_assignments.push_back(std::move(assignment));
  for (const char* type : {"QuotaReserved", "Admitted"}) {
    workload.conditions.push_back({type, "True", type, ""});
  }
  return workload;
}

Pod RunningPod(const LoadedScenario& loaded, std::size_t number) {
  const OtherPod& other = loaded.prefill.other_pods[number];
  Pod pod;
  pod.key = {kNamespace, fmt::format("{}-{:06}", other.of_daemon_set ? "agent" : "cpu", number)};
  pod.uid = fmt::format("uid-{}", pod.key.name);
  OwnerReference& owner = pod.owners.emplace_back();
  owner.api_version = "apps/v1";
  owner.kind = other.of_daemon_set ? "DaemonSet" : "ReplicaSet";
  owner.name = other.of_daemon_set ? "agent" : "cpu";
  owner.uid = fmt::format("uid-{}", owner.name);
  owner.controller = true;
  pod.node_name = loaded.cluster.nodes.names[static_cast<std::size_t>(other.node)];
  pod.phase = "Running";
  pod.requests = RequestsOf(other);
  return pod;
}

}  // namespace

void AddNodesAndRunning(const LoadedScenario& loaded, Cluster& cluster) {
  cluster.nodes = loaded.cluster.Nodes();
  std::size_t number = 0;
  for (const RunningGang& gang : WithSinglesMerged(loaded.prefill.gangs)) {
    Workload& workload = cluster.workloads.emplace_back(RunningWorkload(loaded, gang));
    workload.key = {kNamespace, fmt::format("running-{:06}", number)};
    workload.uid = fmt::format("uid-running-{:06}", number++);
    workload.creation_seconds = kFirstSecond;
    workload.queue_name = cluster.local_queues.front().key.name;
    workload.admission->cluster_queue = cluster.cluster_queues.front().name;
  }
  for (std::size_t i = 0; i < loaded.prefill.other_pods.size(); ++i) {
    cluster.pods.push_back(RunningPod(loaded, i));
  }
}

Cluster EmptyQueuesOf(const LoadedScenario& loaded, int queues) {
  Cluster cluster;
  ClusterStateInput input = loaded.cluster.Input();
  cluster.topologies = std::move(input.topologies);
  cluster.flavors = std::move(input.flavors);
  for (int i = 0; i < queues; ++i) {
    cluster.cluster_queues.push_back(MakeClusterQueue(i, loaded));
    LocalQueue& local = cluster.local_queues.emplace_back();
    local.key = {kNamespace, fmt::format("queue-{}", i)};
    local.cluster_queue = cluster.cluster_queues.back().name;
  }
  return cluster;
}

Workload PendingWorkload(const LoadedScenario& loaded, std::size_t number, int queues) {
  const GangRow& gang = loaded.mix.gangs[number];
  const GangShape& shape = loaded.mix.shapes[static_cast<std::size_t>(gang.shape)];
  Workload workload;
  workload.key = {kNamespace, fmt::format("gang-{:06}", number)};
  workload.uid = fmt::format("uid-{:06}", number);
  workload.creation_seconds = kFirstSecond + static_cast<std::int64_t>(number);
  workload.queue_name = fmt::format("queue-{}", number % static_cast<std::size_t>(queues));
  workload.pod_sets.push_back(ToPodSet(shape.workers, gang.pods));
  if (shape.leader) workload.pod_sets.push_back(ToPodSet(*shape.leader, 1));
  return workload;
}

Cluster QueuesOf(const LoadedScenario& loaded, int queues) {
  Cluster cluster = EmptyQueuesOf(loaded, queues);
  for (std::size_t i = 0; i < loaded.mix.gangs.size(); ++i) {
    cluster.workloads.push_back(PendingWorkload(loaded, i, queues));
  }
  return cluster;
}

}  // namespace espalier
