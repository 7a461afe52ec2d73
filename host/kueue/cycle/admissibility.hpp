// Reasons for which a workload is passed over before a flavor is chosen for it (R21.14).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "host/kueue/objects/cluster_lookup.hpp"

namespace espalier {

struct AdmissibilityOptions {
  std::int64_t now_seconds = 0;  // Unix time
  bool release_stopped = false;  // as if no ClusterQueue and no LocalQueue were stopped
};

// Why a workload is passed over.
struct PassedOver {
  std::string reason;         // Kueue's text
  bool is_set_aside = false;  // those behind it are evaluated, in a StrictFIFO queue too
};

class Admissibility {
 public:
  // Keeps references to both arguments, which must outlive it and keep their queues, flavors,
  // checks and namespaces in place.
  Admissibility(const Cluster& cluster, const ClusterLookup& lookup,
                const AdmissibilityOptions& options);

  // Returns why the head of a ClusterQueue is passed over, or nullopt when it is to be evaluated.
  std::optional<PassedOver> WhyPassedOver(const Workload& workload,
                                          const std::string& cluster_queue) const;

  // Returns why a pending workload is not even in its queue, as a clause such as "its LocalQueue
  // a/b has stopPolicy Hold"; nullopt when it is.
  std::optional<std::string> WhyNoHead(const Workload& workload) const;

  // Returns why a ClusterQueue is inactive, as a clause such as "it has stopPolicy Hold"; nullopt
  // when it is active.
  std::optional<std::string> WhyInactive(const ClusterQueue& queue) const;

 private:
  std::optional<PassedOver> WhyNamespaceRefused(const Workload& workload,
                                                const ClusterQueue& queue) const;
  std::optional<std::string> WhatIsMissing(const ClusterQueue& queue) const;
  std::optional<std::string> WhyChecksDoNotGo(const ClusterQueue& queue) const;
  bool IsStopped(const std::string& stop_policy) const;

  const ClusterLookup& lookup_;
  AdmissibilityOptions options_;
  std::map<std::string_view, const Namespace*> namespaces_;
  std::map<std::string_view, std::string> inactive_;  // ClusterQueues -> why
};

}  // namespace espalier
