#include "tests/server/changing_cluster.hpp"

#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "host/live/admitted_workloads.hpp"

namespace espalier {
namespace {

constexpr const char* kOther = "other";
constexpr const char* kZones = "zones";

template <class Map>
auto& AnyOf(Map& map, Random& random) {
  return std::next(map.begin(), random.Between(0, std::ssize(map) - 1))->second;
}

}  // namespace

ChangingCluster::ChangingCluster(Random& random)
    : random_(random),
      instance_(differential::Generate(random)),
      sums_saturate_(random.Chance(30)) {
  const ClusterStateInput& cluster = instance_.cluster;
  for (const Node& node : cluster.nodes) nodes_.emplace(node.name, node);
  for (const NodeUsage& usage : cluster.non_tas_usage) {
    AddTo(non_tas_usage_[usage.node], usage.usage);
  }
  for (const FlavorLeafUsage& usage : cluster.tas_usage) {
    AddTo(tas_usage_[{usage.flavor, usage.leaf}], usage.usage);
  }
  topologies_[instance_.topology().name] = instance_.topology();
  topologies_[kZones] = {kZones, {"zone"}};
  flavors_["default"] = instance_.flavor();
  ResourceFlavor other = instance_.flavor();
  other.name = kOther;
  other.node_labels.Set("disk", "ssd");
  flavors_[kOther] = other;
  flavors_[kZones] = {kZones, {}, {}, {}, kZones};
}

ClusterStateInput ChangingCluster::Input() const {
  ClusterStateInput input;
  for (const auto& [name, node] : nodes_) input.nodes.push_back(node);
  for (const auto& [name, usage] : non_tas_usage_) input.non_tas_usage.push_back({name, usage});
  for (const auto& [key, usage] : tas_usage_) {
    input.tas_usage.push_back({key.first, key.second, usage});
  }
  for (const auto& [key, workload] : workloads_) {
    input.tas_usage.insert(input.tas_usage.end(), workload.usage.begin(), workload.usage.end());
  }
  for (const auto& [name, topology] : topologies_) input.topologies.push_back(topology);
  for (const auto& [name, flavor] : flavors_) input.flavors.push_back(flavor);
  input.share_usage_between_flavors = instance_.cluster.share_usage_between_flavors;
  return input;
}

std::vector<AdmittedUsage> ChangingCluster::Workloads() const {
  std::vector<AdmittedUsage> workloads;
  for (const auto& [key, workload] : workloads_) workloads.push_back(workload);
  return workloads;
}

// On up to three leaves, which may be the same; one in four has gone.
AdmittedUsage ChangingCluster::AnyWorkload() {
  AdmittedUsage workload;
  workload.key = {random_.Pick({"", "team"}), fmt::format("w{}", random_.Between(0, 5))};
  workload.priority = static_cast<std::int32_t>(random_.Between(-1, 1));
  workload.quota_reserved_seconds = random_.Between(0, 1);
  if (random_.Chance(30)) workload.job = random_.Pick({"w0", "w1"});
  for (std::int64_t i = random_.Chance(25) ? 0 : random_.Between(1, 3); i > 0; --i) {
    workload.usage.push_back(AnyUsage());
  }
  return workload;
}

const Node& ChangingCluster::AnyNode() const { return AnyOf(nodes_, random_); }

// Beside another node, mostly with a hostname of its own.
Node ChangingCluster::NewNode() {
  Node node = nodes_.empty() ? Node() : AnyNode();
  node.name = fmt::format("{}{}", random_.Pick({"new", "a-new", "x"}), names_++ % 40);
  node.ready = true;
  node.unschedulable = false;
  if (random_.Chance(95)) node.labels.Set(kHostnameLabel, node.name);
  if (random_.Chance(20)) {
    const std::string level = random_.Pick(instance_.topology().levels);
    if (level != kHostnameLabel) node.labels.Set(level, fmt::format("v{}", random_.Between(0, 9)));
  }
  return node;
}

Node ChangingCluster::ChangedNode() {
  Node node = AnyNode();
  switch (random_.Between(0, 7)) {
    case 0:
    case 1:
      node.ready = !node.ready;
      break;
    case 2:
      node.unschedulable = !node.unschedulable;
      break;
    case 3:
      node.taints.clear();
      if (random_.Chance(70)) node.taints.push_back({"spot", "", "NoExecute"});
      if (random_.Chance(30)) node.taints.push_back({"dedicated", "ml", "NoSchedule"});
      break;
    case 4:
      node.labels.Set("disk", random_.Pick({"ssd", "hdd"}));
      break;
    case 5:
      node.labels.Set("zone", random_.Pick({"a", "b", "c", "d"}));
      break;
    case 6: {
      const std::string level = random_.Pick(instance_.topology().levels);
      if (random_.Chance(10)) {
        node.labels.Erase(level);
      } else if (const std::string* value = AnyNode().labels.Find(level)) {
        if (level != kHostnameLabel || random_.Chance(10)) node.labels.Set(level, *value);
      }
      break;
    }
    default:
      for (const auto& [name, amount] : Resources(node.allocatable)) {
        node.allocatable.Set(name, random_.Chance(50) ? amount / 2 : amount + 1);
      }
      if (random_.Chance(5)) node.allocatable.Set("odd", 3);
  }
  return node;
}

void ChangingCluster::AddNodeChange(StateDelta& delta) {
  const std::int64_t kind = random_.Between(0, 9);
  if (nodes_.empty() || kind == 0) {
    delta.upsert_nodes.push_back(NewNode());
  } else if (kind == 1) {
    const std::string name = AnyNode().name;
    if (delta.remove_nodes.empty()) delta.remove_nodes.push_back(name);
    if (random_.Chance(10)) delta.upsert_nodes.push_back(nodes_.at(name));
  } else {
    delta.upsert_nodes.push_back(ChangedNode());
  }
}

void ChangingCluster::AddFlavorChange(StateDelta& delta) {
  ResourceFlavor flavor = instance_.flavor();
  switch (random_.Between(0, 3)) {
    case 0:
      flavor.name = kOther;
      if (random_.Chance(70)) flavor.node_labels.Set("disk", random_.Pick({"ssd", "hdd"}));
      delta.upsert_flavors.push_back(flavor);
      break;
    case 1:
      if (flavors_.contains(kOther)) delta.remove_flavors.push_back(kOther);
      break;
    case 2:
      delta.upsert_topologies.push_back({kZones, random_.Chance(50)
                                                     ? std::vector<std::string>{"zone", "disk"}
                                                     : std::vector<std::string>{"zone"}});
      break;
    default:
      flavor.tolerations.clear();
      if (random_.Chance(50)) flavor.tolerations.push_back({"spot", "Exists", "", ""});
      delta.upsert_flavors.push_back(flavor);
  }
}

StateDelta ChangingCluster::AnyChange() {
  StateDelta delta;
  const std::int64_t changes = random_.Pick({0, 1, 1, 1, 1, 2, 4});
  for (std::int64_t i = 0; i < changes; ++i) {
    const std::int64_t kind = random_.Between(0, 99);
    if (kind < 10 && !sums_saturate_) {
      const AdmittedUsage workload = AnyWorkload();
      const auto same = [&](const AdmittedUsage& other) { return other.key == workload.key; };
      std::erase_if(delta.set_workloads, same);
      delta.set_workloads.push_back(workload);
    } else if (kind < 20) {
      delta.set_tas_usage.push_back(AnyUsage());
    } else if (kind < 30) {
      FlavorLeafUsage usage = AnyUsage();
      delta.set_non_tas_usage.push_back(
          {nodes_.empty() ? "gone" : AnyNode().name, std::move(usage.usage)});
    } else if (kind < 98) {
      AddNodeChange(delta);
    } else {
      AddFlavorChange(delta);
    }
  }
  return delta;
}

void ChangingCluster::Apply(const StateDelta& delta) {
  for (const std::string& name : delta.remove_nodes) nodes_.erase(name);
  for (const Node& node : delta.upsert_nodes) nodes_.insert_or_assign(node.name, node);
  for (const NodeUsage& usage : delta.set_non_tas_usage) non_tas_usage_[usage.node] = usage.usage;
  for (const FlavorLeafUsage& usage : delta.set_tas_usage) {
    tas_usage_[{usage.flavor, usage.leaf}] = usage.usage;
  }
  for (const AdmittedUsage& workload : delta.set_workloads) {
    if (InOrder(workload).usage.empty()) {
      workloads_.erase(workload.key);
    } else {
      workloads_[workload.key] = InOrder(workload);
    }
  }
  for (const Topology& topology : delta.upsert_topologies) topologies_[topology.name] = topology;
  for (const std::string& name : delta.remove_flavors) flavors_.erase(name);
  for (const ResourceFlavor& flavor : delta.upsert_flavors) flavors_[flavor.name] = flavor;
}

void ChangingCluster::Book(const std::vector<FlavorLeafUsage>& usage) {
  for (const FlavorLeafUsage& entry : usage) {
    AddTo(tas_usage_[{entry.flavor, entry.leaf}], entry.usage);
  }
}

FlavorLeafUsage ChangingCluster::AnyUsage() {
  FlavorLeafUsage usage;
  usage.flavor = random_.Pick({"default", "default", kOther, kZones, "none"});
  usage.leaf = usage.flavor == kZones ? random_.Pick({"a", "b", "c"})
               : nodes_.empty()       ? "gone"
                                      : differential::LeafId(AnyNode(), instance_.topology());
  if (random_.Chance(30)) return usage;
  for (const char* name : {"cpu", "memory", "nvidia.com/gpu", "pods", "odd"}) {
    if (random_.Chance(60)) usage.usage.Set(name, random_.Between(0, 4) * 500);
  }
  if (sums_saturate_ && random_.Chance(3))
    usage.usage.Set("cpu", std::numeric_limits<Amount>::max() - 3);
  return usage;
}

WorkloadRequest ChangingCluster::AnyRequest() {
  WorkloadRequest request = differential::GeneratePlainRequest(random_, instance_.cluster);
  if (random_.Chance(15)) {
    for (PodSetRequest& pod_set : request.pod_sets) pod_set.flavor = kOther;
  }
  request.simulate_empty = random_.Chance(8);
  return request;
}

}  // namespace espalier
