#include "tests/differential/invariants.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/objects/assignment_encoding.hpp"
#include "tests/oracle/cluster.hpp"
#include "tests/oracle/demand.hpp"
#include "tests/oracle/oracle_input.hpp"

namespace espalier::differential {
namespace {

using oracle::Cluster;
using oracle::Path;
using Broken = std::optional<std::string>;

std::map<Path, std::int64_t> PodsByPath(const Cluster& cluster,
                                        const TopologyAssignment& assignment) {
  std::map<Path, std::int64_t> pods;
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    pods[cluster.FindLeaf(oracle::JoinWithComma(domain.values)).value_or(Path{"unknown leaf"})] +=
        domain.count;
  }
  return pods;
}

// R13.8
Broken BrokenOrder(const Cluster& cluster, const TopologyAssignment& assignment) {
  std::optional<Path> last;
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    const auto path = cluster.FindLeaf(oracle::JoinWithComma(domain.values));
    if (!path) return "a domain is no leaf";
    if (last && !(*last < *path)) return "domains are not in strict path order";
    if (domain.count < 1) return "a domain has no pod";
    last = path;
  }
  return std::nullopt;
}

// R19.1
Broken BrokenEncoding(const FeatureGates& gates, const TopologyAssignment& assignment) {
  if (assignment.domains.empty()) return std::nullopt;
  const auto decoded = DecodeAssignment(EncodeAssignment(assignment, gates));
  if (!decoded) return "the encoded assignment cannot be decoded: " + decoded.error().message;
  if (*decoded != assignment) return "decoding gives another assignment than was encoded";
  return std::nullopt;
}

// R6.4, R6.6
Broken LeftRequiredDomain(const Cluster& cluster, const PodSetRequest& workers,
                          const std::map<Path, std::int64_t>& pods) {
  if (!workers.topology_request || !workers.topology_request->required) return std::nullopt;
  const std::size_t length = *cluster.LevelOf(*workers.topology_request->required) + 1;
  std::optional<Path> domain;
  for (const auto& [path, count] : pods) {
    const Path prefix(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(length));
    if (domain && *domain != prefix) return "pods left the required domain";
    domain = prefix;
  }
  return std::nullopt;
}

// R6.1, R6.7
Broken BrokenSlice(const Cluster& cluster, const PodSetRequest& workers,
                   const std::map<Path, std::int64_t>& pods) {
  for (const SliceConstraint& constraint : oracle::SliceConstraints(workers)) {
    std::map<Path, std::int64_t> by_domain;
    for (const auto& [path, count] : pods) {
      Path domain = path;
      domain.resize(*cluster.LevelOf(constraint.topology) + 1);
      by_domain[domain] += count;
    }
    for (const auto& [domain, count] : by_domain) {
      if (count % constraint.size == 0) continue;
      return fmt::format("{} pods in {} break slices of {}", count, oracle::JoinWithComma(domain),
                         constraint.size);
    }
  }
  return std::nullopt;
}

// R5.1
Broken BeyondCapacity(const Instance& instance, const Cluster& cluster,
                      const std::map<Path, oracle::Vector>& usage) {
  oracle::AssumedUsage assumed;
  if (instance.gates.handle_overlapping_flavors) {
    for (const LeafUsage& leaf : instance.request.assumed_usage) {
      assumed[leaf.leaf] = oracle::Plus(assumed[leaf.leaf], oracle::ToVector(leaf.usage));
    }
  }
  for (const auto& [path, used] : usage) {
    oracle::Vector remaining =
        oracle::Remaining(cluster, path, instance.request.simulate_empty, assumed);
    for (const auto& [name, amount] : used) {
      if (amount <= 0 || amount <= remaining[name]) continue;
      return fmt::format("{} of {} on {}, which has {} left", amount, name,
                         oracle::JoinWithComma(path), remaining[name]);
    }
  }
  return std::nullopt;
}

bool IsPlain(const Instance& instance) {
  return !instance.request.replacement && !instance.gates.balanced_placement &&
         !instance.gates.elastic_jobs_via_workload_slices_with_tas;
}

// The leader of the group that `pod_set` leads the workers of, null without one (R15.5).
const PodSetRequest* LeaderOf(const std::vector<PodSetRequest>& pod_sets,
                              const PodSetRequest& pod_set) {
  if (!pod_set.group) return nullptr;
  std::vector<const PodSetRequest*> members;
  for (const PodSetRequest& other : pod_sets) {
    if (other.group == pod_set.group) members.push_back(&other);
  }
  if (members.size() != 2) return nullptr;
  if (members[1]->count > members[0]->count) std::swap(members[0], members[1]);
  return members[0] == &pod_set ? members[1] : nullptr;
}

bool IsLeader(const std::vector<PodSetRequest>& pod_sets, const PodSetRequest& pod_set) {
  return std::any_of(pod_sets.begin(), pod_sets.end(), [&](const PodSetRequest& other) {
    return LeaderOf(pod_sets, other) == &pod_set;
  });
}

const TopologyAssignment* AssignmentOf(const WorkloadAnswer& answer, const std::string& name) {
  for (const PodSetAnswer& pod_set : answer.pod_sets) {
    if (pod_set.name == name && pod_set.assignment) return &*pod_set.assignment;
  }
  return nullptr;
}

std::int64_t Total(const std::map<Path, std::int64_t>& pods) {
  std::int64_t total = 0;
  for (const auto& [path, count] : pods) total += count;
  return total;
}

Broken BrokenGroup(const Instance& instance, const Cluster& cluster, const WorkloadAnswer& answer,
                   const PodSetRequest& workers, std::map<Path, oracle::Vector>& usage) {
  const TopologyAssignment* assignment = AssignmentOf(answer, workers.name);
  if (assignment == nullptr) return std::nullopt;
  std::map<Path, std::int64_t> pods = PodsByPath(cluster, *assignment);
  const std::int64_t size = *oracle::SliceSize(workers);
  if (Total(pods) != workers.count / size * size) return "the number of pods placed is wrong";
  if (auto broken = BrokenSlice(cluster, workers, pods)) return broken;

  const auto use = [&](const PodSetRequest& pod_set, const std::map<Path, std::int64_t>& placed) {
    const oracle::Vector per_pod =
        oracle::Plus(oracle::ToVector(pod_set.requests), {{std::string(kPodsResource), 1}});
    for (const auto& [path, count] : placed) {
      usage[path] = oracle::Plus(usage[path], per_pod, count);
    }
  };
  use(workers, pods);
  if (const PodSetRequest* leader = LeaderOf(instance.request.pod_sets, workers)) {
    const TopologyAssignment* leader_assignment = AssignmentOf(answer, leader->name);
    if (leader_assignment == nullptr) return "the leader has no assignment";
    const auto leader_pods = PodsByPath(cluster, *leader_assignment);
    if (Total(leader_pods) != 1) return "the leader is not one pod";
    use(*leader, leader_pods);
    pods.insert(leader_pods.begin(), leader_pods.end());
  }
  return LeftRequiredDomain(cluster, workers, pods);
}

}  // namespace

std::optional<std::string> BrokenInvariant(const Instance& instance, const WorkloadAnswer& answer) {
  const Cluster cluster =
      oracle::BuildCluster(oracle::MakeOracleInput(instance.cluster, instance.gates));
  const bool plain = IsPlain(instance);
  for (const PodSetAnswer& pod_set : answer.pod_sets) {
    if (!pod_set.assignment) continue;
    if (auto broken = BrokenEncoding(instance.gates, *pod_set.assignment)) return broken;
    if (!plain) continue;  // a stored assignment keeps its stored order (R16.6)
    if (auto broken = BrokenOrder(cluster, *pod_set.assignment)) return broken;
  }
  if (!plain) return std::nullopt;

  std::map<Path, oracle::Vector> usage;
  for (const PodSetRequest& pod_set : instance.request.pod_sets) {
    if (IsLeader(instance.request.pod_sets, pod_set)) continue;
    if (auto broken = BrokenGroup(instance, cluster, answer, pod_set, usage)) return broken;
  }
  return BeyondCapacity(instance, cluster, usage);
}

}  // namespace espalier::differential
