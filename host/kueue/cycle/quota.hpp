// The quota of one ClusterQueue, without cohort or borrowing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "host/model/cluster.hpp"

namespace espalier {

struct FlavorResource {
  std::string flavor;
  std::string resource;
  auto operator<=>(const FlavorResource&) const = default;
};

using QuotaUsage = std::map<FlavorResource, Amount>;

// Returns the recorded usage of one pod set of an admitted workload, less its reclaimable pods.
Resources RemainingUsage(const PodSetAssignment& assignment, std::int32_t reclaimable_pods);

// Returns what an admitted workload takes from its ClusterQueue: the recorded usage, less
// reclaimable pods. Empty without a reservation.
QuotaUsage QuotaUsageOf(const Workload& workload);

class Quota {
 public:
  explicit Quota(const ClusterQueue& queue);

  Amount Nominal(const FlavorResource& key) const;  // 0 when the queue does not list it
  Amount Used(const FlavorResource& key) const;

  void Add(const QuotaUsage& usage);
  void Remove(const QuotaUsage& usage);

 private:
  QuotaUsage nominal_;
  QuotaUsage used_;
};

}  // namespace espalier
