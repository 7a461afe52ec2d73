#include "host/kueue/objects/ungater.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/by_name.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/parse_integer.hpp"
#include "host/model/pod_phase.hpp"

namespace espalier {
namespace {

bool HasGate(const Pod& pod, std::string_view gate) {
  return std::ranges::find(pod.scheduling_gates, gate) != pod.scheduling_gates.end();
}

bool HasTopologyGate(const Pod& pod) { return HasGate(pod, kTopologyGate); }

bool HasElasticGate(const Pod& pod) { return HasGate(pod, kElasticJobGate); }

// The gates of the pod that ungating removes.
std::vector<std::string> GatesOf(const Pod& pod) {
  std::vector<std::string> gates;
  for (const std::string& gate : pod.scheduling_gates) {
    if (gate == kTopologyGate || gate == kElasticJobGate) gates.push_back(gate);
  }
  return gates;
}

std::string Join(const std::vector<std::string>& values) {
  return fmt::format("{}", fmt::join(values, ","));
}

// The domain an ungated pod was sent to; a level it does not select reads as empty.
std::string SelectedDomain(const Pod& pod, const std::vector<std::string>& levels) {
  std::vector<std::string> values;
  for (const std::string& level : levels) {
    const std::string* value = pod.node_selector.Find(level);
    values.push_back(value ? *value : "");
  }
  return Join(values);
}

UngatedPod SendTo(const Pod& pod, const TopologyDomainAssignment& domain,
                  const std::vector<std::string>& levels) {
  UngatedPod ungated{pod.key, Join(domain.values), {}, GatesOf(pod)};
  for (std::size_t i = 0; i < levels.size() && i < domain.values.size(); ++i) {
    ungated.node_selector.Set(levels[i], domain.values[i]);
  }
  return ungated;
}

// The label's value when it is an unsigned decimal below `bound`.
std::optional<std::int64_t> IndexLabel(const Pod& pod, const std::string& label,
                                       std::int64_t bound) {
  const std::string* text = pod.labels.Find(label);
  if (!text) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  if (bound <= 0 || value >= static_cast<std::uint64_t>(bound)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// R22.4 for one pod, apart from the limits of the rank itself.
std::optional<std::int64_t> Rank(const Pod& pod, const PodSetToUngate& pod_set) {
  const TopologyRequest& request = *pod_set.topology_request;
  const auto index = IndexLabel(pod, *request.pod_index_label, pod_set.max_rank);
  if (!index) return std::nullopt;
  if (!request.sub_group_index_label) return SaturatingSubtract(*index, pod_set.offset);

  const std::int64_t sub_groups = request.sub_group_count.value_or(0);
  if (sub_groups <= 0) return std::nullopt;
  const auto sub_group = IndexLabel(pod, *request.sub_group_index_label, sub_groups);
  const std::int64_t pods_per_sub_group = pod_set.count / sub_groups;
  if (!sub_group || *index >= pods_per_sub_group) return std::nullopt;
  return SaturatingSubtract(*index + *sub_group * pods_per_sub_group, pod_set.offset);
}

// Ranks to domains: the first `count` ranks belong to the first domain and so on (R22.3).
class RankTable {
 public:
  explicit RankTable(const TopologyAssignment& assignment) {
    std::int64_t end = 0;
    for (const TopologyDomainAssignment& domain : assignment.domains) {
      end += std::max(domain.count, 0);
      ends_.push_back(end);
    }
  }
  std::int64_t size() const { return ends_.empty() ? 0 : ends_.back(); }

  // Index of the domain of a rank in [0, size()).
  std::size_t DomainOf(std::int64_t rank) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(ends_, rank) - ends_.begin());
  }

 private:
  std::vector<std::int64_t> ends_;
};

// The domain of every pod by its rank, or nothing when a single pod breaks a rule (R22.4).
std::optional<std::vector<std::size_t>> DomainsByRank(const PodSetToUngate& pod_set) {
  if (!pod_set.topology_request || !pod_set.topology_request->pod_index_label) return std::nullopt;
  const TopologyAssignment& assignment = pod_set.assignment;
  const RankTable table(assignment);
  std::vector<std::int64_t> ranks;
  std::vector<std::size_t> domains;
  for (const Pod& pod : pod_set.pods) {
    const std::optional<std::int64_t> rank = Rank(pod, pod_set);
    if (!rank || *rank < 0 || *rank >= pod_set.count || *rank >= table.size()) return std::nullopt;
    const std::size_t domain = table.DomainOf(*rank);
    if (!HasTopologyGate(pod) &&
        SelectedDomain(pod, assignment.levels) != Join(assignment.domains[domain].values)) {
      return std::nullopt;
    }
    ranks.push_back(*rank);
    domains.push_back(domain);
  }
  std::ranges::sort(ranks);
  if (std::ranges::adjacent_find(ranks) != ranks.end()) return std::nullopt;
  return domains;
}

// R22.6
std::vector<UngatedPod> UngateGreedily(const PodSetToUngate& pod_set) {
  const TopologyAssignment& assignment = pod_set.assignment;
  std::map<std::string, std::int64_t> running;
  for (const Pod& pod : pod_set.pods) {
    if (!HasTopologyGate(pod)) ++running[SelectedDomain(pod, assignment.levels)];
  }
  std::vector<UngatedPod> ungated;
  auto next = pod_set.pods.begin();
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    const auto it = running.find(Join(domain.values));
    std::int64_t free = domain.count - (it == running.end() ? 0 : it->second);
    for (; free > 0; --free, ++next) {
      next = std::find_if(next, pod_set.pods.end(), HasTopologyGate);
      if (next == pod_set.pods.end()) return ungated;
      ungated.push_back(SendTo(*next, domain, assignment.levels));
    }
  }
  return ungated;
}

// The pod sets of an admission as the ungater sees them, still without pods and windows.
std::vector<PodSetToUngate> PodSetsToUngate(const Workload& workload) {
  std::vector<PodSetToUngate> pod_sets;
  const auto specs = ByName(workload.pod_sets);
  for (const PodSetAssignment& admitted : workload.admission->pod_set_assignments) {
    PodSetToUngate& pod_set = pod_sets.emplace_back();
    const PodSet* spec = FindOrNull(specs, admitted.name);
    pod_set.count = admitted.count.value_or(spec ? spec->count : 0);
    pod_set.max_rank = pod_set.count;
    if (spec) pod_set.topology_request = spec->topology_request;
  }
  return pod_sets;
}

std::optional<std::string> GroupName(const PodSetToUngate& pod_set) {
  return pod_set.topology_request ? pod_set.topology_request->pod_set_group_name : std::nullopt;
}

// Shifts the workers of each group of two: their pod indexes follow the leader's (R22.2).
void ShiftWorkersBehindLeaders(std::vector<PodSetToUngate>& pod_sets) {
  std::map<std::string, std::vector<PodSetToUngate*>> groups;
  for (PodSetToUngate& pod_set : pod_sets) {
    if (const auto group = GroupName(pod_set)) groups[*group].push_back(&pod_set);
  }
  for (auto& [name, members] : groups) {
    if (members.size() != 2) continue;
    const bool first_leads = members[0]->count <= members[1]->count;
    const PodSetToUngate& leader = first_leads ? *members[0] : *members[1];
    PodSetToUngate& workers = first_leads ? *members[1] : *members[0];
    workers.offset = leader.count;
    workers.max_rank = leader.count + workers.count;
  }
}

// The live pods of a workload by the name of their pod set, in the order of their names.
std::unordered_map<std::string_view, std::vector<const Pod*>> PodsByPodSet(
    const Workload& workload, std::span<const Pod> pods) {
  std::unordered_map<std::string_view, std::vector<const Pod*>> by_pod_set;
  for (const Pod& pod : pods) {
    const std::string* label = pod.labels.Find(kPodSetLabel);
    if (label && IsPodOf(workload, pod) && !HasEnded(pod)) by_pod_set[*label].push_back(&pod);
  }
  for (auto& [name, members] : by_pod_set) {
    std::ranges::sort(members, {},
                      [](const Pod* pod) -> const std::string& { return pod->key.name; });
  }
  return by_pod_set;
}

// Reads the offset that the first pod's annotation asks for (R22.2).
Result<void> ShiftByAnnotation(PodSetToUngate& pod_set) {
  if (pod_set.pods.empty()) return {};
  const Pod& first = pod_set.pods.front();
  const std::string* text = first.annotations.Find(kPodIndexOffsetAnnotation);
  if (!text) return {};
  const auto shift = ParseInteger<std::int64_t>(*text);
  if (!shift) {
    return BadInput(fmt::format("Pod {}: metadata.annotations[{}]: \"{}\" is not an integer",
                                Excerpt(first.key.ToString()), kPodIndexOffsetAnnotation,
                                Excerpt(*text)));
  }
  pod_set.offset = SaturatingAdd(pod_set.offset, *shift);
  pod_set.max_rank = SaturatingAdd(pod_set.max_rank, *shift);
  return {};
}

// R22.7: with a host topology the domain of a pod is a node.
bool IsOnUnhealthyNode(const UngatedPod& pod,
                       const std::unordered_set<std::string_view>& unhealthy_nodes,
                       const TopologyAssignment& assignment) {
  if (assignment.levels.empty() || assignment.levels.back() != kHostnameLabel) return false;
  const std::string* node = pod.node_selector.Find(kHostnameLabel);
  return node && unhealthy_nodes.contains(*node);
}

// The pods of one pod set that wait for the elastic gate alone, as far as the admitted count goes
// (W5.4). `starting`: the number of those that lose their topology gate now.
std::vector<UngatedPod> UngateElastic(const std::vector<const Pod*>& pods, std::int64_t count,
                                      std::int64_t starting) {
  std::int64_t free = count - starting;
  for (const Pod* pod : pods) free -= IsGated(*pod) ? 0 : 1;
  std::vector<UngatedPod> ungated;
  for (const Pod* pod : pods) {
    if (!HasElasticGate(*pod) || HasTopologyGate(*pod)) continue;
    if (free-- <= 0) break;
    ungated.push_back({pod->key, "", {}, GatesOf(*pod)});
  }
  return ungated;
}

std::int64_t BytesOf(const UngatedPod& pod) {
  std::size_t bytes = sizeof(pod) + pod.domain.size();
  for (const auto& [level, value] : pod.node_selector) {
    bytes += sizeof(StringMap::Entry) + level.size() + value.size();
  }
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

std::vector<UngatedPod> UngatePodSet(const PodSetToUngate& pod_set) {
  const auto domains = DomainsByRank(pod_set);
  if (!domains) return UngateGreedily(pod_set);
  std::vector<UngatedPod> ungated;
  for (std::size_t i = 0; i < pod_set.pods.size(); ++i) {
    const Pod& pod = pod_set.pods[i];
    if (!HasTopologyGate(pod)) continue;
    const TopologyDomainAssignment& domain = pod_set.assignment.domains[(*domains)[i]];
    ungated.push_back(SendTo(pod, domain, pod_set.assignment.levels));
  }
  return ungated;
}

bool IsGated(const Pod& pod) { return HasTopologyGate(pod) || HasElasticGate(pod); }

bool IsPodOf(const Workload& workload, const Pod& pod) {
  if (pod.key.namespace_ != workload.key.namespace_) return false;
  const std::string* owner = pod.annotations.Find(kWorkloadAnnotation);
  if (owner != nullptr && *owner == workload.key.name) return true;
  const std::string* slice = pod.annotations.Find(kSliceNameAnnotation);
  return slice != nullptr && *slice == SliceName(workload);
}

const Pod* UnconfirmedPod(const Workload& workload, std::span<const Pod> pods) {
  const auto found = std::ranges::find_if(pods, [&](const Pod& pod) {
    return pod.ungating_unconfirmed && IsGated(pod) && !HasEnded(pod) && IsPodOf(workload, pod);
  });
  return found == pods.end() ? nullptr : &*found;
}

Result<std::vector<UngatedPod>> UngateWorkload(const Workload& workload, std::span<const Pod> pods,
                                               WorkBudget& budget) {
  std::vector<UngatedPod> ungated;
  if (!workload.admission || !HasCondition(workload, kAdmitted)) return ungated;
  if (HasCondition(workload, kFinished)) return ungated;  // pods are for the slice that goes on
  if (UnconfirmedPod(workload, pods) != nullptr) return ungated;
  std::vector<PodSetToUngate> pod_sets = PodSetsToUngate(workload);
  ShiftWorkersBehindLeaders(pod_sets);
  const auto pods_by_pod_set = PodsByPodSet(workload, pods);
  const std::unordered_set<std::string_view> unhealthy_nodes(workload.unhealthy_nodes.begin(),
                                                             workload.unhealthy_nodes.end());
  const auto add = [&](UngatedPod& pod) {
    if (!budget.Charge(BytesOf(pod))) return false;
    ungated.push_back(std::move(pod));
    return true;
  };
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    if (!budget.MayContinue()) break;
    const PodSetAssignment& admitted = workload.admission->pod_set_assignments[i];
    const auto members = pods_by_pod_set.find(admitted.name);
    if (members == pods_by_pod_set.end()) continue;
    std::int64_t sent = 0;
    if (admitted.topology_assignment) {
      // Copies of the pods and of the assignment; those of one pod set at a time.
      PodSetToUngate pod_set = pod_sets[i];
      pod_set.assignment = *admitted.topology_assignment;
      for (const Pod* pod : members->second) pod_set.pods.push_back(*pod);
      if (auto shifted = ShiftByAnnotation(pod_set); !shifted) {
        return tl::unexpected(shifted.error());
      }
      for (UngatedPod& pod : UngatePodSet(pod_set)) {
        ++sent;
        if (IsOnUnhealthyNode(pod, unhealthy_nodes, pod_set.assignment)) continue;
        if (!add(pod)) break;
      }
    }
    for (UngatedPod& pod : UngateElastic(members->second, pod_sets[i].count, sent)) {
      if (!add(pod)) break;
    }
  }
  if (auto check = budget.Check(); !check) return tl::unexpected(check.error());
  return ungated;
}

}  // namespace espalier
