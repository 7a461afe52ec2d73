#include "host/kueue/validation/assignment_check.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/engine/assignments.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/engine/request_resolution.hpp"
#include "host/kueue/cycle/flavor_choice.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/kueue/objects/quantity_text.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/by_name.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/names_text.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostNamedNodes = 3;  // of the things that a sentence names

// "cpu 2 more than the 64 there are"
std::string BeyondText(const std::string& resource, Amount used, Amount free) {
  return fmt::format("{} of {} are in use on it, which has {}", QuantityText(resource, used),
                     resource, QuantityText(resource, free));
}

class Checker {
 public:
  Checker(const Cluster& cluster, const FeatureGates& gates, const ClusterState& state)
      : gates_(gates), lookup_(cluster), state_(state) {}

  AssignmentCheck Check(const Cluster& cluster, const std::optional<ObjectKey>& only) {
    for (const Workload& workload : cluster.workloads) {
      if (!HasReservation(workload) || (only && workload.key != *only)) continue;
      bool looked = false;
      const auto pod_sets = ByName(workload.pod_sets);
      for (const PodSetAssignment& assignment : workload.admission->pod_set_assignments) {
        const std::vector<std::string> flavors = TasFlavors(assignment.flavors, lookup_);
        const PodSet* pod_set = FindOrNull(pod_sets, assignment.name);
        if (flavors.empty()) continue;
        looked = true;
        workload_ = &workload;
        pod_set_ = assignment.name;
        if (pod_set == nullptr) {
          Fault("the workload has no pod set of this name");
        } else if (assignment.topology_assignment) {
          CheckPodSet(*pod_set, assignment, flavors.front());
        } else if (!assignment.delayed_topology_request) {
          Fault(
              fmt::format("it is on the flavor {}, which has a topology, without a "
                          "topologyAssignment",
                          Excerpt(flavors.front())));
        }
      }
      check_.workloads += static_cast<std::size_t>(looked);
    }
    return std::move(check_);
  }

 private:
  void Fault(std::string problem) {
    check_.faults.push_back({workload_->key, pod_set_, std::move(problem)});
  }

  void CheckPodSet(const PodSet& pod_set, const PodSetAssignment& assignment,
                   const std::string& flavor_name) {
    const FlavorState* flavor = state_.Find(flavor_name);
    if (flavor == nullptr) return;  // its topology is not in the cluster (R20.9)
    const TopologyAssignment& topology = *assignment.topology_assignment;
    const FlavorSnapshot& snapshot = flavor->snapshot();
    const std::int64_t wanted = assignment.count.value_or(pod_set.count);
    if (const std::int64_t pods = TotalPods(topology); pods != wanted) {
      Fault(fmt::format("its domains have {} pods, and it has {}", pods, wanted));
    }
    CheckLevels(topology, snapshot);
    const std::vector<LeafShare> shares = FindLeaves(topology, snapshot);
    CheckMatches(pod_set, shares, snapshot, flavor_name);
    if (pod_set.topology_request) CheckRequest(*pod_set.topology_request, shares, snapshot);
    CheckCapacity(pod_set, shares, *flavor);
  }

  void CheckLevels(const TopologyAssignment& topology, const FlavorSnapshot& snapshot) {
    const std::vector<std::string>& levels = snapshot.levels();
    const bool host = snapshot.host_topology() && topology.levels == std::vector{levels.back()};
    if (host || (!snapshot.host_topology() && topology.levels == levels)) return;
    Fault(fmt::format(
        "its levels are {}; want {}", fmt::join(topology.levels, ", "),
        snapshot.host_topology() ? levels.back() : fmt::format("{}", fmt::join(levels, ", "))));
  }

  // The shares on leaves that there are; the others are a fault.
  std::vector<LeafShare> FindLeaves(const TopologyAssignment& topology,
                                    const FlavorSnapshot& snapshot) {
    std::vector<std::string> missing;
    TopologyAssignment known{topology.levels, {}};
    DomainIds ids;
    for (const TopologyDomainAssignment& domain : topology.domains) {
      const std::string_view id = ids.Of(domain.values);
      if (snapshot.FindLeaf(id).valid()) {
        known.domains.push_back(domain);
      } else {
        missing.push_back(Excerpt(id));
      }
    }
    if (!missing.empty()) {
      Fault(fmt::format("there is no ready node of its flavor at {}",
                        NamesText(missing, kMostNamedNodes)));
    }
    return MergeShares(ToShares(known, snapshot), {});
  }

  void CheckMatches(const PodSet& pod_set, const std::vector<LeafShare>& shares,
                    const FlavorSnapshot& snapshot, const std::string& flavor_name) {
    PodSetRequest request;
    request.name = pod_set.name;
    request.flavor = flavor_name;
    request.count = pod_set.count;
    request.requests = pod_set.pod_template.requests;
    request.pod_template = pod_set.pod_template;
    request.topology_request = TopologyRequest{.unconstrained = true};
    const ResolvedGangShape resolved = Resolve({request, std::nullopt}, state_, gates_);
    if (!resolved.failure.empty()) return Fault(resolved.failure);
    const auto filter = snapshot.FilterOf(*resolved.resolved.shape);
    if (filter == nullptr || filter->matches.empty()) return;
    std::vector<std::string> wrong;
    for (const LeafShare& share : shares) {
      const auto leaf = static_cast<std::size_t>(share.leaf.value);
      if ((filter->matches[leaf / 64] >> (leaf % 64) & 1) == 0) {
        wrong.push_back(Excerpt(snapshot.LeafIdText(share.leaf)));
      }
    }
    if (wrong.empty()) return;
    Fault(fmt::format("its node selector, affinity or tolerations do not allow {}",
                      NamesText(wrong, kMostNamedNodes)));
  }

  // Pods by the domain of a level that they are in.
  static std::map<DomainId, std::int64_t> PodsByDomain(const std::vector<LeafShare>& shares,
                                                       std::int32_t level,
                                                       const FlavorSnapshot& snapshot) {
    std::map<DomainId, std::int64_t> pods;
    for (const LeafShare& share : shares) pods[snapshot.Ancestor(share.leaf, level)] += share.pods;
    return pods;
  }

  void CheckRequest(const TopologyRequest& request, const std::vector<LeafShare>& shares,
                    const FlavorSnapshot& snapshot) {
    const auto level_of = [&](const std::string& key) {
      const std::int32_t level = snapshot.FindLevel(key);
      if (level < 0) Fault(fmt::format("its topology has no level {}", Excerpt(key)));
      return level;
    };
    if (request.required) {
      const std::int32_t level = level_of(*request.required);
      const auto pods =
          level < 0 ? std::map<DomainId, std::int64_t>() : PodsByDomain(shares, level, snapshot);
      if (pods.size() > 1) {
        std::vector<std::string> domains;
        for (const auto& [domain, count] : pods) domains.push_back(PathText(domain, snapshot));
        Fault(fmt::format("it must share one {}, and is in {}: {}", *request.required, pods.size(),
                          NamesText(domains, kMostNamedNodes)));
      }
    }
    for (const SliceConstraint& slice : SliceConstraints(request)) {
      const std::int32_t level = level_of(slice.topology);
      if (level < 0 || slice.size <= 1) continue;
      for (const auto& [domain, count] : PodsByDomain(shares, level, snapshot)) {
        if (count % slice.size == 0) continue;
        Fault(fmt::format("{} has {} of its pods; slices of {} want a multiple of that in each {}",
                          PathText(domain, snapshot), count, slice.size, slice.topology));
        break;
      }
    }
  }

  static std::string PathText(DomainId domain, const FlavorSnapshot& snapshot) {
    return Excerpt(fmt::format("{}", fmt::join(snapshot.Path(domain), "/")));
  }

  void CheckCapacity(const PodSet& pod_set, const std::vector<LeafShare>& shares,
                     const FlavorState& flavor) {
    const FlavorSnapshot& snapshot = flavor.snapshot();
    std::vector<std::string> beyond;
    const Resources a_pod = UsageOfPods(pod_set.pod_template.requests, 1);
    for (const LeafShare& share : shares) {
      for (const auto& [resource, amount] : a_pod) {
        if (amount <= 0) continue;
        const std::int32_t column = snapshot.FindResource(resource);
        const auto at = static_cast<std::size_t>(std::max(column, 0) * snapshot.stride()) +
                        static_cast<std::size_t>(share.leaf.value);
        const Amount free = column < 0 ? 0 : flavor.free()[at];
        const Amount used = column < 0 ? SaturatingMultiply(amount, share.pods) : flavor.Usage(at);
        if (used <= free) continue;
        beyond.push_back(fmt::format("{}: {}", Excerpt(snapshot.LeafIdText(share.leaf)),
                                     BeyondText(resource, used, free)));
        break;
      }
    }
    if (!beyond.empty()) {
      Fault(fmt::format("there is not so much room at {}", NamesText(beyond, kMostNamedNodes)));
    }
  }

  const FeatureGates& gates_;
  ClusterLookup lookup_;
  const ClusterState& state_;
  const Workload* workload_ = nullptr;  // that is being looked at
  std::string pod_set_;
  AssignmentCheck check_;
};

}  // namespace

AssignmentCheck CheckAssignments(const Cluster& cluster, const ClusterState& state,
                                 const FeatureGates& gates) {
  return Checker(cluster, gates, state).Check(cluster, std::nullopt);
}

Result<AssignmentCheck> CheckAssignments(const Cluster& cluster, const FeatureGates& gates,
                                         const std::optional<ObjectKey>& only) {
  const Result<ClusterState> state = ClusterState::Build(BuildClusterStateInput(cluster, gates));
  if (!state) return tl::unexpected(state.error());
  return Checker(cluster, gates, *state).Check(cluster, only);
}

}  // namespace espalier
