#include <algorithm>

#include <fmt/format.h>

#include "host/conformance/case_file.hpp"
#include "host/conformance/case_json.hpp"
#include "host/model/splitmix64.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kMaxNodes = 4'000'000;
constexpr std::string_view kFlavor = "default";

struct GridLevel {
  std::string key;
  std::string prefix;
  std::int64_t fanout = 0;
};

// The rule that says which nodes of the grid are in use before the first gang.
struct Prefill {
  std::uint64_t seed = 0;
  std::uint64_t percent = 0;
  std::uint64_t slots = 1;
  Resources per_slot;
};

std::vector<GridLevel> ReadGridLevels(JsonValue grid, const ReadContext& context) {
  std::vector<GridLevel> levels = ReadList(grid, "levels", context, [&](JsonValue level) {
    CheckMembers(level, {"key", "prefix", "fanout"}, context);
    return GridLevel{RequiredText(level, "key", context), TextMember(level, "prefix", context),
                     RequiredInt64(level, "fanout", context)};
  });
  std::int64_t nodes = 1;
  for (const GridLevel& level : levels) {
    nodes = SaturatingMultiply(nodes, std::max<std::int64_t>(level.fanout, 0));
  }
  if (levels.empty() || nodes < 1 || nodes > kMaxNodes) {
    context.Error(grid, fmt::format("its {} levels make {} nodes", levels.size(), nodes),
                  fmt::format("1 to {} nodes", kMaxNodes));
    levels.clear();
  }
  return levels;
}

// A full tree; node k, in depth-first order, is named prefix + k (kind 3).
std::vector<Node> GridNodes(const std::vector<GridLevel>& levels, const Resources& allocatable) {
  std::vector<Node> nodes;
  if (levels.empty()) return nodes;
  std::int64_t count = 1;
  for (const GridLevel& level : levels) count *= level.fanout;
  nodes.reserve(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) {
    Node& node = nodes.emplace_back();
    node.name = fmt::format("{}{}", levels.back().prefix, k);
    node.ready = true;
    node.allocatable = allocatable;
    node.labels.Set(kHostnameLabel, node.name);
    node.labels.Set(levels.back().key, node.name);
    std::int64_t index = k / levels.back().fanout;
    for (std::size_t level = levels.size() - 1; level-- > 0;) {
      const std::int64_t under_parent = index % levels[level].fanout;
      node.labels.Set(levels[level].key, fmt::format("{}{}", levels[level].prefix, under_parent));
      index /= levels[level].fanout;
    }
  }
  return nodes;
}

Prefill ReadPrefill(JsonValue object, const ReadContext& context) {
  CheckMembers(object, {"seed", "percent", "slots", "perSlot"}, context);
  Prefill prefill;
  prefill.seed = static_cast<std::uint64_t>(RequiredInt64(object, "seed", context));
  const std::int64_t percent = RequiredInt64(object, "percent", context);
  const std::int64_t slots = RequiredInt64(object, "slots", context);
  if (percent < 0 || percent > 100) context.Error(object, "its percent is wrong", "0 to 100");
  if (slots < 1) context.Error(object, "its slots are wrong", "at least 1");
  prefill.percent = static_cast<std::uint64_t>(percent);
  prefill.slots = static_cast<std::uint64_t>(std::max<std::int64_t>(slots, 1));
  prefill.per_slot = ReadAmounts(object, "perSlot", context);
  return prefill;
}

std::vector<FlavorLeafUsage> PrefillUsage(const Prefill& prefill, const std::vector<Node>& nodes) {
  std::vector<FlavorLeafUsage> usage;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const std::uint64_t x = SplitMix64(prefill.seed + k).Next();
    if (x % 100 >= prefill.percent) continue;
    const auto slots = static_cast<std::int64_t>(1 + (x >> 8) % prefill.slots);
    Resources used = Times(prefill.per_slot, slots);
    used.Set(kPodsResource, slots);
    usage.push_back({std::string(kFlavor), nodes[k].name, std::move(used)});
  }
  return usage;
}

ClusterStateInput ReadGrid(JsonValue root, const ReadContext& context) {
  ClusterStateInput cluster;
  const JsonValue grid = RequiredObject(root, "grid", context);
  CheckMembers(grid, {"levels", "allocatable"}, context);
  const std::vector<GridLevel> levels = ReadGridLevels(grid, context);
  Topology& topology = cluster.topologies.emplace_back();
  topology.name = RequiredText(root, "topology", context);
  for (const GridLevel& level : levels) topology.levels.push_back(level.key);
  ResourceFlavor& flavor = cluster.flavors.emplace_back();
  flavor.name = kFlavor;
  flavor.topology_name = topology.name;
  cluster.nodes = GridNodes(levels, ResourcesMember(grid, "allocatable", context));
  if (const auto prefill = ObjectMember(root, "prefill", context)) {
    cluster.tas_usage = PrefillUsage(ReadPrefill(*prefill, context), cluster.nodes);
  }
  return cluster;
}

WorkloadRequest ReadShape(JsonValue object, const ReadContext& context) {
  CheckMembers(object, {"requests", "topologyRequest", "leaderRequests"}, context);
  WorkloadRequest request;
  PodSetRequest& main = request.pod_sets.emplace_back();
  main.name = "main";
  main.flavor = kFlavor;
  main.requests = ReadAmounts(object, "requests", context);
  if (const auto topology_request = ObjectMember(object, "topologyRequest", context)) {
    main.topology_request = ReadTopologyRequest(*topology_request, context);
  }
  if (Member(object, "leaderRequests")) {
    main.group = "group";
    PodSetRequest leader = main;
    leader.name = "leader";
    leader.count = 1;
    leader.requests = ReadAmounts(object, "leaderRequests", context);
    request.pod_sets.push_back(std::move(leader));
  }
  return request;
}

PlacementMode ReadMode(JsonValue root, const ReadContext& context) {
  const std::string mode = RequiredText(root, "mode", context);
  if (mode == "sequential") return PlacementMode::kSequential;
  if (mode != "nominate" && !mode.empty()) {
    context.Error(*Member(root, "mode"), "this mode does not exist", "sequential or nominate");
  }
  return PlacementMode::kNominate;
}

void ReadExpectedGang(JsonValue root, const ReadContext& context, SequenceGang& gang) {
  const JsonValue expect = RequiredObject(root, "expect", context);
  if (Member(expect, "reason")) {
    gang.reason = TextMember(expect, "reason", context);
    return;
  }
  for (const auto& [pod_set, value] : Members(expect, context)) {
    CheckMembers(value, {"digest", "domains"}, context);
    gang.placed.Set(pod_set, AssignmentDigest{RequiredText(value, "digest", context),
                                              RequiredInt64(value, "domains", context)});
  }
}

}  // namespace

bool IsSequenceHeader(std::string_view line) {
  const auto header = ReadLine<bool>(line, [](JsonValue root, const ReadContext&) {
    return Member(root, "sequence").has_value();
  });
  return header.value_or(false);
}

Result<Sequence> ReadSequenceHeader(std::string_view line) {
  return ReadLine<Sequence>(line, [](JsonValue root, const ReadContext& context) {
    CheckMembers(root, {"sequence", "mode", "gates", "topology", "grid", "prefill", "shapes"},
                 context);
    Sequence sequence;
    sequence.name = RequiredText(root, "sequence", context);
    sequence.gates = ReadGates(root, context);
    sequence.mode = ReadMode(root, context);
    sequence.cluster = ReadGrid(root, context);
    sequence.cluster.share_usage_between_flavors = sequence.gates.handle_overlapping_flavors;
    sequence.shapes = ReadList(root, "shapes", context,
                               [&](JsonValue shape) { return ReadShape(shape, context); });
    return sequence;
  });
}

Result<SequenceGang> ReadGang(std::string_view line, const Sequence& sequence) {
  return ReadLine<SequenceGang>(line, [&](JsonValue root, const ReadContext& context) {
    CheckMembers(root, {"gang", "shape", "count", "expect"}, context);
    SequenceGang gang;
    gang.number = RequiredInt64(root, "gang", context);
    const std::int64_t shape = RequiredInt64(root, "shape", context);
    if (shape < 0 || static_cast<std::size_t>(shape) >= sequence.shapes.size()) {
      context.Error(root, fmt::format("its shape is {}", shape),
                    fmt::format("less than {}", sequence.shapes.size()));
      return gang;
    }
    gang.shape = shape;
    gang.request = sequence.shapes[static_cast<std::size_t>(shape)];
    gang.request.pod_sets[0].count = Int32Member(root, "count", context).value_or(0);
    ReadExpectedGang(root, context, gang);
    return gang;
  });
}

AssignmentDigest Digest(const TopologyAssignment& assignment) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    add(fmt::format("{}:{};", fmt::join(domain.values, ","), domain.count));
  }
  return {fmt::format("{:016x}", hash), static_cast<std::int64_t>(assignment.domains.size())};
}

}  // namespace espalier
