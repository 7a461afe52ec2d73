#include "host/conformance/case_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "host/conformance/case_json.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/workload_requests.hpp"

namespace espalier {
namespace {

// The text of a file, plain or gzip.
Result<std::string> ReadText(const std::string& path, InputLimit& limit) {
  Result<std::string> text = ReadUnpacked(path, limit);
  if (!text) return text;
  // Each line is kept as a string of its own.
  const auto lines = static_cast<std::size_t>(std::ranges::count(*text, '\n'));
  if (auto taken = limit.Take(text->size() + lines * sizeof(std::string)); !taken) {
    taken.error().message = fmt::format("{}: {}", InputName(path), taken.error().message);
    return tl::unexpected(taken.error());
  }
  return text;
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  while (!lines.empty() && lines.back().find_first_not_of(" \t\r") == std::string::npos) {
    lines.pop_back();
  }
  return lines;
}

// The name of the node that use of a leaf by other pods is booked on: any node of the leaf will do.
std::string NodeOfLeaf(const std::vector<Node>& nodes, const std::vector<std::string>& levels,
                       const std::string& leaf) {
  const bool host_topology = !levels.empty() && levels.back() == kHostnameLabel;
  for (const Node& node : nodes) {
    std::vector<std::string_view> values;
    for (const std::string& level : levels) {
      const std::string* value = node.labels.Find(level);
      values.push_back(value ? std::string_view(*value) : std::string_view());
    }
    if (host_topology) values = {values.back()};  // R4.1
    if (node.ready && !node.unschedulable && fmt::format("{}", fmt::join(values, ",")) == leaf) {
      return node.name;
    }
  }
  return {};
}

void ReadLeafUsage(JsonValue root, const ReadContext& context, ClusterStateInput& cluster) {
  for (const JsonValue entry : Items(root, "leafUsage", context)) {
    CheckMembers(entry, {"leaf", "tas", "nonTas"}, context);
    const std::string leaf = RequiredText(entry, "leaf", context);
    const Resources tas = ReadAmounts(entry, "tas", context);
    const Resources non_tas = ReadAmounts(entry, "nonTas", context);
    if (!tas.empty()) cluster.tas_usage.push_back({cluster.flavors[0].name, leaf, tas});
    if (non_tas.empty()) continue;
    const std::string node = NodeOfLeaf(cluster.nodes, cluster.topologies[0].levels, leaf);
    if (!node.empty()) cluster.non_tas_usage.push_back({node, non_tas});
  }
}

ClusterStateInput ReadCluster(JsonValue root, const ReadContext& context) {
  ClusterStateInput cluster;
  const JsonValue topology = RequiredObject(root, "topology", context);
  CheckMembers(topology, {"name", "levels"}, context);
  cluster.topologies = {
      {RequiredText(topology, "name", context), TextListMember(topology, "levels", context)}};
  const JsonValue flavor = RequiredObject(root, "flavor", context);
  CheckMembers(flavor, {"name", "nodeLabels", "tolerations"}, context);
  ResourceFlavor& read = cluster.flavors.emplace_back();
  read.name = RequiredText(flavor, "name", context);
  read.node_labels = TextMapMember(flavor, "nodeLabels", context);
  read.tolerations = ReadTolerations(flavor, "tolerations", context);
  read.topology_name = cluster.topologies[0].name;
  cluster.nodes =
      ReadList(root, "nodes", context, [&](JsonValue node) { return ReadNode(node, context); });
  const std::vector<Pod> pods =
      ReadList(root, "pods", context, [&](JsonValue pod) { return ReadPod(pod, context); });
  cluster.non_tas_usage = NonTasUsage(pods);
  ReadLeafUsage(root, context, cluster);
  return cluster;
}

PodSetRequest ReadPodSetRequest(JsonValue entry, const std::string& flavor,
                                const ReadContext& context) {
  CheckMembers(entry,
               {"podSet", "count", "requests", "podSetUpdates", "implied", "podSetGroup",
                "previousAssignment"},
               context);
  PodSetRequest request;
  const JsonValue object = RequiredObject(entry, "podSet", context);
  request.name = TextMember(object, "name", context);
  if (const auto topology_request = ObjectMember(object, "topologyRequest", context)) {
    request.topology_request = ReadTopologyRequest(*topology_request, context);
  }
  if (const auto pod_template = ObjectMember(object, "template", context)) {
    request.pod_template = ReadPodTemplate(*pod_template, context);
  }
  request.flavor = flavor;
  request.count = Int32Member(entry, "count", context).value_or(0);
  request.requests = ReadAmounts(entry, "requests", context);
  request.implied = BoolMember(entry, "implied", context).value_or(false);
  if (Member(entry, "podSetGroup")) request.group = TextMember(entry, "podSetGroup", context);
  if (const auto previous = ObjectMember(entry, "previousAssignment", context)) {
    request.previous_assignment = ReadTopologyAssignment(*previous, context);
  }
  request.updates = ReadList(entry, "podSetUpdates", context,
                             [&](JsonValue update) { return ReadPodSetUpdate(update, context); });
  return request;
}

std::optional<ReplacementContext> ReadReplacement(const Workload& workload) {
  if (workload.unhealthy_nodes.empty()) return std::nullopt;
  ReplacementContext replacement;
  replacement.unhealthy_nodes = workload.unhealthy_nodes;
  if (workload.admission) replacement.admitted = workload.admission->pod_set_assignments;
  replacement.owned_by_single_pod = OwnedBySinglePod(workload);
  return replacement;
}

WorkloadRequest ReadRequest(JsonValue root, const std::string& flavor, const ReadContext& context) {
  WorkloadRequest request;
  const JsonValue object = RequiredObject(root, "request", context);
  CheckMembers(object, {"simulateEmpty", "workload", "podSets"}, context);
  request.simulate_empty = BoolMember(object, "simulateEmpty", context).value_or(false);
  request.pod_sets = ReadList(object, "podSets", context, [&](JsonValue entry) {
    return ReadPodSetRequest(entry, flavor, context);
  });
  if (const auto workload = ObjectMember(object, "workload", context)) {
    const Workload read = ReadWorkload(*workload, context);
    request.key = read.key;
    request.replacement = ReadReplacement(read);
  }
  request.assumed_usage = ReadList(root, "assumedUsage", context, [&](JsonValue entry) {
    CheckMembers(entry, {"leaf", "usage"}, context);
    return LeafUsage{RequiredText(entry, "leaf", context), ReadAmounts(entry, "usage", context)};
  });
  return request;
}

ExpectedAnswer ReadExpectedAnswer(JsonValue object, const ReadContext& context) {
  ExpectedAnswer answer;
  for (const auto& [name, value] : Members(object, context)) {
    CheckMembers(value, {"assignment", "encoded", "reason"}, context);
    ExpectedPodSet& pod_set = answer[name];
    if (const auto assignment = ObjectMember(value, "assignment", context)) {
      pod_set.assignment = ReadPlainAssignment(*assignment, context);
    }
    if (const auto encoded = ObjectMember(value, "encoded", context)) {
      pod_set.encoded = ReadEncodedAssignment(*encoded, context);
    }
    if (Member(value, "reason")) pod_set.reason = TextMember(value, "reason", context);
  }
  return answer;
}

Victim ReadVictim(JsonValue object, const std::string& flavor, const ReadContext& context) {
  CheckMembers(object, {"name", "usage"}, context);
  Victim victim;
  victim.name = RequiredText(object, "name", context);
  victim.usage = ReadList(object, "usage", context, [&](JsonValue entry) {
    CheckMembers(entry, {"leaf", "usage"}, context);
    return FlavorLeafUsage{flavor, RequiredText(entry, "leaf", context),
                           ReadAmounts(entry, "usage", context)};
  });
  return victim;
}

VictimsCase ReadVictims(JsonValue root, const std::string& flavor, const ReadContext& context) {
  VictimsCase read;
  read.victims = ReadList(root, "victims", context,
                          [&](JsonValue victim) { return ReadVictim(victim, flavor, context); });
  const JsonValue expect = RequiredObject(root, "expectVictims", context);
  CheckMembers(expect, {"fits", "prefix", "targets", "result"}, context);
  if (!Member(expect, "fits")) context.Missing(expect, "fits", "true or false");
  read.fits = BoolMember(expect, "fits", context).value_or(false);
  if (!read.fits) return read;
  read.prefix = static_cast<std::size_t>(RequiredInt64(expect, "prefix", context));
  read.targets = TextListMember(expect, "targets", context);
  read.result = ReadExpectedAnswer(RequiredObject(expect, "result", context), context);
  return read;
}

PlacementCase ReadPlacementCase(JsonValue root, const ReadContext& context) {
  CheckMembers(root,
               {"name", "gates", "topology", "flavor", "nodes", "pods", "leafUsage", "assumedUsage",
                "request", "expect", "expectAnyOf", "victims", "expectVictims"},
               context);
  PlacementCase read;
  read.gates = ReadGates(root, context);
  read.cluster = ReadCluster(root, context);
  read.cluster.share_usage_between_flavors = read.gates.handle_overlapping_flavors;
  read.request = ReadRequest(root, read.cluster.flavors[0].name, context);
  if (const auto expect = ObjectMember(root, "expect", context)) {
    read.any_of.push_back(ReadExpectedAnswer(*expect, context));
  }
  for (const JsonValue answer : Items(root, "expectAnyOf", context)) {
    read.any_of.push_back(ReadExpectedAnswer(answer, context));
  }
  if (read.any_of.empty()) context.Missing(root, "expect", "the expected answer by pod set");
  if (Member(root, "victims") || Member(root, "expectVictims")) {
    read.what_if = ReadVictims(root, read.cluster.flavors[0].name, context);
  }
  return read;
}

Pod ReadUngatePod(JsonValue object, const ReadContext& context) {
  CheckMembers(object, {"name", "labels", "gated", "nodeSelector"}, context);
  Pod pod;
  pod.key.name = RequiredText(object, "name", context);
  pod.labels = TextMapMember(object, "labels", context);
  pod.node_selector = TextMapMember(object, "nodeSelector", context);
  if (BoolMember(object, "gated", context).value_or(false)) {
    pod.scheduling_gates = {std::string(kTopologyGate)};
  }
  return pod;
}

UngateCase ReadUngateCase(JsonValue root, const ReadContext& context) {
  CheckMembers(root, {"name", "gates", "ungate", "expectUngate"}, context);
  UngateCase read;
  const JsonValue object = RequiredObject(root, "ungate", context);
  CheckMembers(object, {"podSetAssignment", "topologyRequest", "pods", "offset", "maxRank"},
               context);
  const JsonValue admitted = RequiredObject(object, "podSetAssignment", context);
  CheckMembers(admitted, {"name", "count", "topologyAssignment"}, context);
  const JsonValue assignment = RequiredObject(admitted, "topologyAssignment", context);
  read.pod_set.assignment = ReadTopologyAssignment(assignment, context);
  read.pod_set.count = Int32Member(admitted, "count", context).value_or(0);
  if (const auto request = ObjectMember(object, "topologyRequest", context)) {
    read.pod_set.topology_request = ReadTopologyRequest(*request, context);
  }
  read.pod_set.pods =
      ReadList(object, "pods", context, [&](JsonValue pod) { return ReadUngatePod(pod, context); });
  read.pod_set.offset = Int64Member(object, "offset", context).value_or(0);
  read.pod_set.max_rank = Int64Member(object, "maxRank", context).value_or(0);
  if (!Member(root, "expectUngate")) context.Missing(root, "expectUngate", "pod name -> domain");
  read.expected = TextMapMember(root, "expectUngate", context);
  return read;
}

EncodeCase ReadEncodeCase(JsonValue root, const ReadContext& context) {
  CheckMembers(root, {"name", "gates", "encode", "expectEncoded"}, context);
  return {ReadGates(root, context),
          ReadPlainAssignment(RequiredObject(root, "encode", context), context),
          ReadEncodedAssignment(RequiredObject(root, "expectEncoded", context), context)};
}

}  // namespace

Result<CaseFile> ReadCaseFile(const std::string& path, InputLimit& limit) {
  return ReadText(path, limit).map([&](const std::string& text) {
    return CaseFile{path, SplitLines(text)};
  });
}

Result<Case> ReadCase(std::string_view line) {
  return ReadLine<Case>(line, [](JsonValue root, const ReadContext& context) {
    const bool of_job = TextOf(root, "kind") == "job-to-workload";
    Case read{RequiredText(root, of_job ? "id" : "name", context), PlacementCase{}};
    if (of_job) {
      read.value = ReadJobCase(root, context);
    } else if (Member(root, "ungate")) {
      read.value = ReadUngateCase(root, context);
    } else if (Member(root, "encode")) {
      read.value = ReadEncodeCase(root, context);
    } else if (Member(root, "request")) {
      read.value = ReadPlacementCase(root, context);
    } else {
      context.Missing(root, "request", "one of request, ungate and encode");
    }
    return read;
  });
}

}  // namespace espalier
