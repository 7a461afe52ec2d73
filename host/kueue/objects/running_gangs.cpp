#include "host/kueue/objects/running_gangs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/gangs/gang_counts.hpp"
#include "host/kueue/cycle/flavor_choice.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/kueue/objects/ungater.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/kueue/planning/drain.hpp"

namespace espalier {
namespace {

// A pod that runs.
struct PlacedPod {
  std::string_view node;
  std::string_view name;
};

std::int64_t RunningPodsOf(const GangWorkload& workload) {
  std::int64_t pods = 0;
  for (const GangGroup& gang : workload.gang_groups) pods += RunningPodsOf(gang);
  return pods;
}

// Appends the pods of a group in the order of their nodes.
void AppendPods(const EqGroup& group, std::vector<PlacedPod>& pods) {
  for (const RunningPods& running : group.running) {
    for (std::int32_t i = 0; i < running.pods; ++i) {
      const auto at = static_cast<std::size_t>(i);
      PlacedPod& pod = pods.emplace_back(PlacedPod{.node = running.node, .name = {}});
      if (at < running.names.size()) pod.name = running.names[at];
    }
  }
}

std::vector<PlacedPod> PodsOf(const GangWorkload& workload) {
  std::vector<PlacedPod> pods;
  for (const GangGroup& gang : workload.gang_groups) {
    for (const EqGroup* group : GroupsOf(gang)) AppendPods(*group, pods);
  }
  return pods;
}

// Returns the number of copies that the pods of every group divide into; 0: there is none.
std::int32_t CopiesOf(const GangWorkload& workload) {
  const std::int32_t copies = std::max(CopiesOfGang(workload), 1);
  if (copies == 1) return 1;
  for (const GangGroup& gang : workload.gang_groups) {
    for (const EqGroup* group : GroupsOf(gang)) {
      if (RunningPodsOf(*group) % copies != 0) return 0;
    }
  }
  return copies;
}

// The pods that run, as if they were all there is to place and none had a node.
GangWorkload WithRunningPodsAlone(const GangWorkload& workload, std::int32_t copies) {
  GangWorkload alone = workload;
  alone.waits_for.clear();
  alone.running = false;
  if (alone.replica_mode == ReplicaMode::kReplicatedPods) {
    alone.replica_mode = ReplicaMode::kUnreplicated;
    alone.replicas.reset();
    for (GangGroup& gang : alone.gang_groups) gang.mode = GangMode::kOff;
  }
  const bool share_domain = IsBestEffortInOneDomain(alone);  // where all of them are to go
  for (GangGroup& gang : alone.gang_groups) {
    const auto pods = static_cast<std::int32_t>(RunningPodsOf(gang) / copies);
    gang.waits_for.clear();
    if (share_domain) gang.mode = GangMode::kGang;
    gang.min_count.reset();
    gang.max_count.reset();
    if (gang.mode == GangMode::kGang) gang.min_count = gang.max_count = pods;
    for (RankedGroup& ranked : gang.ranked_groups) {
      std::erase_if(ranked.eq_groups, [](const EqGroup& group) { return group.running.empty(); });
      for (EqGroup& group : ranked.eq_groups) {
        const auto of_group = static_cast<std::int32_t>(RunningPodsOf(group) / copies);
        group.min_count = group.max_count = group.count = of_group;
        group.partial_count.reset();
        group.running.clear();
      }
    }
    std::erase_if(gang.ranked_groups,
                  [](const RankedGroup& ranked) { return ranked.eq_groups.empty(); });
  }
  std::erase_if(alone.gang_groups,
                [](const GangGroup& gang) { return gang.ranked_groups.empty(); });
  return alone;
}

class Admitter {
 public:
  explicit Admitter(Cluster& cluster) : cluster_(cluster), lookup_(cluster) {
    for (const Node& node : cluster.nodes) nodes_.emplace(node.name, &node);
    for (const Pod& pod : cluster.pods) {
      const std::string* name = pod.annotations.Find(kWorkloadAnnotation);
      if (name == nullptr) continue;
      const Workload* workload = lookup_.FindWorkload({pod.key.namespace_, *name});
      if (workload != nullptr && HasReservation(*workload)) of_kueue_.insert(pod.key);
    }
  }

  void Add(const GangWorkload& workload, Trees trees) {
    if (RunningPodsOf(workload) == 0) return;
    const std::vector<PlacedPod> pods = PodsOf(workload);
    const bool is_of_kueue = std::ranges::any_of(pods, [&](const PlacedPod& pod) {
      return of_kueue_.contains({workload.head.key.namespace_, std::string(pod.name)});
    });
    if (is_of_kueue) return;  // a Workload stands for it
    const std::int32_t copies = CopiesOf(workload);
    if (copies == 0) {
      Refuse(workload, pods,
             fmt::format("which of its {} replicas its running pods belong to is not known",
                         *workload.replicas));
      return;
    }
    GangWorkload alone = WithRunningPodsAlone(workload, copies);
    // It is not known which pods are of which copy, so all of them move together.
    const bool is_tree = copies > 1 || IsTree(alone, trees);
    alone.whole = alone.whole || (is_tree && copies == 1);  // all gangs of it have a place or none
    std::vector<Workload> units = is_tree ? TreeUnits(alone) : PlacementUnits(alone);
    for (const Workload& unit : units) {
      if (!unit.refusal.empty()) return Refuse(workload, pods, unit.refusal);
    }
    std::span<const PlacedPod> left = pods;
    for (Workload& unit : units) {
      std::size_t count = 0;
      for (const PodSet& pod_set : unit.pod_sets) count += static_cast<std::size_t>(pod_set.count);
      const auto of_unit = left.first(std::min(count, left.size()));
      left = left.subspan(of_unit.size());
      Admit(std::move(unit), of_unit);
    }
  }

  // Puts the workloads into the cluster.
  void Finish() {
    if (admitted_.empty()) return;
    std::set<ObjectKey> keys;
    for (const Workload& workload : admitted_) keys.insert(workload.key);
    std::erase_if(cluster_.workloads, [&](const Workload& workload) {
      return IsPending(workload) && keys.contains(workload.key);
    });
    std::erase_if(cluster_.pods, [&](const Pod& pod) { return taken_.contains(pod.key); });
    std::ranges::move(admitted_, std::back_inserter(cluster_.workloads));
  }

 private:
  // The pods are those of the pod sets, in order.
  void Admit(Workload unit, std::span<const PlacedPod> pods) {
    const ResourceFlavor* flavor = FlavorOf(unit, pods);
    if (flavor == nullptr) {
      Hold(unit, nullptr, pods);
      unit.refusal = "its pods run on nodes that no flavor with a topology has all of";
    } else {
      Hold(unit, flavor, pods);
      for (const PlacedPod& pod : pods) {
        taken_.insert({unit.key.namespace_, std::string(pod.name)});
      }
    }
    admitted_.push_back(std::move(unit));
  }

  void Refuse(const GangWorkload& workload, std::span<const PlacedPod> pods, std::string why) {
    Workload unit = workload.head;
    unit.refusal = std::move(why);
    unit.pod_sets = {{.name = "main", .count = static_cast<std::int32_t>(pods.size())}};
    Hold(unit, nullptr, pods);
    admitted_.push_back(std::move(unit));
  }

  // Gives the workload an admission to where the pods are; without a flavor they are its pods all
  // the same, but use nothing for it.
  void Hold(Workload& unit, const ResourceFlavor* flavor, std::span<const PlacedPod> pods) const {
    const ClusterQueue* queue = lookup_.QueueOf(unit);
    unit.admission.emplace().cluster_queue = queue == nullptr ? "" : queue->name;
    for (const PodSet& pod_set : unit.pod_sets) {
      PodSetAssignment& assigned = unit.admission->pod_set_assignments.emplace_back();
      assigned.name = pod_set.name;
      assigned.count = pod_set.count;
      if (flavor != nullptr) {
        assigned.flavors.Set(kPodsResource, flavor->name);
        for (const auto& [resource, amount] : pod_set.pod_template.requests) {
          assigned.flavors.Set(resource, flavor->name);
        }
      }
      const auto count = std::min(static_cast<std::size_t>(pod_set.count), pods.size());
      assigned.topology_assignment = AssignmentOf(flavor, pods.first(count));
      pods = pods.subspan(count);
    }
    SetCondition(unit, {std::string(kQuotaReserved), "True", "", ""});
    SetCondition(unit, {std::string(kAdmitted), "True", "", ""});
  }

  // Returns where pods are; those on nodes that are not in the input are left out.
  TopologyAssignment AssignmentOf(const ResourceFlavor* flavor,
                                  std::span<const PlacedPod> pods) const {
    TopologyAssignment assignment;
    assignment.levels = {std::string(kHostnameLabel)};
    if (flavor != nullptr) {
      const std::vector<std::string>& levels = lookup_.TopologyOf(*flavor)->levels;
      if (levels.back() != kHostnameLabel) assignment.levels = levels;  // R4.1
    }
    std::map<std::vector<std::string>, std::int32_t> by_domain;
    for (const PlacedPod& pod : pods) {
      const auto node = nodes_.find(pod.node);
      if (node == nodes_.end()) continue;
      std::vector<std::string> values = LevelValues(*node->second, assignment.levels);
      if (!values.empty()) ++by_domain[std::move(values)];
    }
    for (const auto& [values, count] : by_domain) assignment.domains.push_back({values, count});
    return assignment;
  }

  const ResourceFlavor* FlavorOf(const Workload& unit, std::span<const PlacedPod> pods) const {
    if (const ClusterQueue* queue = lookup_.QueueOf(unit)) {
      for (const ResourceGroup& group : queue->resource_groups) {
        for (const FlavorQuota& quota : group.flavors) {
          const ResourceFlavor* flavor = lookup_.Flavor(quota.flavor);
          if (flavor != nullptr && HasAll(*flavor, unit, pods)) return flavor;
        }
      }
    }
    for (const ResourceFlavor& flavor : cluster_.flavors) {
      if (HasAll(flavor, unit, pods)) return &flavor;
    }
    return nullptr;
  }

  bool HasAll(const ResourceFlavor& flavor, const Workload& unit,
              std::span<const PlacedPod> pods) const {
    const Topology* topology = lookup_.TopologyOf(flavor);
    if (topology == nullptr || WhyOtherTopology(unit, flavor)) return false;
    return std::ranges::all_of(pods, [&](const PlacedPod& pod) {
      const auto node = nodes_.find(pod.node);
      if (node == nodes_.end()) return true;
      const StringMap& labels = node->second->labels;
      return !LevelValues(*node->second, topology->levels).empty() &&
             std::ranges::all_of(flavor.node_labels, [&](const auto& label) {
               const std::string* value = labels.Find(label.first);
               return value != nullptr && *value == label.second;
             });
    });
  }

  Cluster& cluster_;
  ClusterLookup lookup_;
  std::map<std::string_view, const Node*> nodes_;
  std::set<ObjectKey> of_kueue_;  // pods of admitted Workloads
  std::set<ObjectKey> taken_;     // pods of the gangs
  std::vector<Workload> admitted_;
};

}  // namespace

void AdmitRunningGangs(std::span<const GangWorkload> gangs, Trees trees, Cluster& cluster) {
  Admitter admitter(cluster);
  for (const GangWorkload& workload : gangs) admitter.Add(workload, trees);
  admitter.Finish();
}

}  // namespace espalier
