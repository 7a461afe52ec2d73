#include "host/kueue/cycle/quota.hpp"

#include <algorithm>

#include "host/kueue/objects/workload_status.hpp"
#include "host/model/by_name.hpp"

namespace espalier {
namespace {

Amount ValueOr0(const QuotaUsage& usage, const FlavorResource& key) {
  const auto it = usage.find(key);
  return it == usage.end() ? 0 : it->second;
}

// The share of `amount`, recorded for `count` pods, that is left when `reclaimable` are done.
Amount Remaining(Amount amount, std::int32_t count, std::int32_t reclaimable) {
  if (count <= 0 || reclaimable <= 0) return amount;
  return SaturatingMultiply(amount / count, std::max(count - reclaimable, 0));
}

}  // namespace

Resources RemainingUsage(const PodSetAssignment& assignment, std::int32_t reclaimable_pods) {
  Resources usage;
  for (const auto& [resource, amount] : assignment.resource_usage) {
    usage.Set(resource, Remaining(amount, assignment.count.value_or(0), reclaimable_pods));
  }
  return usage;
}

QuotaUsage QuotaUsageOf(const Workload& workload) {
  QuotaUsage usage;
  if (!HasReservation(workload)) return usage;
  const auto reclaimable_pods = ByName(workload.reclaimable_pods);
  for (const PodSetAssignment& assignment : workload.admission->pod_set_assignments) {
    const ReclaimablePod* pods = FindOrNull(reclaimable_pods, assignment.name);
    const std::int32_t reclaimable = pods == nullptr ? 0 : pods->count;
    for (const auto& [resource, amount] : RemainingUsage(assignment, reclaimable)) {
      const std::string* flavor = assignment.flavors.Find(resource);
      if (flavor == nullptr) continue;
      Amount& slot = usage[{*flavor, resource}];
      slot = SaturatingAdd(slot, amount);
    }
  }
  return usage;
}

Quota::Quota(const ClusterQueue& queue) {
  for (const ResourceGroup& group : queue.resource_groups) {
    for (const FlavorQuota& flavor : group.flavors) {
      for (const FlavorQuota::Quota& quota : flavor.resources) {
        nominal_[{flavor.flavor, quota.resource}] = quota.nominal;
      }
    }
  }
}

Amount Quota::Nominal(const FlavorResource& key) const { return ValueOr0(nominal_, key); }

Amount Quota::Used(const FlavorResource& key) const { return ValueOr0(used_, key); }

void Quota::Add(const QuotaUsage& usage) {
  for (const auto& [key, amount] : usage) used_[key] = SaturatingAdd(used_[key], amount);
}

void Quota::Remove(const QuotaUsage& usage) {
  for (const auto& [key, amount] : usage) used_[key] = SaturatingSubtract(used_[key], amount);
}

}  // namespace espalier
