#include "tests/cuda/gpu_cluster.hpp"

#include <fmt/format.h>

#include "tests/generated/random.hpp"

namespace espalier {
namespace {

TopologyRequest RandomTopology(Random& random) {
  TopologyRequest request;
  switch (random.Below(5)) {
    case 0:
      request.required = kRackLevel;
      break;
    case 1:
      request.required = kBlockLevel;
      break;
    case 2:
      request.preferred = kRackLevel;
      break;
    case 3:
      request.preferred = std::string(kHostnameLabel);
      break;
    default:
      request.unconstrained = true;
  }
  return request;
}

void AddSlices(Random& random, PodSetRequest& pods) {
  const std::int32_t size = random.Chance(50) ? 2 : 4;
  pods.topology_request->slice_topology =
      random.Chance(50) ? std::string(kRackLevel) : std::string(kHostnameLabel);
  if (pods.topology_request->required == kRackLevel ||
      pods.topology_request->preferred == std::string(kHostnameLabel)) {
    pods.topology_request->slice_topology = std::string(kHostnameLabel);
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
  if (random.Chance(15)) pods.pod_template.node_selector.Set("example.com/zone", "a");
  if (random.Chance(15)) {
    pods.pod_template.affinity.preferred.push_back({10, {{{"example.com/zone", "In", {"b"}}}, {}}});
  }
  return pods;
}

}  // namespace

ClusterStateInput MakeGpuCluster(int blocks, int racks, int hosts, std::uint64_t seed) {
  Random random(seed);
  ClusterStateInput cluster;
  cluster.topologies = {{"gpu", {kBlockLevel, kRackLevel, std::string(kHostnameLabel)}}};
  ResourceFlavor flavor;
  flavor.name = "gpu";
  flavor.topology_name = "gpu";
  cluster.flavors = {flavor};
  for (int i = 0; i < blocks * racks * hosts; ++i) {
    Node node;
    node.name = fmt::format("n{}", i);
    node.labels.Set(kBlockLevel, fmt::format("b{}", i / (racks * hosts)));
    node.labels.Set(kRackLevel, fmt::format("r{}", i / hosts));
    node.labels.Set(std::string(kHostnameLabel), node.name);
    node.labels.Set("example.com/zone", random.Chance(50) ? "a" : "b");
    node.ready = true;
    node.allocatable.Set("cpu", 64000);
    node.allocatable.Set("memory", std::int64_t{512} << 30);
    node.allocatable.Set("nvidia.com/gpu", 8);
    node.allocatable.Set("pods", 110);
    if (random.Chance(70)) {
      Resources used;
      used.Set("cpu", 4000);
      used.Set("nvidia.com/gpu", random.Below(9));
      used.Set("pods", 1);
      cluster.tas_usage.push_back({"gpu", node.name, used});
    }
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
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
