#include "tests/differential/shrinker.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace espalier::differential {
namespace {

// Collects smaller copies of one instance.
class Reductions {
 public:
  explicit Reductions(const Instance& instance) : instance_(instance) {}

  // A copy changed by `change`, unless that changes nothing.
  template <class Change>
  void Try(const Change& change) {
    Instance copy = instance_;
    change(copy);
    if (!Same(copy, instance_)) smaller_.push_back(std::move(copy));
  }

  // `list(instance)` without runs of its elements, long runs first.
  template <class List>
  void DropFrom(const List& list) {
    Instance probe = instance_;
    const std::ptrdiff_t size = std::ssize(list(probe));
    for (std::ptrdiff_t run = size; run > 0; run /= 2) {
      for (std::ptrdiff_t first = 0; first < size; first += run) {
        Try([&](Instance& copy) {
          auto& elements = list(copy);
          const auto begin = elements.begin() + first;
          elements.erase(begin, begin + std::min(run, size - first));
        });
      }
    }
  }

  // `map(instance)` without one of its keys.
  template <class Map>
  void DropKeys(const Map& map) {
    Instance probe = instance_;
    for (const auto& entry : map(probe)) {
      Try([&](Instance& copy) { map(copy).Erase(entry.first); });
    }
  }

  std::vector<Instance> Take() { return std::move(smaller_); }

 private:
  static bool Same(const Instance& a, const Instance& b) {
    return a.gates == b.gates && a.request == b.request && a.cluster.nodes == b.cluster.nodes &&
           a.cluster.topologies == b.cluster.topologies && a.cluster.flavors == b.cluster.flavors &&
           a.cluster.non_tas_usage == b.cluster.non_tas_usage &&
           a.cluster.tas_usage == b.cluster.tas_usage;
  }

  const Instance& instance_;
  std::vector<Instance> smaller_;
};

void ReduceGates(Reductions& reductions) {
  const FeatureGates defaults;
  for (bool FeatureGates::*gate :
       {&FeatureGates::profile_mixed, &FeatureGates::balanced_placement,
        &FeatureGates::respect_node_affinity_preferred, &FeatureGates::handle_overlapping_flavors,
        &FeatureGates::skip_reassignment_for_pod_owned_workloads,
        &FeatureGates::assignments_encoding_by_hostname_prefix,
        &FeatureGates::elastic_jobs_via_workload_slices_with_tas}) {
    reductions.Try([&](Instance& copy) {
      copy.gates.*gate = defaults.*gate;
      copy.cluster.share_usage_between_flavors = copy.gates.handle_overlapping_flavors;
    });
  }
}

void ReduceCluster(Reductions& reductions, const Instance& instance) {
  reductions.DropFrom([](Instance & copy) -> auto& { return copy.cluster.nodes; });
  reductions.DropFrom([](Instance & copy) -> auto& { return copy.cluster.tas_usage; });
  reductions.DropFrom([](Instance & copy) -> auto& { return copy.cluster.non_tas_usage; });
  reductions.DropFrom(
      [](Instance & copy) -> auto& { return copy.cluster.flavors.front().tolerations; });
  reductions.DropKeys(
      [](Instance & copy) -> auto& { return copy.cluster.flavors.front().node_labels; });
  for (std::size_t i = 0; i + 1 < instance.topology().levels.size(); ++i) {
    reductions.Try([&](Instance& copy) {
      auto& levels = copy.cluster.topologies.front().levels;
      levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(i));
    });
  }
  for (std::size_t i = 0; i < instance.cluster.nodes.size(); ++i) {
    reductions.Try([&](Instance& copy) { copy.cluster.nodes[i].taints.clear(); });
    reductions.DropKeys([i](Instance & copy) -> auto& { return copy.cluster.nodes[i].labels; });
    reductions.DropKeys([i](Instance & copy) -> auto& {
      return copy.cluster.nodes[i].allocatable;
    });
  }
  for (std::size_t i = 0; i < instance.cluster.tas_usage.size(); ++i) {
    reductions.DropKeys([i](Instance & copy) -> auto& { return copy.cluster.tas_usage[i].usage; });
  }
  for (std::size_t i = 0; i < instance.cluster.non_tas_usage.size(); ++i) {
    reductions.DropKeys([i](Instance & copy) -> auto& {
      return copy.cluster.non_tas_usage[i].usage;
    });
  }
}

void ReducePodSet(Reductions& reductions, const Instance& instance, std::size_t i) {
  const PodSetRequest& pod_set = instance.request.pod_sets[i];
  const auto reduce = [&](const auto& change) {
    reductions.Try([&](Instance& copy) { change(copy.request.pod_sets[i]); });
  };
  reduce([](PodSetRequest& copy) { copy.pod_template = {}; });
  reduce([](PodSetRequest& copy) { copy.pod_template.node_selector = {}; });
  reduce([](PodSetRequest& copy) { copy.pod_template.affinity.required.reset(); });
  reduce([](PodSetRequest& copy) { copy.updates.clear(); });
  reduce([](PodSetRequest& copy) { copy.group.reset(); });
  reduce([](PodSetRequest& copy) { copy.previous_assignment.reset(); });
  reduce([](PodSetRequest& copy) { copy.count /= 2; });
  reduce([](PodSetRequest& copy) { copy.count -= copy.count > 0 ? 1 : 0; });
  reductions.DropKeys([i](Instance & copy) -> auto& { return copy.request.pod_sets[i].requests; });
  reductions.DropFrom([i](Instance & copy) -> auto& {
    return copy.request.pod_sets[i].pod_template.tolerations;
  });
  reductions.DropFrom([i](Instance & copy) -> auto& {
    return copy.request.pod_sets[i].pod_template.affinity.preferred;
  });
  if (pod_set.pod_template.affinity.required) {
    reductions.DropFrom([i](Instance & copy) -> auto& {
      return *copy.request.pod_sets[i].pod_template.affinity.required;
    });
  }
  if (pod_set.previous_assignment) {
    reductions.DropFrom([i](Instance & copy) -> auto& {
      return copy.request.pod_sets[i].previous_assignment.Mutable().domains;
    });
  }
  if (pod_set.topology_request) {
    reduce([](PodSetRequest& copy) {
      copy.topology_request->slice_topology.reset();
      copy.topology_request->slice_size.reset();
    });
    reductions.DropFrom([i](Instance & copy) -> auto& {
      return copy.request.pod_sets[i].topology_request->slice_constraints;
    });
  }
}

void ReduceRequest(Reductions& reductions, const Instance& instance) {
  reductions.DropFrom([](Instance & copy) -> auto& { return copy.request.pod_sets; });
  reductions.DropFrom([](Instance & copy) -> auto& { return copy.request.assumed_usage; });
  reductions.Try([](Instance& copy) { copy.request.simulate_empty = false; });
  reductions.Try([](Instance& copy) { copy.request.affinity_scores_consumed = false; });
  reductions.Try([](Instance& copy) { copy.request.replacement.reset(); });
  for (std::size_t i = 0; i < instance.request.pod_sets.size(); ++i) {
    ReducePodSet(reductions, instance, i);
  }
  if (!instance.request.replacement) return;
  reductions.DropFrom([](Instance & copy) -> auto& { return copy.request.replacement->admitted; });
  for (std::size_t i = 0; i < instance.request.replacement->admitted.size(); ++i) {
    if (!instance.request.replacement->admitted[i].topology_assignment) continue;
    reductions.DropFrom([i](Instance & copy) -> auto& {
      return copy.request.replacement->admitted[i].topology_assignment.Mutable().domains;
    });
  }
}

std::vector<Instance> SmallerThan(const Instance& instance) {
  Reductions reductions(instance);
  ReduceCluster(reductions, instance);
  ReduceRequest(reductions, instance);
  ReduceGates(reductions);
  return reductions.Take();
}

}  // namespace

Instance Shrink(Instance instance, const std::function<bool(const Instance&)>& still_fails) {
  while (true) {
    std::vector<Instance> smaller = SmallerThan(instance);
    const auto found = std::find_if(smaller.begin(), smaller.end(), [&](const Instance& copy) {
      return !copy.request.pod_sets.empty() && still_fails(copy);
    });
    if (found == smaller.end()) return instance;
    instance = std::move(*found);
  }
}

}  // namespace espalier::differential
