// What the engine is asked and what it answers: plain values, no wire or file format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "host/model/node.hpp"
#include "host/model/resources.hpp"
#include "host/model/shared_value.hpp"
#include "host/model/topology.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// One pod set to place on one flavor (R1.3).
struct PodSetRequest {
  std::string name;
  std::string flavor;
  std::int32_t count = 0;  // pods
  Resources requests;      // per pod, canonical, without the pod slot (R5.11 adds it)
  std::optional<TopologyRequest> topology_request;
  bool implied = false;              // R6.4: the flavor has a topology, the pod set asks none
  std::optional<std::string> group;  // R15.4
  SharedValue<TopologyAssignment> previous_assignment;  // R16.1
  PodTemplate
      pod_template;  // node selector, tolerations, affinity; labels and annotations for R6.10
  std::vector<PodSetUpdate> updates;  // in admission-check order (R6.10)

  bool operator==(const PodSetRequest&) const = default;
};

// Facts about the workload that section 17 (failed nodes) needs.
struct ReplacementContext {
  std::vector<std::string> unhealthy_nodes;  // not empty; only the first is replaced
  std::vector<PodSetAssignment> admitted;    // the workload's admitted assignments
  bool owned_by_single_pod = false;          // R17.2

  bool operator==(const ReplacementContext&) const = default;
};

// Usage on one leaf, named as in R4.1; `usage` includes the pod slots under `pods`.
struct LeafUsage {
  std::string leaf;
  Resources usage;
  bool operator==(const LeafUsage&) const = default;
};

// One workload: its pod sets are placed together or not at all (sections 15 to 17).
struct WorkloadRequest {
  ObjectKey key;                                  // for messages only
  std::vector<PodSetRequest> pod_sets;            // in spec order
  bool simulate_empty = false;                    // ignore usage of admitted TAS workloads (R5.1)
  bool affinity_scores_consumed = false;          // R7.9: a second evaluation in one cycle
  std::optional<ReplacementContext> replacement;  // R15.9
  std::vector<LeafUsage> assumed_usage;           // by sibling flavors of this workload (R15.3)

  bool operator==(const WorkloadRequest&) const = default;
};

// Leaves that cannot hold one pod, by the first thing that rules each out (R18.5).
struct ExclusionCounts {
  std::int64_t total_nodes = 0;
  std::int64_t node_selector = 0;
  std::int64_t affinity = 0;
  std::int64_t topology_domain = 0;
  FlatMap<std::int64_t> taints;     // textual taint -> leaves
  FlatMap<std::int64_t> resources;  // limiting resource -> leaves
  bool operator==(const ExclusionCounts&) const = default;
};

// Why a pod set was not placed. "Does not fit" is an answer, not an Error.
struct PlacementFailure {
  std::string reason;  // Kueue's own text (section 18)
  // Present when the request was sound and capacity was short.
  struct Shortfall {
    std::int64_t fit = 0;    // pods or slices that fit (R18.4)
    std::int64_t total = 0;  // pods or slices asked for
    std::int32_t slice_size = 1;
    ExclusionCounts exclusions;
    bool operator==(const Shortfall&) const = default;
  };
  std::optional<Shortfall> shortfall;
  bool operator==(const PlacementFailure&) const = default;
};

// Neither an assignment nor a failure is possible: R16.4 leaves a leader without an entry.
struct PodSetAnswer {
  std::string name;
  std::string flavor;
  SharedValue<TopologyAssignment> assignment;
  std::optional<PlacementFailure> failure;
  bool operator==(const PodSetAnswer&) const = default;
};

// Pod sets in spec order; one that got no result is absent (R15.6, R17.1).
struct WorkloadAnswer {
  std::vector<PodSetAnswer> pod_sets;

  // The first failed pod set in spec order, or null when the workload is placed (R15.8).
  const PodSetAnswer* FirstFailure() const {
    for (const PodSetAnswer& answer : pod_sets) {
      if (answer.failure) return &answer;
    }
    return nullptr;
  }
  bool operator==(const WorkloadAnswer&) const = default;
};

}  // namespace espalier
