// Values that use every field the wire carries.
#pragma once

#include <cstdint>
#include <vector>

#include "host/engine/request.hpp"
#include "host/packing/cluster_state.hpp"
#include "tests/generated/random.hpp"

namespace espalier {

inline constexpr std::int64_t kPlenty = std::int64_t{1} << 30;  // of memory to decode with

inline StringMap SampleMap(Random& random, const char* prefix) {
  StringMap map;
  for (auto i = 0ul, n = random.Below(4); i < n; ++i) {
    map.Set(prefix + std::to_string(random.Below(8)),
            random.Below(3) ? std::to_string(random.Below(5)) : "");
  }
  return map;
}

inline Resources SampleResources(Random& random) {
  constexpr Amount kAmounts[] = {
      0, 1, 250, -1, std::numeric_limits<Amount>::max(), std::numeric_limits<Amount>::min()};
  Resources resources;
  for (const char* name : {"cpu", "memory", "nvidia.com/gpu", ""}) {
    if (random.Below(2)) resources.Set(name, kAmounts[random.Below(std::size(kAmounts))]);
  }
  return resources;
}

inline std::vector<Toleration> SampleTolerations(Random& random) {
  std::vector<Toleration> tolerations;
  for (auto i = 0ul, n = random.Below(3); i < n; ++i) {
    tolerations.push_back({"key", random.Below(2) ? "Exists" : "", "", "NoSchedule"});
  }
  return tolerations;
}

inline NodeSelectorTerm SampleTerm(Random& random) {
  NodeSelectorTerm term;
  if (random.Below(2)) term.match_expressions.push_back({"zone", "In", {"a", "b"}});
  if (random.Below(2)) term.match_fields.push_back({"metadata.name", "NotIn", {}});
  return term;
}

inline TopologyAssignment SampleAssignment(Random& random) {
  TopologyAssignment assignment;
  if (random.Below(8) == 0) return assignment;
  assignment.levels = {"block", "kubernetes.io/hostname"};
  for (auto i = 0ul, n = random.Below(4); i < n; ++i) {
    assignment.domains.push_back({{"b" + std::to_string(i), random.Below(4) ? "h" : ""},
                                  static_cast<std::int32_t>(random.Below(9))});
  }
  return assignment;
}

inline TopologyRequest SampleTopologyRequest(Random& random) {
  TopologyRequest request;
  if (random.Below(2)) request.required = random.Below(2) ? "block" : "";
  if (random.Below(2)) request.preferred = "rack";
  if (random.Below(2)) request.unconstrained = random.Below(2) == 0;
  if (random.Below(2)) request.slice_topology = "rack";
  if (random.Below(2)) request.slice_size = static_cast<std::int32_t>(random.Below(4)) - 1;
  if (random.Below(2)) request.slice_constraints = {{"block", 8}, {"rack", 0}};
  if (random.Below(2)) request.pod_set_group_name = "group";
  if (random.Below(2)) request.pod_index_label = "index";
  if (random.Below(2)) request.sub_group_index_label = "sub";
  if (random.Below(2)) request.sub_group_count = 0;
  return request;
}

// Tells the pod sets of one workload apart; the first may go without.
inline std::string SampleSuffix(std::size_t pod_set) {
  return pod_set == 0 ? "" : "-" + std::to_string(pod_set);
}

inline PodSetRequest SamplePodSet(Random& random) {
  PodSetRequest pod_set;
  pod_set.name = "set-" + std::to_string(random.Below(3));
  pod_set.flavor = random.Below(2) ? "gpu" : "cpu";
  pod_set.count = static_cast<std::int32_t>(random.Below(100));
  pod_set.requests = SampleResources(random);
  if (random.Below(2)) pod_set.topology_request = SampleTopologyRequest(random);
  pod_set.implied = random.Below(2);
  if (random.Below(2)) pod_set.group = random.Below(2) ? "group" : "";
  if (random.Below(3) == 0) pod_set.previous_assignment = SampleAssignment(random);
  pod_set.pod_template.node_selector = SampleMap(random, "label");
  pod_set.pod_template.tolerations = SampleTolerations(random);
  if (random.Below(2)) {
    pod_set.pod_template.affinity.required.emplace();
    if (random.Below(2)) pod_set.pod_template.affinity.required->push_back(SampleTerm(random));
  }
  if (random.Below(2)) pod_set.pod_template.affinity.preferred = {{50, SampleTerm(random)}};
  if (random.Below(3) == 0) {
    pod_set.pod_template.labels = SampleMap(random, "l");
    pod_set.pod_template.annotations = SampleMap(random, "a");
    pod_set.updates.push_back({"set", SampleMap(random, "l"), SampleMap(random, "a"),
                               SampleMap(random, "s"), SampleTolerations(random)});
    if (random.Below(2)) pod_set.updates.emplace_back();
  }
  return pod_set;
}

inline ReplacementContext SampleReplacement(Random& random) {
  ReplacementContext context;
  context.unhealthy_nodes = {"node-1", "node-2"};
  context.owned_by_single_pod = random.Below(2);
  context.joint = random.Below(2);
  PodSetAssignment& admitted = context.admitted.emplace_back();
  admitted.name = "set-0";
  admitted.flavors = {{"cpu", "gpu"}};
  admitted.resource_usage = SampleResources(random);
  if (random.Below(2)) admitted.count = 0;
  if (random.Below(2)) admitted.topology_assignment = SampleAssignment(random);
  if (random.Below(2)) admitted.delayed_topology_request = "Pending";
  return context;
}

inline std::vector<WorkloadRequest> SampleRequests(std::uint32_t seed, int count) {
  Random random(seed);
  std::vector<WorkloadRequest> requests;
  for (int w = 0; w < count; ++w) {
    WorkloadRequest& request = requests.emplace_back();
    request.key = {"ns", "workload-" + std::to_string(w)};
    for (auto p = 0ul, n = random.Below(4); p < n; ++p) {
      request.pod_sets.push_back(SamplePodSet(random));
      request.pod_sets.back().name += SampleSuffix(p);
    }
    request.simulate_empty = random.Below(2);
    request.affinity_scores_consumed = random.Below(2);
    if (random.Below(4) == 0) request.replacement = SampleReplacement(random);
    if (random.Below(4) == 0) request.assumed_usage = {{"h1", SampleResources(random)}, {"h2", {}}};
  }
  return requests;
}

// Returns an answer of every kind for each request.
inline std::vector<WorkloadAnswer> SampleAnswers(const std::vector<WorkloadRequest>& requests,
                                                 std::uint32_t seed) {
  Random random(seed);
  std::vector<WorkloadAnswer> answers;
  for (const WorkloadRequest& request : requests) {
    WorkloadAnswer& answer = answers.emplace_back();
    for (const PodSetRequest& pod_set : request.pod_sets) {
      PodSetAnswer result{pod_set.name, pod_set.flavor, std::nullopt, std::nullopt};
      switch (random.Below(5)) {
        case 0:
          continue;
        case 1:
          result.assignment = SampleAssignment(random);
          break;
        case 2:
          result.failure = {"no such level", std::nullopt};
          break;
        case 3:
          result.failure = {"does not fit",
                            PlacementFailure::Shortfall{
                                3, 8, 2, {9, 1, 2, 3, {{"a:NoSchedule", 4}}, {{"cpu", 5}}}}};
          break;
        default:
          break;
      }
      answer.pod_sets.push_back(std::move(result));
    }
  }
  return answers;
}

inline ClusterStateInput SampleInput(std::uint32_t seed, int nodes) {
  Random random(seed);
  ClusterStateInput input;
  input.topologies = {{"two-level", {"block", "kubernetes.io/hostname"}}, {"empty", {}}};
  input.flavors.push_back({"gpu",
                           SampleMap(random, "l"),
                           {{"k", "v", "NoSchedule"}},
                           SampleTolerations(random),
                           "two-level"});
  input.flavors.push_back({"cpu", {}, {}, {}, std::nullopt});
  for (int i = 0; i < nodes; ++i) {
    const std::string name = "node-" + std::to_string(i);
    input.nodes.push_back({name,
                           SampleMap(random, "label"),
                           {},
                           random.Below(2) == 0,
                           random.Below(2) == 0,
                           SampleResources(random)});
    if (random.Below(2)) input.nodes.back().taints = {{"k", "", "NoExecute"}};
    if (random.Below(2)) input.non_tas_usage.push_back({name, SampleResources(random)});
    if (random.Below(2)) input.tas_usage.push_back({"gpu", name, SampleResources(random)});
  }
  input.share_usage_between_flavors = random.Below(2);
  return input;
}

}  // namespace espalier
