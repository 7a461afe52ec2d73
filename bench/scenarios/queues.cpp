#include "bench/scenarios/queues.hpp"

#include <utility>

#include <fmt/format.h>

#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

constexpr const char* kNamespace = "bench";
constexpr std::int64_t kFirstSecond = 1767225600;  // 2026-01-01T00:00:00Z
constexpr Amount kPlenty = Amount{1} << 60;

ClusterQueue MakeClusterQueue(int number, const LoadedScenario& loaded) {
  ClusterQueue queue;
  queue.name = fmt::format("cluster-queue-{}", number);
  queue.queueing_strategy = "BestEffortFIFO";
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

}  // namespace

Cluster QueuesOf(const LoadedScenario& loaded, int queues) {
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
  for (std::size_t i = 0; i < loaded.mix.gangs.size(); ++i) {
    const Gang& gang = loaded.mix.gangs[i];
    const GangShape& shape = loaded.mix.shapes[static_cast<std::size_t>(gang.shape)];
    Workload& workload = cluster.workloads.emplace_back();
    workload.key = {kNamespace, fmt::format("gang-{:06}", i)};
    workload.uid = fmt::format("uid-{:06}", i);
    workload.creation_seconds = kFirstSecond + static_cast<std::int64_t>(i);
    workload.queue_name = fmt::format("queue-{}", i % static_cast<std::size_t>(queues));
    workload.pod_sets.push_back(ToPodSet(shape.workers, gang.pods));
    if (shape.leader) workload.pod_sets.push_back(ToPodSet(*shape.leader, 1));
  }
  return cluster;
}

}  // namespace espalier
