#include "tests/oracle/demand.hpp"

#include <fmt/format.h>

#include "tests/oracle/leaf_matching.hpp"

namespace espalier::oracle {
namespace {

TopologyRequest RequestOf(const PodSetRequest& request) {
  return request.topology_request.value_or(TopologyRequest{});
}

// --- R6.3 ----------------------------------------------------------------------------------------

bool IsSliceOnly(const PodSetRequest& request) {
  const TopologyRequest topology = RequestOf(request);
  return !topology.required && !topology.preferred && !SliceConstraints(request).empty();
}

// --- R6.10 ---------------------------------------------------------------------------------------

OrReason<StringMap> MergeMaps(StringMap map, const StringMap& update, const std::string& what) {
  for (const auto& [key, value] : update) {
    const std::string* present = map.Find(key);
    if (present != nullptr && *present != value) {
      return tl::unexpected(
          fmt::format("conflict for {}: conflict for key={}, value1={}, value2={}", what, key,
                      *present, value));
    }
    map.Set(key, value);
  }
  return map;
}

bool SameToleration(const Toleration& a, const Toleration& b) {
  const auto operation = [](const Toleration& toleration) {
    return toleration.operation.empty() ? "Equal" : toleration.operation;
  };
  return a.key == b.key && operation(a) == operation(b) && a.value == b.value &&
         a.effect == b.effect;
}

OrReason<PodTemplate> MergeUpdate(PodTemplate pod, const PodSetUpdate& update) {
  const auto annotations = MergeMaps(pod.annotations, update.annotations, "annotations");
  if (!annotations) return tl::unexpected(annotations.error());
  const auto labels = MergeMaps(pod.labels, update.labels, "labels");
  if (!labels) return tl::unexpected(labels.error());
  const auto selector = MergeMaps(pod.node_selector, update.node_selector, "nodeSelector");
  if (!selector) return tl::unexpected(selector.error());
  pod.annotations = *annotations;
  pod.labels = *labels;
  pod.node_selector = *selector;
  for (const Toleration& added : update.tolerations) {
    bool present = false;
    for (const Toleration& toleration : pod.tolerations) {
      present = present || SameToleration(toleration, added);
    }
    if (!present) pod.tolerations.push_back(added);
  }
  return pod;
}

OrReason<PodTemplate> MergeUpdates(const PodSetRequest& request) {
  OrReason<PodTemplate> pod = request.pod_template;
  for (const PodSetUpdate& update : request.updates) {
    pod = MergeUpdate(*pod, update);
    if (!pod) {
      return tl::unexpected(fmt::format(
          "invalid podSetUpdate for PodSet {}, error: invalid admission check PodSetUpdate: {}",
          request.name, pod.error()));
    }
  }
  return pod;
}

// --- R6.7 ----------------------------------------------------------------------------------------

OrReason<std::map<std::size_t, std::int64_t>> InnerLayers(const Cluster& cluster,
                                                          const Demand& demand) {
  std::map<std::size_t, std::int64_t> inner;
  std::int64_t previous_size = demand.slice_size;
  std::size_t previous_level = demand.slice_level;
  for (std::size_t i = 1; i < demand.constraints.size(); ++i) {
    const auto& [topology, size] = demand.constraints[i];
    const auto level = cluster.LevelOf(topology);
    if (!level) {
      return tl::unexpected("no requested topology level for additional slice layer: " + topology);
    }
    if (*level <= previous_level) {
      return tl::unexpected(
          fmt::format("additional slice layer topology {} must be at a lower level than {}",
                      topology, cluster.levels[previous_level]));
    }
    if (size == 0) {
      return tl::unexpected(std::string(kUndefined) + "additional slice layer of size 0");
    }
    if (previous_size % size != 0) {
      return tl::unexpected(
          fmt::format("additional slice layer size {} must evenly divide parent layer size {}",
                      size, previous_size));
    }
    for (std::size_t l = previous_level + 1; l <= *level; ++l) inner[l] = size;
    previous_size = size;
    previous_level = *level;
  }
  return inner;
}

// --- R5.11 ---------------------------------------------------------------------------------------

Vector WithPodSlot(const Resources& requests) {
  return Plus(ToVector(requests), {{std::string(kPodsResource), 1}});
}

}  // namespace

// --- R6.1 ----------------------------------------------------------------------------------------

std::vector<SliceConstraint> SliceConstraints(const PodSetRequest& request) {
  const TopologyRequest topology = RequestOf(request);
  if (!topology.slice_constraints.empty()) return topology.slice_constraints;
  if (topology.slice_topology) {
    return {{*topology.slice_topology, topology.slice_size.value_or(0)}};
  }
  return {};
}

// --- R6.2 ----------------------------------------------------------------------------------------

OrReason<std::int64_t> SliceSize(const PodSetRequest& request) {
  const std::vector<SliceConstraint> constraints = SliceConstraints(request);
  if (constraints.empty()) return 1;
  if (constraints.front().size <= 0) {
    return tl::unexpected(std::string("slice topology requested, but slice size not provided"));
  }
  return constraints.front().size;
}

// --- R6.4 ----------------------------------------------------------------------------------------

std::optional<std::string> LevelKey(const Cluster& cluster, const PodSetRequest& request) {
  const TopologyRequest topology = RequestOf(request);
  if (topology.required) return topology.required;
  if (topology.preferred) return topology.preferred;
  if (IsSliceOnly(request)) return cluster.levels.front();
  if (topology.unconstrained.value_or(false)) return cluster.levels.back();
  if (request.implied) return cluster.levels.back();
  return std::nullopt;
}

// --- R6.5, R6.6, R6.11 ---------------------------------------------------------------------------

OrReason<Demand> ResolveDemand(const Cluster& cluster, const OracleInput& input,
                               const PodSetRequest& workers, const PodSetRequest* leader) {
  Demand demand;
  demand.pods = workers.count;
  demand.leaders = leader == nullptr ? 0 : 1;
  demand.worker_requests = WithPodSlot(workers.requests);
  if (leader != nullptr) demand.leader_requests = WithPodSlot(leader->requests);
  demand.constraints = SliceConstraints(workers);
  demand.required = RequestOf(workers).required.has_value();
  demand.unconstrained =
      RequestOf(workers).unconstrained.value_or(false) || workers.implied || IsSliceOnly(workers);

  const auto pod_template = MergeUpdates(workers);  // 1
  if (!pod_template) return tl::unexpected(pod_template.error());
  demand.pod_template = *pod_template;
  for (const Toleration& toleration : input.flavor.tolerations) {
    demand.pod_template.tolerations.push_back(toleration);
  }

  const auto slice_size = SliceSize(workers);  // 2
  if (!slice_size) return tl::unexpected(slice_size.error());
  demand.slice_size = *slice_size;

  const auto level_key = LevelKey(cluster, workers);  // 3
  if (!level_key) return tl::unexpected(std::string("topology level not specified"));

  const auto requested_level = cluster.LevelOf(*level_key);  // 4
  if (!requested_level) return tl::unexpected("no requested topology level: " + *level_key);
  demand.requested_level = *requested_level;

  const std::string slice_key =  // 5
      demand.constraints.empty() ? cluster.levels.back() : demand.constraints.front().topology;
  const auto slice_level = cluster.LevelOf(slice_key);
  if (!slice_level) {
    return tl::unexpected("no requested topology level for slices: " + slice_key);
  }
  demand.slice_level = *slice_level;

  if (demand.requested_level > demand.slice_level) {  // 6
    return tl::unexpected(fmt::format("podset slice topology {} is above the podset topology {}",
                                      slice_key, *level_key));
  }

  const auto inner = InnerLayers(cluster, demand);  // 7
  if (!inner) return tl::unexpected(inner.error());
  demand.inner = *inner;

  // 8 is left to the Kubernetes API: a selector that is no label selector never gets here.
  const NodeAffinity& affinity = demand.pod_template.affinity;
  if (affinity.required && !IsParseable(*affinity.required)) {  // 9
    return tl::unexpected(std::string("invalid affinity node selectors"));
  }
  if (input.gates.respect_node_affinity_preferred && !IsParseable(affinity.preferred)) {  // 10
    return tl::unexpected(std::string("invalid preferred node affinity terms"));
  }
  return demand;
}

}  // namespace espalier::oracle
