// Requests to the engine and its answers: plain values without a wire or file format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "host/engine/nested_request.hpp"
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
  bool implied = false;              // R6.4: the flavor has a topology, the pod set requests none
  std::optional<std::string> group;  // R15.4
  SharedValue<TopologyAssignment> previous_assignment;  // R16.1
  PodTemplate
      pod_template;  // node selector, tolerations, affinity; labels and annotations for R6.10
  std::vector<PodSetUpdate> updates;  // in admission-check order (R6.10)

  bool operator==(const PodSetRequest&) const = default;
};

// Returns whether the first of two pod sets of a group is the leader: the workers are the larger
// one, and the first of two equal ones (R15.5).
constexpr bool LeaderComesFirst(std::int32_t pods_of_first, std::int32_t pods_of_second) {
  return pods_of_second > pods_of_first;
}

// Facts about the workload that section 17 (failed nodes) needs.
struct ReplacementContext {
  std::vector<std::string> unhealthy_nodes;  // not empty
  std::vector<PodSetAssignment> admitted;    // the workload's admitted assignments
  bool owned_by_single_pod = false;          // R17.2
  // Profile espalier: the pods of all unhealthy nodes get new places, slices kept whole. Otherwise
  // only the first node is replaced, as Kueue does.
  bool joint = false;

  bool operator==(const ReplacementContext&) const = default;
};

// Usage on one leaf, named as in R4.1; `usage` includes the pod slots under `pods`.
struct LeafUsage {
  std::string leaf;
  Resources usage;
  bool operator==(const LeafUsage&) const = default;
};

// One workload: its pod sets are placed together or not at all (sections 15 to 17), or as a tree.
struct WorkloadRequest {
  ObjectKey key;                                  // for messages only
  std::vector<PodSetRequest> pod_sets;            // in spec order
  bool simulate_empty = false;                    // ignore usage of admitted TAS workloads (R5.1)
  bool affinity_scores_consumed = false;          // R7.9: a second evaluation in one cycle
  std::optional<ReplacementContext> replacement;  // R15.9
  std::vector<LeafUsage> assumed_usage;           // by sibling flavors of this workload (R15.3)
  // Places the pod sets as groups inside groups (section 25); null: each as Kueue does. Its groups
  // of pods say which pod set they are of. What it asks for stands in the place of the topology
  // requests, groups, previous assignments and replacement above.
  SharedValue<NestedRequest> tree;
  // Profile espalier: the state's usage lacks the pods of previous assignments, and those of all
  // pod sets count before the first is placed. Otherwise each counts from its pod set on (R16.4).
  bool previous_pods_first = false;

  bool operator==(const WorkloadRequest&) const = default;
};

// Leaves that cannot hold one pod, by the first reason that rules each out (R18.5).
struct ExclusionCounts {
  std::int64_t total_nodes = 0;
  std::int64_t node_selector = 0;
  std::int64_t affinity = 0;
  std::int64_t topology_domain = 0;
  FlatMap<std::int64_t> taints;     // textual taint -> leaves
  FlatMap<std::int64_t> resources;  // limiting resource -> leaves
  bool operator==(const ExclusionCounts&) const = default;
};

// Why a pod set was not placed, which is an answer and not an Error.
struct PlacementFailure {
  std::string reason;  // Kueue's own text (section 18)
  // Present when the request was valid and capacity was short.
  struct Shortfall {
    std::int64_t fit = 0;    // pods or slices that fit (R18.4)
    std::int64_t total = 0;  // pods or slices requested
    std::int32_t slice_size = 1;
    ExclusionCounts exclusions;
    bool operator==(const Shortfall&) const = default;
  };
  std::optional<Shortfall> shortfall;
  bool operator==(const PlacementFailure&) const = default;
};

// The answer for one pod set: an assignment, a failure, or neither, as R16.4 leaves a leader
// without an entry.
struct PodSetAnswer {
  std::string name;
  std::string flavor;
  SharedValue<TopologyAssignment> assignment;
  std::optional<PlacementFailure> failure;
  bool operator==(const PodSetAnswer&) const = default;
};

// The answer for one workload. Pod sets are in spec order; one that got no result is absent (R15.6,
// R17.1).
struct WorkloadAnswer {
  std::vector<PodSetAnswer> pod_sets;
  // The answer for each group of a tree; null for a request without one. A tree that is placed has
  // an assignment for each pod set that got pods; in one that is not the first pod set has failed.
  SharedValue<NestedAnswer> tree;

  // Returns the first failed pod set in spec order, or null when the workload is placed (R15.8).
  const PodSetAnswer* FirstFailure() const {
    for (const PodSetAnswer& answer : pod_sets) {
      if (answer.failure) return &answer;
    }
    return nullptr;
  }
  bool operator==(const WorkloadAnswer&) const = default;
};

// Returns how many pods a request is for, of a tree all that it may have.
inline std::int64_t PodsOf(const WorkloadRequest& request) {
  if (request.tree) return MostPods(request.tree->root);
  std::int64_t pods = 0;
  for (const PodSetRequest& pod_set : request.pod_sets) pods += pod_set.count;
  return pods;
}

// Returns whether the workload is placed.
inline bool Fits(const WorkloadAnswer& answer) { return answer.FirstFailure() == nullptr; }

// Reports how many requests were answered so far; may be empty.
using AnsweredProgress = std::function<void(std::size_t)>;

}  // namespace espalier
