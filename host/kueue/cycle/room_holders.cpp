#include "host/kueue/cycle/room_holders.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/engine/assignments.hpp"
#include "host/kueue/cycle/cycle_state.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/packing/node_match.hpp"

namespace espalier {
namespace {

class HolderFinder {
 public:
  HolderFinder(const Cluster& cluster, const FeatureGates& gates)
      : cluster_(cluster), lookup_(cluster), shared_(SharedFlavors(cluster, lookup_, gates)) {
    for (const Node& node : cluster.nodes) nodes_.emplace(node.name, &node);
  }

  RoomHolders Run(const Workload& workload, const RoomHolderOptions& options) {
    for (VictimSlices& slices : RunningJobs(cluster_, workload.key)) {
      const auto may_go = [&](std::size_t i) {
        return Allows(options.policy, workload, cluster_.workloads[i]);
      };
      if (!std::ranges::all_of(slices, may_go)) continue;
      const Workload& newest = cluster_.workloads[slices.back()];
      Victim victim = VictimOf(cluster_, slices, lookup_);
      victim.name = newest.key.ToString();
      victim.usage = OnAllFlavors(std::move(victim.usage));
      if (victim.usage.empty()) continue;
      found_.holders.push_back({std::move(victim), newest.key, newest.priority,
                                newest.admission->cluster_queue, std::move(slices)});
    }
    for (const Pod& pod : cluster_.pods) {
      if (IsOtherPod(pod) && !NeverEnds(pod) && pod.priority < options.pods_below) AddPod(pod);
    }
    for (auto& [node, usage] : pods_) found_.pods_on_nodes.push_back({node, std::move(usage)});
    std::ranges::stable_sort(found_.holders, {}, [](const RoomHolder& holder) {
      return std::tuple(holder.priority, holder.victim.name);
    });
    return std::move(found_);
  }

 private:
  // Usage on a flavor down to hosts, on each of those flavors.
  std::vector<FlavorLeafUsage> OnAllFlavors(std::vector<FlavorLeafUsage> usage) const {
    std::vector<FlavorLeafUsage> all;
    for (FlavorLeafUsage& entry : usage) {
      if (std::ranges::find(shared_, entry.flavor) == shared_.end()) {
        all.push_back(std::move(entry));
        continue;
      }
      for (const std::string& flavor : shared_) all.push_back({flavor, entry.leaf, entry.usage});
    }
    return all;
  }

  // The leaf of a node in a flavor; nullopt when it is none of its nodes.
  std::optional<std::string> LeafOf(const Node& node, const ResourceFlavor& flavor) const {
    const Topology* topology = lookup_.TopologyOf(flavor);
    if (topology == nullptr || !node.ready || node.unschedulable) return std::nullopt;
    const auto path = PathInFlavor(node, flavor, topology->levels);
    if (!path) return std::nullopt;
    return LeafIdText(*path, topology->levels);
  }

  void AddPod(const Pod& pod) {
    const auto node = nodes_.find(pod.node_name);
    if (node == nodes_.end()) {
      ++found_.pods_elsewhere;
      return;
    }
    const Resources usage = UsageOfPods(pod.requests, 1);
    RoomHolder holder{
        {fmt::format("pod {}", pod.key.ToString()), {}}, pod.key, pod.priority, {}, {}};
    bool is_shared = false;  // on one of the flavors that see each other's usage (R5.6)
    for (const ResourceFlavor& flavor : cluster_.flavors) {
      const auto leaf = LeafOf(*node->second, flavor);
      if (!leaf) continue;
      holder.victim.usage.push_back({flavor.name, *leaf, usage});
      const bool shares = std::ranges::find(shared_, flavor.name) != shared_.end();
      if (!shares || !is_shared) found_.pods_on_leaves.push_back(holder.victim.usage.back());
      is_shared = is_shared || shares;
    }
    if (holder.victim.usage.empty()) {
      ++found_.pods_elsewhere;
      return;
    }
    AddTo(pods_[pod.node_name], usage);
    found_.holders.push_back(std::move(holder));
  }

  const Cluster& cluster_;
  ClusterLookup lookup_;
  std::vector<std::string> shared_;
  std::map<std::string_view, const Node*> nodes_;
  std::map<std::string, Resources, std::less<>> pods_;  // that may go, by node
  RoomHolders found_;
};

}  // namespace

RoomHolders FindRoomHolders(const Cluster& cluster, const Workload& workload,
                            const RoomHolderOptions& options, const FeatureGates& gates) {
  return HolderFinder(cluster, gates).Run(workload, options);
}

PreemptionRules::PreemptionRules(const Cluster& cluster, const Workload& workload,
                                 const WorkloadRequest& request, const ClusterQueue& queue)
    : cluster_(cluster), lookup_(cluster), workload_(workload), queue_(queue) {
  for (const PodSetRequest& pod_set : request.pod_sets) {
    for (const auto& [resource, amount] : pod_set.requests) {
      Amount& sum = asked_[{pod_set.flavor, resource}];
      sum = SaturatingAdd(sum, SaturatingMultiply(amount, pod_set.count));
    }
  }
  for (const ClusterQueue& each : cluster.cluster_queues) {
    quotas_.try_emplace(each.name, each);
  }
  for (const Workload& running : cluster.workloads) {
    if (!running.admission) continue;
    const auto quota = quotas_.find(running.admission->cluster_queue);
    if (quota != quotas_.end()) quota->second.Add(QuotaUsageOf(running));
  }
}

bool PreemptionRules::Borrows(const std::string& queue,
                              const std::map<std::string, Quota>& quotas) const {
  const Quota& quota = quotas.at(queue);
  return std::ranges::any_of(asked_, [&](const auto& entry) {
    return quota.Used(entry.first) > quota.Nominal(entry.first);
  });
}

bool PreemptionRules::FitsNominal() const {
  const Quota& quota = quotas_.at(queue_.name);
  return std::ranges::all_of(asked_, [&](const auto& entry) {
    // A resource that no queue counts is not looked at.
    const Amount nominal = quota.Nominal(entry.first);
    return nominal == 0 || SaturatingAdd(quota.Used(entry.first), entry.second) <= nominal;
  });
}

std::string PreemptionRules::RuleFor(const RoomHolder& holder,
                                     std::map<std::string, Quota>& quotas) const {
  if (holder.cluster_queue.empty()) return "no: a pod outside of Kueue";
  const auto policy_allows = [&](const std::string& policy) {
    const auto parsed = ParsePreemptionPolicy(policy);
    return parsed && std::ranges::all_of(holder.slices, [&](std::size_t i) {
             return Allows(*parsed, workload_, cluster_.workloads[i]);
           });
  };
  const auto named = [](const std::string& policy) { return policy.empty() ? "Never" : policy; };
  if (holder.cluster_queue == queue_.name) {
    const std::string& policy = queue_.within_cluster_queue;
    if (policy_allows(policy)) return "withinClusterQueue " + named(policy);
    return "no: withinClusterQueue is " + named(policy);
  }
  const ClusterQueue* queue = lookup_.Queue(holder.cluster_queue);
  if (queue == nullptr || queue_.cohort.empty() || queue->cohort != queue_.cohort) {
    return fmt::format("no: ClusterQueue {} is in no cohort with {}", holder.cluster_queue,
                       queue_.name);
  }
  const std::string& policy = queue_.reclaim_within_cohort;
  if (!policy_allows(policy)) return "no: reclaimWithinCohort is " + named(policy);
  if (!FitsNominal()) return fmt::format("no: it is more than {}'s own nominal quota", queue_.name);
  if (!Borrows(queue->name, quotas)) {
    return fmt::format("no: ClusterQueue {} does not borrow so much", queue->name);
  }
  for (const std::size_t i : holder.slices) {
    quotas.at(queue->name).Remove(QuotaUsageOf(cluster_.workloads[i]));
  }
  return "reclaimWithinCohort " + named(policy);
}

std::string PreemptionRules::RulesFor(std::span<const RoomHolder* const> holders) const {
  std::map<std::string, Quota> quotas = quotas_;  // as one after the other is gone
  std::set<std::string> rules;
  for (const RoomHolder* holder : holders) {
    std::string rule = RuleFor(*holder, quotas);
    if (rule.starts_with("no: ")) return rule;
    rules.insert(std::move(rule));
  }
  return fmt::format("{}", fmt::join(rules, ", "));
}

}  // namespace espalier
