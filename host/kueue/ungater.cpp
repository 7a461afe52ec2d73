#include "host/kueue/ungater.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

bool IsGated(const Pod& pod) {
  return std::ranges::find(pod.scheduling_gates, kTopologyGate) != pod.scheduling_gates.end();
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
  UngatedPod ungated{pod.key, Join(domain.values), {}};
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
    const std::string id = Join(assignment.domains[domain].values);
    if (!IsGated(pod) && SelectedDomain(pod, assignment.levels) != id) return std::nullopt;
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
    if (!IsGated(pod)) ++running[SelectedDomain(pod, assignment.levels)];
  }
  std::vector<UngatedPod> ungated;
  auto next = pod_set.pods.begin();
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    const auto it = running.find(Join(domain.values));
    std::int64_t free = domain.count - (it == running.end() ? 0 : it->second);
    for (; free > 0; --free, ++next) {
      next = std::find_if(next, pod_set.pods.end(), IsGated);
      if (next == pod_set.pods.end()) return ungated;
      ungated.push_back(SendTo(*next, domain, assignment.levels));
    }
  }
  return ungated;
}

const PodSet* FindPodSet(const Workload& workload, const std::string& name) {
  const auto it = std::ranges::find(workload.pod_sets, name, &PodSet::name);
  return it == workload.pod_sets.end() ? nullptr : &*it;
}

// The pod sets of an admission as the ungater sees them, still without pods and windows.
std::vector<PodSetToUngate> PodSetsToUngate(const Workload& workload) {
  std::vector<PodSetToUngate> pod_sets;
  for (const PodSetAssignment& admitted : workload.admission->pod_set_assignments) {
    PodSetToUngate& pod_set = pod_sets.emplace_back();
    const PodSet* spec = FindPodSet(workload, admitted.name);
    pod_set.assignment = admitted.topology_assignment.value_or(TopologyAssignment{});
    pod_set.count = admitted.count.value_or(spec ? spec->count : 0);
    pod_set.max_rank = pod_set.count;
    if (spec) pod_set.topology_request = spec->topology_request;
  }
  return pod_sets;
}

std::optional<std::string> GroupName(const PodSetToUngate& pod_set) {
  return pod_set.topology_request ? pod_set.topology_request->pod_set_group_name : std::nullopt;
}

// In a group of two the workers' pod indexes follow the leader's (R22.2).
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

bool BelongsTo(const Pod& pod, const Workload& workload, const std::string& pod_set) {
  const std::string* owner = pod.annotations.Find(kWorkloadAnnotation);
  const std::string* label = pod.labels.Find(kPodSetLabel);
  return pod.key.namespace_ == workload.key.namespace_ && owner && *owner == workload.key.name &&
         label && *label == pod_set && pod.phase != "Succeeded" && pod.phase != "Failed";
}

// Reads the offset that the first pod's annotation asks for (R22.2).
Result<void> ShiftByAnnotation(PodSetToUngate& pod_set) {
  if (pod_set.pods.empty()) return {};
  const Pod& first = pod_set.pods.front();
  const std::string* text = first.annotations.Find(kPodIndexOffsetAnnotation);
  if (!text) return {};
  std::string_view digits = *text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  std::int64_t shift = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), shift);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return BadInput(fmt::format("Pod {}: metadata.annotations[{}]: \"{}\" is not an integer",
                                Excerpt(first.key.ToString()), kPodIndexOffsetAnnotation,
                                Excerpt(*text)));
  }
  pod_set.offset = SaturatingAdd(pod_set.offset, shift);
  pod_set.max_rank = SaturatingAdd(pod_set.max_rank, shift);
  return {};
}

// R22.7: with a host topology the domain of a pod is a node.
bool IsOnUnhealthyNode(const UngatedPod& pod, const Workload& workload,
                       const TopologyAssignment& assignment) {
  if (assignment.levels.empty() || assignment.levels.back() != kHostnameLabel) return false;
  const std::string* node = pod.node_selector.Find(kHostnameLabel);
  return node && std::ranges::count(workload.unhealthy_nodes, *node) > 0;
}

}  // namespace

std::vector<UngatedPod> UngatePodSet(const PodSetToUngate& pod_set) {
  const auto domains = DomainsByRank(pod_set);
  if (!domains) return UngateGreedily(pod_set);
  std::vector<UngatedPod> ungated;
  for (std::size_t i = 0; i < pod_set.pods.size(); ++i) {
    const Pod& pod = pod_set.pods[i];
    if (!IsGated(pod)) continue;
    const TopologyDomainAssignment& domain = pod_set.assignment.domains[(*domains)[i]];
    ungated.push_back(SendTo(pod, domain, pod_set.assignment.levels));
  }
  return ungated;
}

Result<std::vector<UngatedPod>> UngateWorkload(const Workload& workload,
                                               std::span<const Pod> pods) {
  std::vector<UngatedPod> ungated;
  if (!workload.admission || !HasCondition(workload, "Admitted")) return ungated;
  std::vector<PodSetToUngate> pod_sets = PodSetsToUngate(workload);
  ShiftWorkersBehindLeaders(pod_sets);
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    const PodSetAssignment& admitted = workload.admission->pod_set_assignments[i];
    if (!admitted.topology_assignment) continue;
    PodSetToUngate& pod_set = pod_sets[i];
    for (const Pod& pod : pods) {
      if (BelongsTo(pod, workload, admitted.name)) pod_set.pods.push_back(pod);
    }
    std::ranges::sort(pod_set.pods, {}, [](const Pod& pod) { return pod.key.name; });
    if (auto shifted = ShiftByAnnotation(pod_set); !shifted) {
      return tl::unexpected(shifted.error());
    }
    for (UngatedPod& pod : UngatePodSet(pod_set)) {
      if (!IsOnUnhealthyNode(pod, workload, pod_set.assignment)) ungated.push_back(std::move(pod));
    }
  }
  return ungated;
}

}  // namespace espalier
