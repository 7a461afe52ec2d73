#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "tests/differential/generator.hpp"

namespace espalier::differential {
namespace {

// --- gates ---------------------------------------------------------------------------------------

FeatureGates GenerateGates(Random& random) {
  FeatureGates gates;
  gates.profile_mixed = random.Chance(80);
  gates.balanced_placement = random.Chance(35);
  gates.respect_node_affinity_preferred = random.Chance(40);
  gates.handle_overlapping_flavors = random.Chance(88);
  gates.skip_reassignment_for_pod_owned_workloads = random.Chance(85);
  gates.assignments_encoding_by_hostname_prefix = random.Chance(90);
  gates.elastic_jobs_via_workload_slices_with_tas = random.Chance(20);
  return gates;
}

// --- pod template --------------------------------------------------------------------------------

NodeSelectorRequirement Requirement(Random& random) {
  switch (random.Between(0, 7)) {
    case 0:
      return {"disk", "In", {random.Pick({"ssd", "hdd"})}};
    case 1:
      return {"disk", "NotIn", {"hdd"}};
    case 2:
      return {"zone", "In", {"a", random.Pick({"b", "c"})}};
    case 3:
      return {"zone", "Exists", {}};
    case 4:
      return {"gen", "DoesNotExist", {}};
    case 5:
      return {"gen", "Gt", {random.Pick({"0", "4", "+3", "007"})}};
    case 6:
      return {"gen", "Lt", {random.Pick({"5", "8", "-1"})}};
    default:
      return {"zone", "NotIn", {"b", "c"}};
  }
}

// Some of these make the whole affinity unparseable (R7.5).
NodeSelectorRequirement BrokenRequirement(Random& random) {
  switch (random.Between(0, 3)) {
    case 0:
      return {"gen", "Gt", {"x"}};
    case 1:
      return {"gen", "Lt", {"1", "2"}};
    case 2:
      return {"zone", "In", {}};
    default:
      return {"zone", "Exists", {"a"}};
  }
}

NodeSelectorTerm Term(Random& random, const std::vector<Node>& nodes) {
  NodeSelectorTerm term;
  for (std::int64_t i = random.Between(0, 2); i > 0; --i) {
    term.match_expressions.push_back(Requirement(random));
  }
  if (!nodes.empty() && random.Chance(15)) {
    term.match_fields.push_back(
        {"metadata.name", random.Pick({"In", "NotIn"}), {random.Pick(nodes).name}});
  }
  return term;
}

// Sometimes unparseable.
NodeSelectorTerm AnyTerm(Random& random, const std::vector<Node>& nodes) {
  NodeSelectorTerm term = Term(random, nodes);
  if (random.Chance(1)) term.match_expressions.push_back(BrokenRequirement(random));
  return term;
}

Toleration GenerateToleration(Random& random) {
  return random.Pick<Toleration>({{"spot", "Exists", "", ""},
                                  {"spot", "", "", "NoExecute"},
                                  {"dedicated", "Equal", "ml", "NoSchedule"},
                                  {"dedicated", "", "other", ""},
                                  {"maint", "Exists", "", "NoExecute"},
                                  {"", "Exists", "", ""},
                                  {"", "Exists", "", "NoSchedule"},
                                  {"level", "Gt", "3", ""},
                                  {"level", "Lt", "9", "NoSchedule"},
                                  {"level", "Lt", "+9", ""},
                                  {"level", "Gt", "-1", "NoSchedule"},
                                  {"level", "Lt", "9223372036854775808", ""},
                                  {"spot", "exists", "", ""}});
}

PodTemplate GenerateTemplate(Random& random, const std::vector<Node>& nodes) {
  PodTemplate pod;
  if (random.Chance(12)) pod.node_selector.Set("disk", random.Pick({"ssd", "hdd"}));
  if (random.Chance(5)) pod.node_selector.Set("zone", random.Pick({"a", "b"}));
  if (random.Chance(35)) {
    for (std::int64_t i = random.Between(1, 3); i > 0; --i) {
      pod.tolerations.push_back(GenerateToleration(random));
    }
  }
  if (random.Chance(10)) {
    pod.affinity.required.emplace();
    for (std::int64_t i = random.Between(random.Chance(5) ? 0 : 1, 3); i > 0; --i) {
      pod.affinity.required->push_back(AnyTerm(random, nodes));
    }
  }
  if (random.Chance(40)) {
    for (std::int64_t i = random.Between(1, 3); i > 0; --i) {
      const std::int32_t weight = random.Pick({0, 1, 5, 10, 100});
      pod.affinity.preferred.push_back({weight, AnyTerm(random, nodes)});
    }
  }
  return pod;
}

PodSetUpdate GenerateUpdate(Random& random, const std::string& pod_set) {
  PodSetUpdate update;
  update.name = pod_set;
  if (random.Chance(50)) update.node_selector.Set("zone", random.Pick({"a", "b"}));
  if (random.Chance(30)) update.labels.Set("team", random.Pick({"x", "y"}));
  if (random.Chance(30)) update.annotations.Set("note", random.Pick({"x", "y"}));
  if (random.Chance(40)) update.tolerations.push_back(GenerateToleration(random));
  return update;
}

// --- resources and counts ------------------------------------------------------------------------

Amount AmountOn(const Node& node, std::string_view resource) {
  const Amount* amount = node.allocatable.Find(resource);
  return amount == nullptr ? 0 : *amount;
}

// Mostly a small fraction of what some node has.
Resources GenerateRequests(Random& random, const std::vector<Node>& nodes) {
  Resources requests;
  if (random.Chance(95)) requests.Set("cpu", random.Pick({0, 100, 500, 1000, 1000, 2000, 4000}));
  if (nodes.empty()) return requests;
  const Node& node = random.Pick(nodes);
  if (random.Chance(60)) requests.Set("cpu", AmountOn(node, "cpu") / random.Between(1, 6));
  if (random.Chance(25)) requests.Set("memory", AmountOn(node, "memory") / random.Between(1, 8));
  if (AmountOn(node, "nvidia.com/gpu") > 0 && random.Chance(35)) {
    requests.Set("nvidia.com/gpu", random.Pick({1, 1, 1, 2, 4}));
  }
  if (random.Chance(1)) requests.Set("example.com/nope", random.Pick({0, 1}));
  if (random.Chance(1)) {
    requests.Set("memory", std::numeric_limits<Amount>::max() / random.Pick({1, 2, 5}));
  }
  return requests;
}

// Roughly how many pods the empty cluster holds.
std::int64_t RoughCapacity(const ClusterStateInput& cluster, const Resources& requests) {
  std::int64_t capacity = 0;
  for (const Node& node : cluster.nodes) {
    std::int64_t fit = AmountOn(node, kPodsResource);
    for (const auto& [name, request] : requests) {
      if (request > 0) fit = std::min(fit, AmountOn(node, name) / request);
    }
    capacity += fit;
  }
  return capacity;
}

// Often a multiple of `slice_size`, which may be anything.
std::int32_t GenerateCount(Random& random, const ClusterStateInput& cluster,
                           const Resources& requests, std::int32_t slice_size) {
  if (random.Chance(1)) return 0;
  const std::int64_t capacity = std::min<std::int64_t>(RoughCapacity(cluster, requests), 160);
  const std::int64_t most = random.Chance(40) ? 6 : std::max<std::int64_t>(1, capacity * 9 / 8);
  const std::int64_t count = random.Between(1, most);
  if (slice_size <= 1 || random.Chance(15)) return static_cast<std::int32_t>(count);
  return static_cast<std::int32_t>((count + slice_size - 1) / slice_size * slice_size);
}

// --- topology request ----------------------------------------------------------------------------

std::vector<SliceConstraint> GenerateLayers(Random& random, const Topology& topology,
                                            std::size_t first_level) {
  const auto levels = std::ssize(topology.levels);
  std::vector<SliceConstraint> layers;
  std::int32_t size = random.Pick({1, 2, 2, 3, 4, 4, 6, 8, 12});
  auto level = random.Between(static_cast<std::int64_t>(first_level), levels - 1);
  for (std::int64_t i = random.Pick({1, 1, 2, 2, 3}); i > 0 && level < levels; --i) {
    layers.push_back({topology.levels[static_cast<std::size_t>(level)], size});
    level += random.Between(random.Chance(95) ? 1 : 0, 2);
    const std::int32_t divisor = random.Pick({1, 2, 2, 3});
    if (size % divisor == 0 || random.Chance(5)) size = size / divisor;  // may become 0
  }
  return layers;
}

TopologyRequest GenerateTopologyRequest(Random& random, const Topology& topology) {
  TopologyRequest request;
  const auto level = static_cast<std::size_t>(random.Between(0, std::ssize(topology.levels) - 1));
  const std::string key = random.Chance(1) ? "cloud.com/unknown" : topology.levels[level];
  const std::int64_t kind = random.Between(1, 100);
  const bool slice_only = kind > 92;
  if (kind <= 45) {
    request.preferred = key;
  } else if (kind <= 70) {
    request.required = key;
  } else if (!slice_only) {
    request.unconstrained = random.Chance(98);
  }
  const bool sliced = slice_only || random.Chance(40);
  if (!sliced) return request;
  const std::size_t first = request.preferred || request.required ? level : 0;
  const auto layers = GenerateLayers(random, topology, random.Chance(96) ? first : 0);
  if (random.Chance(40)) {
    request.slice_topology = layers.front().topology;
    if (random.Chance(98)) request.slice_size = layers.front().size;
  } else {
    request.slice_constraints = layers;
  }
  return request;
}

std::int32_t SliceSize(const PodSetRequest& pod_set) {
  if (!pod_set.topology_request) return 1;
  const TopologyRequest& topology = *pod_set.topology_request;
  if (!topology.slice_constraints.empty()) return topology.slice_constraints.front().size;
  return topology.slice_size.value_or(1);
}

PodSetRequest GeneratePodSet(Random& random, const ClusterStateInput& cluster,
                             const std::string& name) {
  PodSetRequest pod_set;
  pod_set.name = name;
  pod_set.flavor = cluster.flavors.front().name;
  if (random.Chance(5)) {
    pod_set.implied = random.Chance(85);  // neither a request nor implied: R6.4
  } else {
    pod_set.topology_request = GenerateTopologyRequest(random, cluster.topologies.front());
  }
  pod_set.requests = GenerateRequests(random, cluster.nodes);
  pod_set.count = GenerateCount(random, cluster, pod_set.requests, SliceSize(pod_set));
  pod_set.pod_template = GenerateTemplate(random, cluster.nodes);
  if (random.Chance(6)) {
    for (std::int64_t i = random.Between(1, 2); i > 0; --i) {
      pod_set.updates.push_back(GenerateUpdate(random, name));
    }
  }
  return pod_set;
}

// --- previous and admitted assignments -----------------------------------------------------------

// Returns what the pod set would be given with another count, or any leaves with room or not.
TopologyAssignment SomeAssignment(Random& random, const Instance& instance,
                                  const PodSetRequest& pod_set) {
  if (random.Chance(60)) {
    Instance smaller = instance;
    smaller.request = {};
    smaller.request.pod_sets = {pod_set};
    smaller.request.pod_sets.front().group.reset();
    smaller.request.pod_sets.front().previous_assignment.reset();
    smaller.request.pod_sets.front().count =
        static_cast<std::int32_t>(random.Between(1, std::max(1, pod_set.count) * 5 / 4 + 1));
    smaller.gates.balanced_placement = false;
    const WorkloadAnswer answer = AskOracle(smaller);
    if (answer.pod_sets.front().assignment) return *answer.pod_sets.front().assignment;
  }
  const Topology& topology = instance.topology();
  const bool host = IsHostTopology(topology);
  TopologyAssignment assignment;
  assignment.levels = topology.levels;
  if (host) assignment.levels = {topology.levels.back()};
  std::vector<Node> nodes = instance.cluster.nodes;
  std::erase_if(nodes, [&](const Node& node) { return LeafId(node, topology).empty(); });
  random.Shuffle(nodes);
  const auto most = std::min<std::int64_t>(std::ssize(nodes), 6);
  std::set<std::vector<std::string>> seen;
  for (std::int64_t i = random.Between(0, most); i > 0; --i) {
    std::vector<std::string> values = LevelValues(nodes[static_cast<std::size_t>(i - 1)], topology);
    if (host) values = {values.back()};
    if (seen.insert(values).second || random.Chance(5)) {
      assignment.domains.push_back({values, static_cast<std::int32_t>(random.Between(1, 5))});
    }
  }
  if (random.Chance(3)) {
    assignment.domains.push_back({std::vector<std::string>(assignment.levels.size(), "gone"), 1});
  }
  return assignment;
}

void BookAssignment(ClusterStateInput& cluster, const TopologyAssignment& assignment,
                    const Resources& requests) {
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    const std::string leaf = fmt::format("{}", fmt::join(domain.values, ","));
    auto found = std::find_if(cluster.tas_usage.begin(), cluster.tas_usage.end(),
                              [&](const FlavorLeafUsage& usage) { return usage.leaf == leaf; });
    if (found == cluster.tas_usage.end()) {
      found = cluster.tas_usage.insert(found, {cluster.flavors.front().name, leaf, {}});
    }
    AddTo(found->usage, Times(requests, domain.count));
    AddTo(found->usage, {{std::string(kPodsResource), domain.count}});
  }
}

void MakeElastic(Random& random, Instance& instance) {
  for (PodSetRequest& pod_set : instance.request.pod_sets) {
    if (random.Chance(85)) pod_set.previous_assignment = SomeAssignment(random, instance, pod_set);
  }
}

void MakeReplacement(Random& random, Instance& instance) {
  ReplacementContext context;
  std::vector<std::string> hosts = {"unrelated"};
  for (const PodSetRequest& pod_set : instance.request.pod_sets) {
    PodSetAssignment admitted;
    admitted.name = pod_set.name;
    if (random.Chance(95)) {
      admitted.topology_assignment = SomeAssignment(random, instance, pod_set);
      for (const auto& domain : admitted.topology_assignment->domains) {
        hosts.insert(hosts.begin(), domain.values.back());
      }
      if (random.Chance(80)) {
        BookAssignment(instance.cluster, *admitted.topology_assignment, pod_set.requests);
      }
    }
    context.admitted.push_back(admitted);
  }
  if (hosts.size() > 1 && random.Chance(97)) hosts.pop_back();
  context.unhealthy_nodes = {random.Pick(hosts)};
  if (random.Chance(10)) context.unhealthy_nodes.push_back("other");
  context.owned_by_single_pod = random.Chance(4);
  if (random.Chance(60)) {
    std::erase_if(instance.cluster.nodes, [&](const Node& node) {
      const std::string* host = node.labels.Find(kHostnameLabel);
      return host != nullptr && *host == context.unhealthy_nodes.front();
    });
  }
  instance.request.replacement = context;
}

// --- requests that reach rarely used rules -------------------------------------------------------

// Nothing keeps balanced placement from being tried (R14.1).
void MakeBalanced(Random& random, Instance& instance) {
  instance.gates.balanced_placement = true;
  for (PodSetRequest& pod_set : instance.request.pod_sets) {
    pod_set.pod_template = {};
    do {
      pod_set.topology_request = GenerateTopologyRequest(random, instance.topology());
    } while (!pod_set.topology_request->preferred);
    pod_set.requests = {{"cpu", random.Pick({500, 1000, 1500, 2000, 3000, 6000})}};
    pod_set.count = GenerateCount(random, instance.cluster, pod_set.requests, SliceSize(pod_set));
    if (random.Chance(40)) {  // nearly all there is, so that thresholds bind
      const std::int64_t capacity = RoughCapacity(instance.cluster, pod_set.requests);
      pod_set.count = static_cast<std::int32_t>(
          std::clamp<std::int64_t>(capacity * random.Between(70, 100) / 100, 1, 160));
    }
    if (pod_set.group && pod_set.name == "leader") pod_set.count = 1;
  }
}

// Several layers of slices (R6.7), some of which a failed node breaks (R17.5 to R17.8).
void MakeLayered(Random& random, Instance& instance) {
  const std::vector<std::string>& levels = instance.topology().levels;
  for (PodSetRequest& pod_set : instance.request.pod_sets) {
    TopologyRequest request;
    (random.Chance(50) ? request.required : request.preferred) = levels.front();
    std::int32_t size = random.Pick({4, 8, 12, 16});
    for (const std::string& level : levels) {
      if (random.Chance(25)) continue;
      request.slice_constraints.push_back({level, size});
      size = std::max(1, size / random.Pick({1, 2, 2, 4}));
      if (request.slice_constraints.back().size % size != 0) size = 1;
    }
    pod_set.topology_request = request;
    pod_set.requests = {{"cpu", random.Pick({10, 50, 100})}};
    pod_set.count = SliceSize(pod_set) * static_cast<std::int32_t>(random.Between(1, 4));
  }
}

// --- pod sets ------------------------------------------------------------------------------------

void MakeGroup(Random& random, std::vector<PodSetRequest>& pod_sets) {
  for (PodSetRequest& pod_set : pod_sets) pod_set.group = std::string("g");
  pod_sets.back().topology_request = pod_sets.front().topology_request;
  if (random.Chance(85)) pod_sets.back().count = 1;
  if (random.Chance(30)) std::swap(pod_sets.front(), pod_sets.back());
}

}  // namespace

WorkloadRequest GeneratePlainRequest(Random& random, const ClusterStateInput& cluster) {
  WorkloadRequest request;
  request.key = {"default", "wl"};
  const std::int64_t kind = random.Between(1, 100);
  if (kind <= 65) {
    request.pod_sets = {GeneratePodSet(random, cluster, "main")};
  } else if (kind <= 88) {
    request.pod_sets = {GeneratePodSet(random, cluster, "main"),
                        GeneratePodSet(random, cluster, "leader")};
    if (random.Chance(2)) request.pod_sets.push_back(GeneratePodSet(random, cluster, "third"));
    MakeGroup(random, request.pod_sets);
    if (random.Chance(15)) {
      request.pod_sets.insert(request.pod_sets.begin() + random.Between(0, 2),
                              GeneratePodSet(random, cluster, "extra"));
    }
  } else {
    request.pod_sets = {GeneratePodSet(random, cluster, "a"), GeneratePodSet(random, cluster, "b")};
    if (random.Chance(50)) request.pod_sets.push_back(GeneratePodSet(random, cluster, "c"));
  }
  return request;
}

Instance Generate(std::uint64_t seed) {
  Random random(seed);
  return Generate(random);
}

Instance Generate(Random& random) {
  Instance instance;
  instance.gates = GenerateGates(random);
  instance.cluster = GenerateCluster(random);
  instance.cluster.share_usage_between_flavors = instance.gates.handle_overlapping_flavors;
  instance.request = GeneratePlainRequest(random, instance.cluster);
  instance.request.simulate_empty = random.Chance(8);
  instance.request.affinity_scores_consumed = random.Chance(4);
  for (const Node& node : instance.cluster.nodes) {
    const std::string leaf = LeafId(node, instance.topology());
    if (leaf.empty() || !random.Chance(3)) continue;
    instance.request.assumed_usage.push_back({leaf, {{"cpu", 1000}, {"pods", 1}}});
  }
  if (random.Chance(5)) MakeLayered(random, instance);
  if (random.Chance(15)) MakeBalanced(random, instance);
  if (instance.gates.elastic_jobs_via_workload_slices_with_tas) {
    MakeElastic(random, instance);
  } else if (IsHostTopology(instance.topology()) && random.Chance(15)) {
    if (random.Chance(40)) MakeLayered(random, instance);
    MakeReplacement(random, instance);
  }
  return instance;
}

}  // namespace espalier::differential
