// Everything read from a set of files: one cluster at one moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/model/flat_map.hpp"
#include "host/model/kueue_configuration.hpp"
#include "host/model/label_selector.hpp"
#include "host/model/node.hpp"
#include "host/model/topology.hpp"
#include "host/model/workload.hpp"

namespace espalier {

struct FlavorQuota {
  std::string flavor;
  struct Quota {
    std::string resource;
    Amount nominal = 0;
    std::optional<Amount> borrowing_limit;
    bool operator==(const Quota&) const = default;
  };
  std::vector<Quota> resources;
  bool operator==(const FlavorQuota&) const = default;
};

struct ResourceGroup {
  std::vector<std::string> covered_resources;
  std::vector<FlavorQuota> flavors;  // tried in this order (R21.12)
  bool operator==(const ResourceGroup&) const = default;
};

struct ClusterQueue {
  std::string name;
  std::string cohort;
  std::string queueing_strategy;  // BestEffortFIFO or StrictFIFO
  std::string stop_policy;        // None, Hold, HoldAndDrain
  std::vector<ResourceGroup> resource_groups;
  std::vector<std::string> admission_checks;
  FlatMap<std::vector<std::string>> admission_check_flavors;  // check -> the flavors it is for;
                                                              // absent: all of them
  std::string within_cluster_queue;   // preemption policy; empty reads as Never
  std::string reclaim_within_cohort;  // preemption policy; empty reads as Never
  // Selects the namespaces whose workloads it takes; absent: none.
  std::optional<LabelSelector> namespace_selector;
  std::vector<std::string> unknown_fields;  // fields of its spec that nothing here uses
  bool operator==(const ClusterQueue&) const = default;
};

struct LocalQueue {
  ObjectKey key;
  std::string cluster_queue;
  std::string stop_policy;
  bool operator==(const LocalQueue&) const = default;
};

struct AdmissionCheck {
  std::string name;
  std::string controller_name;
  std::optional<bool> active = {};  // its condition Active; absent: it has none
  bool operator==(const AdmissionCheck&) const = default;
};

struct Namespace {
  std::string name;
  StringMap labels;
  bool operator==(const Namespace&) const = default;
};

struct WorkloadPriorityClass {
  std::string name;
  std::int64_t value = 0;
  bool operator==(const WorkloadPriorityClass&) const = default;
};

struct Cluster {
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::vector<Topology> topologies;
  std::vector<ResourceFlavor> flavors;
  std::vector<ClusterQueue> cluster_queues;
  std::vector<LocalQueue> local_queues;
  std::vector<AdmissionCheck> admission_checks;
  std::vector<Namespace> namespaces;  // empty when they are not known
  std::vector<WorkloadPriorityClass> priority_classes;
  std::vector<Workload> workloads;  // Kueue Workloads, and batch Jobs with Kueue annotations that
                                    // no Workload in the input belongs to
  std::optional<KueueConfiguration> configuration;  // absent: Kueue's defaults, and no job is
                                                    // taken for one that Kueue does not manage
  bool operator==(const Cluster&) const = default;
};

}  // namespace espalier
