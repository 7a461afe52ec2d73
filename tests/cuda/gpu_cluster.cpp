#include "tests/cuda/gpu_cluster.hpp"

#include <fmt/format.h>

#include "tests/generated/clusters.hpp"

namespace espalier {
namespace {

TopologyRequest RandomTopology(Random& random) {
  TopologyRequest request;
  switch (random.Below(5)) {
    case 0:
      request.required = "rack";
      break;
    case 1:
      request.required = "block";
      break;
    case 2:
      request.preferred = "rack";
      break;
    case 3:
      request.preferred = kHost;
      break;
    default:
      request.unconstrained = true;
  }
  return request;
}

void AddSlices(Random& random, PodSetRequest& pods) {
  const std::int32_t size = random.Chance(50) ? 2 : 4;
  pods.topology_request->slice_topology = random.Chance(50) ? "rack" : kHost;
  if (pods.topology_request->required == "rack" || pods.topology_request->preferred == kHost) {
    pods.topology_request->slice_topology = kHost;
  }
  pods.topology_request->slice_size = size;
  pods.count = (pods.count + size - 1) / size * size;
}

PodSetRequest RandomPods(Random& random, std::string name) {
  PodSetRequest pods;
  pods.name = std::move(name);
  pods.flavor = "gpu";
  constexpr std::int32_t kCounts[] = {1, 2, 3, 4, 8, 16, 40, 100, 5000};
  pods.count = kCounts[random.Below(9)];
  pods.requests.Set("cpu", 1000 * (1 + random.Below(4)));
  pods.requests.Set("memory", std::int64_t{8} << 30);
  pods.requests.Set("nvidia.com/gpu", std::int64_t{1} << random.Below(4));
  pods.topology_request = RandomTopology(random);
  if (random.Chance(20)) AddSlices(random, pods);
  if (random.Chance(15)) pods.pod_template.node_selector.Set("disk", "ssd");
  if (random.Chance(15)) {
    pods.pod_template.affinity.preferred.push_back({10, {{{"disk", "NotIn", {"ssd"}}}, {}}});
  }
  return pods;
}

}  // namespace

ClusterStateInput MakeGpuCluster(int blocks, int racks, int hosts, std::uint64_t seed) {
  return MakeRacks({.flavor = "gpu",
                    .depth = 3,
                    .racks = blocks * racks,
                    .racks_of_block = racks,
                    .hosts = hosts,
                    .has = {{"cpu", 64000},
                            {"memory", std::int64_t{512} << 30},
                            {"nvidia.com/gpu", 8},
                            {"pods", 110}},
                    .labelled_percent = 50,
                    .used_percent = 70,
                    .uses = {{"cpu", 4000}, {"nvidia.com/gpu", {0, 8}}, {"pods", 1}},
                    .digits = 1},
                   seed);
}

std::vector<WorkloadRequest> MakeGangs(int count, std::uint64_t seed) {
  Random random(seed);
  std::vector<WorkloadRequest> gangs;
  for (int i = 0; i < count; ++i) {
    WorkloadRequest& gang = gangs.emplace_back();
    gang.key = {"default", fmt::format("gang-{}", i)};
    gang.simulate_empty = random.Chance(5);
    gang.pod_sets.push_back(RandomPods(random, "workers"));
    if (random.Chance(25)) {
      PodSetRequest other = RandomPods(random, "other");
      if (random.Chance(50)) {  // a leader that is placed together with the workers
        other.count = 1;
        other.topology_request = gang.pod_sets.front().topology_request;
        gang.pod_sets.front().group = other.group = "group";
      }
      gang.pod_sets.push_back(std::move(other));
    }
  }
  return gangs;
}

}  // namespace espalier
