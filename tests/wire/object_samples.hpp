// Objects that use every field the wire carries.
#pragma once

#include "host/kueue/objects/ungater.hpp"
#include "host/model/cluster.hpp"
#include "tests/wire/wire_samples.hpp"

namespace espalier {

inline std::string SampleText(Random& random, const char* prefix) {
  return random.Below(4) ? prefix + std::to_string(random.Below(5)) : "";
}

inline PodSetAssignment SamplePodSetAssignment(Random& random) {
  PodSetAssignment assignment;
  assignment.name = SampleText(random, "set-");
  assignment.flavors = SampleMap(random, "resource");
  assignment.resource_usage = SampleResources(random);
  if (random.Below(2)) assignment.count = static_cast<std::int32_t>(random.Below(9));
  if (random.Below(2)) assignment.topology_assignment = SampleAssignment(random);
  if (random.Below(2)) assignment.delayed_topology_request = "Ready";
  return assignment;
}

inline Workload SampleWorkload(Random& random) {
  Workload workload;
  workload.key = {SampleText(random, "ns-"), SampleText(random, "workload-")};
  workload.uid = SampleText(random, "uid-");
  workload.annotations = SampleMap(random, "a");
  if (random.Below(2)) {
    workload.owners.push_back(
        {"v1", "Pod", SampleText(random, "pod-"), "uid", random.Below(2) == 0});
  }
  workload.creation_seconds = static_cast<std::int64_t>(random.Below(1LL << 32)) - (1LL << 31);
  workload.priority = random.Below(2) ? -1 : std::numeric_limits<std::int64_t>::max();
  workload.queue_name = SampleText(random, "queue-");
  workload.active = random.Below(2);
  for (auto i = 0ul, n = random.Below(3); i < n; ++i) {
    const PodSetRequest request = SamplePodSet(random);
    PodSet& pod_set = workload.pod_sets.emplace_back();
    pod_set.name = request.name + SampleSuffix(i);
    pod_set.count = static_cast<std::int32_t>(request.count);
    if (random.Below(2)) pod_set.min_count = 0;
    pod_set.topology_request = request.topology_request;
    pod_set.pod_template = request.pod_template;
    pod_set.pod_template.requests = request.requests;
    if (random.Below(2)) pod_set.pod_template.devices = {{"gpu", 3}};
    if (random.Below(2)) pod_set.pod_template.device_backed = request.requests;
  }
  if (random.Below(2)) {
    Admission& admission = workload.admission.emplace();
    admission.cluster_queue = SampleText(random, "cq-");
    for (auto i = 0ul, n = random.Below(3); i < n; ++i) {
      admission.pod_set_assignments.push_back(SamplePodSetAssignment(random));
      admission.pod_set_assignments.back().name += SampleSuffix(i);
    }
  }
  if (random.Below(2)) {
    workload.conditions = {{"QuotaReserved", "True", "QuotaReserved", "", 0}, {"", "", "", ""}};
  }
  if (random.Below(2)) workload.unhealthy_nodes = {"node-1", ""};
  if (random.Below(2)) workload.reclaimable_pods = {{"set-0", 3}, {"", 0}};
  if (random.Below(2)) {
    workload.admission_checks = {
        {"check", "Ready", {{"set-0", SampleMap(random, "l"), {}, {}, SampleTolerations(random)}}},
        {}};
  }
  if (random.Below(2))
    workload.requeue_at_seconds = static_cast<std::int64_t>(random.Below(1LL << 32));
  workload.resources_error = SampleText(random, "error-");
  return workload;
}

inline ClusterQueue SampleClusterQueue(Random& random) {
  ClusterQueue queue;
  queue.name = SampleText(random, "cq-");
  queue.cohort = SampleText(random, "cohort-");
  queue.queueing_strategy = SampleText(random, "strategy-");
  queue.stop_policy = SampleText(random, "stop-");
  for (auto i = 0ul, n = random.Below(3); i < n; ++i) {
    ResourceGroup& group = queue.resource_groups.emplace_back();
    group.covered_resources = {"cpu", "memory"};
    FlavorQuota& quota = group.flavors.emplace_back();
    quota.flavor = SampleText(random, "flavor-");
    for (const auto& [resource, amount] : SampleResources(random)) {
      if (amount >= 0) quota.resources.push_back({resource, amount, std::nullopt});
    }
  }
  if (random.Below(2)) {
    queue.admission_checks = {"some", "all"};
    queue.admission_check_flavors = {{"some", {"gpu", ""}}};
  }
  queue.within_cluster_queue = SampleText(random, "within-");
  queue.reclaim_within_cohort = SampleText(random, "reclaim-");
  if (random.Below(2)) {
    queue.namespace_selector = {SampleMap(random, "l"), {{"key", "In", {"a", ""}}, {}}};
  }
  return queue;
}

// Queues, admission checks and workloads, as a cycle is asked about them.
inline Cluster SampleCluster(std::uint32_t seed) {
  Random random(seed);
  Cluster cluster;
  for (auto i = 0ul, n = random.Below(4); i < n; ++i) {
    cluster.cluster_queues.push_back(SampleClusterQueue(random));
    cluster.cluster_queues.back().name += SampleSuffix(i);
    cluster.local_queues.push_back(
        {{SampleText(random, "ns-"), SampleText(random, "queue-") + SampleSuffix(i)},
         SampleText(random, "cq-"),
         SampleText(random, "stop-")});
    AdmissionCheck& check = cluster.admission_checks.emplace_back();
    check.name = SampleText(random, "check-") + SampleSuffix(i);
    check.controller_name = SampleText(random, "controller-");
    if (random.Below(2)) check.active = random.Below(2) != 0;
    cluster.namespaces.push_back(
        {SampleText(random, "ns-") + SampleSuffix(i), SampleMap(random, "l")});
  }
  for (auto i = 0ul, n = random.Below(9); i < n; ++i) {
    cluster.workloads.push_back(SampleWorkload(random));
    cluster.workloads.back().key.name += SampleSuffix(i);
  }
  return cluster;
}

inline std::vector<Pod> SamplePods(Random& random) {
  std::vector<Pod> pods;
  for (auto i = 0ul, n = random.Below(9); i < n; ++i) {
    Pod& pod = pods.emplace_back();
    pod.key = {SampleText(random, "ns-"), "pod-" + std::to_string(i)};
    pod.labels = SampleMap(random, "l");
    pod.annotations = SampleMap(random, "a");
    pod.node_selector = SampleMap(random, "s");
    pod.phase = SampleText(random, "phase-");
    if (random.Below(2)) pod.scheduling_gates = {std::string(kTopologyGate)};
  }
  return pods;
}

}  // namespace espalier
