#include "host/engine/booked_usage.hpp"

#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "host/engine/assignments.hpp"
#include "host/model/by_name.hpp"

namespace espalier {
namespace {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using PodsByLeaf = std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>>;

// Returns the pods that are on a leaf already and need no booking; null: none.
PodsByLeaf PodsOn(const SharedValue<TopologyAssignment>* assignment) {
  PodsByLeaf pods;
  if (assignment == nullptr || !*assignment) return pods;
  pods.reserve((*assignment)->domains.size());
  for (const TopologyDomainAssignment& domain : (*assignment)->domains) {
    pods[DomainIdText(domain.values)] += domain.count;
  }
  return pods;
}

}  // namespace

std::vector<AddedPods> PodsAdded(const WorkloadRequest& request, const WorkloadAnswer& answer) {
  std::vector<AddedPods> pods;
  const auto pod_sets = ByName(request.pod_sets);
  std::unordered_map<std::string_view, const PodSetAssignment*> admitted;
  if (request.replacement) admitted = ByName(request.replacement->admitted);
  DomainIds ids;
  for (const PodSetAnswer& placed : answer.pod_sets) {
    const PodSetRequest* pod_set = FindOrNull(pod_sets, placed.name);
    if (!placed.assignment || pod_set == nullptr) continue;
    const PodSetAssignment* was = FindOrNull(admitted, placed.name);
    const PodsByLeaf before = PodsOn(!request.replacement ? &pod_set->previous_assignment
                                     : was != nullptr     ? &was->topology_assignment
                                                          : nullptr);
    for (const TopologyDomainAssignment& domain : placed.assignment->domains) {
      const std::string_view leaf = ids.Of(domain.values);
      const auto stayed = before.find(leaf);
      const std::int64_t added = domain.count - (stayed == before.end() ? 0 : stayed->second);
      if (added > 0) pods.push_back({pod_set, std::string(leaf), added});
    }
  }
  return pods;
}

std::vector<FlavorLeafUsage> BookedUsage(const WorkloadRequest& request,
                                         const WorkloadAnswer& answer) {
  std::vector<FlavorLeafUsage> booked;
  for (AddedPods& added : PodsAdded(request, answer)) {
    booked.push_back({added.pod_set->flavor, std::move(added.leaf),
                      UsageOfPods(added.pod_set->requests, added.count)});
  }
  return booked;
}

}  // namespace espalier
