#include "host/kueue/cycle/admissibility.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "host/kueue/objects/delayed_topology.hpp"
#include "host/model/label_selector.hpp"

namespace espalier {
namespace {

bool HasFailedChecks(const Workload& workload) {
  return std::ranges::any_of(workload.admission_checks, [](const AdmissionCheckState& check) {
    return check.state == "Retry" || check.state == "Rejected";
  });
}

std::string TimeText(std::int64_t unix_seconds) {
  constexpr std::int64_t kYear10000 = 253402300800;
  if (unix_seconds < 0 || unix_seconds >= kYear10000) {
    return fmt::format("Unix second {}", unix_seconds);
  }
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(unix_seconds)));
}

}  // namespace

Admissibility::Admissibility(const Cluster& cluster, const ClusterLookup& lookup,
                             const AdmissibilityOptions& options)
    : lookup_(lookup), options_(options) {
  for (const Namespace& name_space : cluster.namespaces) {
    namespaces_.emplace(name_space.name, &name_space);
  }
  for (const ClusterQueue& queue : cluster.cluster_queues) {
    if (auto why = WhyInactive(queue)) inactive_.emplace(queue.name, *std::move(why));
  }
}

std::optional<PassedOver> Admissibility::WhyPassedOver(const Workload& workload,
                                                       const std::string& cluster_queue) const {
  if (HasFailedChecks(workload)) return PassedOver{"The workload has failed admission checks"};
  if (inactive_.contains(cluster_queue)) {
    return PassedOver{fmt::format("ClusterQueue {} is inactive", cluster_queue)};
  }
  const ClusterQueue* queue = lookup_.Queue(cluster_queue);
  if (queue == nullptr) return PassedOver{fmt::format("ClusterQueue {} not found", cluster_queue)};
  if (auto refused = WhyNamespaceRefused(workload, *queue)) return refused;
  if (!workload.resources_error.empty()) return PassedOver{workload.resources_error};
  return std::nullopt;
}

std::optional<PassedOver> Admissibility::WhyNamespaceRefused(const Workload& workload,
                                                             const ClusterQueue& queue) const {
  const PassedOver mismatch{"workload namespace doesn't match ClusterQueue selector", true};
  if (namespaces_.empty()) {
    return queue.namespace_selector ? std::nullopt : std::optional(mismatch);
  }
  const auto found = namespaces_.find(workload.key.namespace_);
  if (found == namespaces_.end()) {
    return PassedOver{
        fmt::format("workload namespace \"{0}\" does not exist: Namespace \"{0}\" not found",
                    workload.key.namespace_)};
  }
  const bool matches =
      queue.namespace_selector && Selects(*queue.namespace_selector, found->second->labels);
  return matches ? std::nullopt : std::optional(mismatch);
}

std::optional<std::string> Admissibility::WhyNoHead(const Workload& workload) const {
  if (!workload.active) return "its spec.active is false";
  const auto is_false = [](const Condition& condition) {
    return condition.type == "Requeued" && condition.status == "False";
  };
  if (std::ranges::any_of(workload.conditions, is_false)) return "its condition Requeued is False";
  if (workload.requeue_at_seconds && *workload.requeue_at_seconds > options_.now_seconds) {
    return fmt::format("it is requeued at {} only", TimeText(*workload.requeue_at_seconds));
  }
  const LocalQueue* local_queue = lookup_.LocalQueueOf(workload);
  if (local_queue != nullptr && IsStopped(local_queue->stop_policy)) {
    return fmt::format("its LocalQueue {} has stopPolicy {}", local_queue->key.ToString(),
                       local_queue->stop_policy);
  }
  return std::nullopt;
}

std::optional<std::string> Admissibility::WhyInactive(const ClusterQueue& queue) const {
  if (IsStopped(queue.stop_policy)) return fmt::format("it has stopPolicy {}", queue.stop_policy);
  if (auto missing = WhatIsMissing(queue)) return missing;
  return WhyChecksDoNotGo(queue);
}

std::optional<std::string> Admissibility::WhatIsMissing(const ClusterQueue& queue) const {
  for (const ResourceGroup& group : queue.resource_groups) {
    for (const FlavorQuota& quota : group.flavors) {
      const ResourceFlavor* flavor = lookup_.Flavor(quota.flavor);
      if (flavor == nullptr) {
        return fmt::format("its ResourceFlavor {} is not in the input", quota.flavor);
      }
      if (flavor->topology_name && lookup_.TopologyOf(*flavor) == nullptr) {
        return fmt::format("the Topology {} of its ResourceFlavor {} is not in the input",
                           *flavor->topology_name, flavor->name);
      }
    }
  }
  for (const std::string& name : queue.admission_checks) {
    const AdmissionCheck* check = lookup_.Check(name);
    if (check == nullptr) return fmt::format("its AdmissionCheck {} is not in the input", name);
    if (check->active == false) return fmt::format("its AdmissionCheck {} is not active", name);
  }
  return std::nullopt;
}

std::optional<std::string> Admissibility::WhyChecksDoNotGo(const ClusterQueue& queue) const {
  std::size_t multi_kueue = 0;
  bool provisioning = false;
  for (const std::string& name : queue.admission_checks) {
    const AdmissionCheck* check = lookup_.Check(name);
    provisioning |= check->controller_name == kProvisioningRequest;
    if (check->controller_name != kMultiKueue) continue;
    ++multi_kueue;
    if (queue.admission_check_flavors.Contains(name)) {
      return fmt::format("its MultiKueue check {} is given per flavor", name);
    }
  }
  if (multi_kueue > 1) return "it has more than one MultiKueue check";
  if (multi_kueue > 0 && provisioning) {
    return "it has a MultiKueue check together with a ProvisioningRequest check";
  }
  return std::nullopt;
}

bool Admissibility::IsStopped(const std::string& stop_policy) const {
  return !options_.release_stopped && !stop_policy.empty() && stop_policy != "None";
}

}  // namespace espalier
