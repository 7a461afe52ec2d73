// Small clusters and workloads to place on them.
#pragma once

#include <string>
#include <vector>

#include "host/engine/request.hpp"
#include "host/packing/cluster_state.hpp"
#include "tests/generated/clusters.hpp"

namespace espalier {

// `racks` racks of 4 hosts with 8 cpu each, in blocks of 2 racks, as the one flavor "main".
inline Racks RacksOfMain(std::int64_t racks) {
  return {.flavor = "main",
          .topology = "tree",
          .depth = 3,
          .racks = racks,
          .has = {{"cpu", 8000}, {"pods", 110}},
          .host = "host-",
          .digits = 1};
}

inline ClusterStateInput SmallCluster(int racks = 4) { return MakeRacks(RacksOfMain(racks)); }

// Returns `count` pods of 4 cpu; at most 2 per host of SmallCluster.
inline WorkloadRequest MakeGang(const std::string& name, std::int32_t count,
                                const std::string& required_level = "rack") {
  WorkloadRequest request;
  request.key = {"default", name};
  PodSetRequest& pod_set = request.pod_sets.emplace_back();
  pod_set.name = "main";
  pod_set.flavor = "main";
  pod_set.count = count;
  pod_set.requests = {{"cpu", 4000}};
  pod_set.topology_request.emplace().required = required_level;
  return request;
}

// Returns a cluster with usage, taints and uneven hosts.
inline ClusterStateInput RandomCluster(Random& random) {
  Racks racks = RacksOfMain(random.Between(2, 6));
  racks.has = {{"cpu", {0, 16, 1000}}, {"gpu", {0, 8}, 25}, {"pods", 110}};
  racks.labelled_percent = 12;
  racks.tainted_percent = 12;
  racks.used_percent = 25;
  racks.uses = {{"cpu", 2000}, {"pods", 1}};
  ClusterStateInput input = MakeRacks(racks, random);
  for (Node& node : input.nodes) {
    node.ready = !random.Chance(12);
    if (random.Chance(25)) input.non_tas_usage.push_back({node.name, {{"cpu", 1500}, {"pods", 2}}});
  }
  return input;
}

inline TopologyRequest RandomTopologyRequest(Random& random) {
  constexpr const char* kLevels[] = {"block", "rack", "kubernetes.io/hostname", "no-such-level"};
  TopologyRequest request;
  const char* level = kLevels[random.Below(16) == 0 ? 3 : random.Below(3)];
  switch (random.Below(3)) {
    case 0:
      request.required = level;
      break;
    case 1:
      request.preferred = level;
      break;
    default:
      request.unconstrained = true;
      break;
  }
  if (random.Below(4) == 0) {
    request.slice_topology = "rack";
    request.slice_size = 2;
    request.slice_constraints = {{"rack", 2}};
  }
  return request;
}

inline PodSetRequest RandomPodSet(Random& random, const std::string& name) {
  PodSetRequest pod_set;
  pod_set.name = name;
  pod_set.flavor = "main";
  pod_set.count = static_cast<std::int32_t>(random.Below(9));
  pod_set.requests = {{"cpu", static_cast<Amount>(500 * (1 + random.Below(8)))}};
  if (random.Below(4) == 0) pod_set.requests.Set("gpu", 1);
  if (random.Below(8) == 0) {
    pod_set.implied = true;
  } else {
    pod_set.topology_request = RandomTopologyRequest(random);
  }
  if (random.Below(4) == 0) pod_set.pod_template.tolerations = {{"reserved", "Exists", "", ""}};
  if (random.Below(8) == 0) pod_set.pod_template.node_selector = {{"disk", "ssd"}};
  if (random.Below(8) == 0) {
    pod_set.pod_template.labels = {{"team", "a"}};
    pod_set.updates = {{name, {{"team", random.Below(2) ? "a" : "b"}}, {}, {}, {}}};
  }
  return pod_set;
}

inline std::vector<WorkloadRequest> RandomWorkloads(Random& random, int count) {
  std::vector<WorkloadRequest> requests;
  for (int w = 0; w < count; ++w) {
    WorkloadRequest& request = requests.emplace_back();
    request.key = {"ns-" + std::to_string(w % 3), "workload-" + std::to_string(w)};
    request.pod_sets.push_back(RandomPodSet(random, "workers"));
    if (random.Below(3) == 0) {
      request.pod_sets.push_back(RandomPodSet(random, "leader"));
      if (random.Below(2)) {
        request.pod_sets[1].count = 1;
        for (PodSetRequest& pod_set : request.pod_sets) pod_set.group = "together";
      }
    }
    request.simulate_empty = random.Below(8) == 0;
    if (random.Below(8) == 0) request.assumed_usage = {{"host-0", {{"cpu", 8000}}}};
  }
  return requests;
}

}  // namespace espalier
