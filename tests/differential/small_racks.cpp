#include "tests/differential/small_racks.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include "tests/generated/clusters.hpp"

namespace espalier::differential {
namespace {

constexpr const char* kDevices = "example.com/devices";
constexpr const char* kRack = "rack";

bool NoWorse(const SmallRacks::Cost& a, const SmallRacks::Cost& b) {
  return std::get<0>(a) <= std::get<0>(b) && std::get<1>(a) <= std::get<1>(b) &&
         std::get<2>(a) <= std::get<2>(b);
}

// Keeps those of the costs of which no other is as good.
void Keep(std::vector<SmallRacks::Cost>& costs, const SmallRacks::Cost& cost) {
  for (const SmallRacks::Cost& other : costs) {
    if (NoWorse(other, cost)) return;
  }
  std::erase_if(costs, [&](const SmallRacks::Cost& other) { return NoWorse(cost, other); });
  costs.push_back(cost);
}

Resources ToResources(const SmallAmounts& amounts) {
  return {{"cpu", amounts.cpu}, {kDevices, amounts.devices}};
}

}  // namespace

std::vector<SmallAmounts> SmallRacks::Free(std::uint32_t gone) const {
  std::vector<SmallAmounts> free;
  for (const SmallHost& host : hosts) free.push_back(host.has);
  for (std::size_t w = 0; w < running.size(); ++w) {
    if ((gone >> w & 1) != 0) continue;
    for (std::size_t h = 0; h < hosts.size(); ++h) {
      free[h].devices -= running[w].uses[h].devices;
      free[h].cpu -= running[w].uses[h].cpu;
    }
  }
  return free;
}

std::int64_t SmallRacks::RoomOn(const SmallAmounts& free) const {
  const std::int64_t pods = std::min(free.devices / gang.each.devices, free.cpu / gang.each.cpu);
  return pods / gang.slice * gang.slice;
}

std::map<std::string, std::vector<std::size_t>> SmallRacks::Domains(SmallLevel level) const {
  std::map<std::string, std::vector<std::size_t>> domains;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    if (!hosts[h].takes_part()) continue;
    const std::string name = level == SmallLevel::kHost   ? hosts[h].name
                             : level == SmallLevel::kRack ? hosts[h].rack
                                                          : std::string();
    domains[name].push_back(h);
  }
  return domains;
}

bool SmallRacks::Fits(const std::vector<SmallAmounts>& free, SmallLevel level,
                      std::int64_t pods) const {
  for (const auto& [name, in_it] : Domains(level)) {
    std::int64_t room = 0;
    for (const std::size_t h : in_it) room += RoomOn(free[h]);
    if (room >= pods) return true;
  }
  return false;
}

std::map<std::string, std::vector<SmallRacks::Cost>> SmallRacks::CheapestVictims() const {
  std::map<std::string, std::vector<Cost>> cheapest;
  const auto domains = Domains(gang.level);
  const std::size_t subsets = std::size_t{1} << running.size();
  std::vector<std::vector<SmallAmounts>> free(subsets);
  std::vector<Cost> costs(subsets);
  free[0] = Free(0);
  costs[0] = {std::numeric_limits<std::int64_t>::min(), 0, 0};
  for (std::size_t gone = 0; gone < subsets; ++gone) {
    if (gone > 0) {
      const std::size_t one = static_cast<std::size_t>(std::countr_zero(gone));
      const SmallWorkload& workload = running[one];
      free[gone] = free[gone & (gone - 1)];
      costs[gone] = costs[gone & (gone - 1)];
      auto& [priority, number, devices] = costs[gone];
      priority = std::max(priority, workload.priority);
      ++number;
      for (std::size_t h = 0; h < hosts.size(); ++h) {
        free[gone][h].devices += workload.uses[h].devices;
        free[gone][h].cpu += workload.uses[h].cpu;
        devices += workload.uses[h].devices;
      }
    }
    for (const auto& [name, in_it] : domains) {
      std::int64_t room = 0;
      for (const std::size_t h : in_it) room += RoomOn(free[gone][h]);
      if (room >= gang.pods) Keep(cheapest[name], costs[gone]);
    }
  }
  for (auto& [name, kept] : cheapest) std::ranges::sort(kept);
  return cheapest;
}

Cluster SmallRacks::ToCluster() const {
  Cluster cluster;
  cluster.topologies = {{"default", {kRack, std::string(kHostnameLabel)}}};
  cluster.flavors.resize(1);
  cluster.flavors[0].name = "tas";
  cluster.flavors[0].topology_name = "default";
  for (const SmallHost& host : hosts) {
    Resources has = ToResources(host.has);
    has.Set(kPodsResource, 110);
    Node& node = cluster.nodes.emplace_back(HostNode(host.rack + "/" + host.name, std::move(has)));
    node.ready = host.ready;
    node.unschedulable = host.cordoned;
  }
  for (const SmallWorkload& small : running) {
    Workload& workload = cluster.workloads.emplace_back();
    workload.key = {"team", small.name};
    workload.priority = small.priority;
    workload.conditions = {{.type = "QuotaReserved", .status = "True"}};
    Admission& admission = workload.admission.emplace();
    admission.cluster_queue = "queue";
    for (std::size_t h = 0; h < hosts.size(); ++h) {  // a pod set for its pod on each host
      if (small.uses[h].devices == 0 && small.uses[h].cpu == 0) continue;
      PodSet& pod_set = workload.pod_sets.emplace_back();
      pod_set.name = fmt::format("p{}", h);
      pod_set.count = 1;
      pod_set.pod_template.requests = ToResources(small.uses[h]);
      PodSetAssignment& assignment = admission.pod_set_assignments.emplace_back();
      assignment.name = pod_set.name;
      assignment.count = 1;
      assignment.flavors = {{"cpu", "tas"}};
      assignment.topology_assignment =
          TopologyAssignment{{std::string(kHostnameLabel)}, {{{hosts[h].name}, 1}}};
    }
  }
  return cluster;
}

WorkloadRequest SmallRacks::ToRequest() const {
  WorkloadRequest request;
  request.key = {"team", "asked"};
  PodSetRequest& pod_set = request.pod_sets.emplace_back();
  pod_set.name = "main";
  pod_set.flavor = "tas";
  pod_set.count = gang.pods;
  pod_set.requests = ToResources(gang.each);
  TopologyRequest& topology = pod_set.topology_request.emplace();
  if (gang.slice > 1) topology.slice_constraints = {{std::string(kHostnameLabel), gang.slice}};
  if (gang.level == SmallLevel::kRack) topology.required = kRack;
  if (gang.level == SmallLevel::kHost) topology.required = std::string(kHostnameLabel);
  if (gang.level == SmallLevel::kAnywhere && gang.slice == 1) topology.unconstrained = true;
  return request;
}

SmallRacks GenerateSmallRacks(std::uint64_t seed) {
  Random random(seed);
  SmallRacks made;
  const std::int64_t hosts = random.Between(3, 7);
  std::vector<SmallAmounts> left;
  for (std::int64_t h = 0; h < hosts; ++h) {
    SmallHost& host = made.hosts.emplace_back();
    host.name = fmt::format("h{}", h);
    host.rack = fmt::format("r{}", h * 3 / hosts);
    host.has = {random.Between(2, 8), random.Between(2, 12)};
    host.ready = !random.Chance(8);
    host.cordoned = random.Chance(8);
    left.push_back(host.has);
  }
  const std::int64_t running = random.Between(1, 12);
  for (std::int64_t w = 0; w < running; ++w) {
    SmallWorkload workload{fmt::format("w{:02}", w), random.Between(0, 2), {}};
    for (SmallAmounts& free : left) {
      SmallAmounts used;
      if (random.Chance(45) && free.devices > 0 && free.cpu > 0) {
        used = {random.Between(1, std::min<std::int64_t>(free.devices, 4)),
                random.Between(1, std::min<std::int64_t>(free.cpu, 4))};
      }
      free.devices -= used.devices;
      free.cpu -= used.cpu;
      workload.uses.push_back(used);
    }
    made.running.push_back(std::move(workload));
  }
  SmallGang& gang = made.gang;
  gang.each = {random.Between(1, 2), random.Between(1, 3)};
  gang.slice = random.Chance(25) ? 2 : 1;
  gang.pods = gang.slice * static_cast<std::int32_t>(random.Between(1, 8 / gang.slice));
  gang.level =
      random.Pick({SmallLevel::kHost, SmallLevel::kRack, SmallLevel::kRack, SmallLevel::kAnywhere});
  return made;
}

}  // namespace espalier::differential
