#include <algorithm>
#include <array>

#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_metadata.hpp"

namespace espalier {
namespace {

// R3.1: the first condition of type Ready decides.
bool IsReady(JsonValue status, const ReadContext& context) {
  const auto conditions = ArrayMember(status, "conditions", context);
  if (!conditions) return false;
  for (const JsonValue condition : *conditions) {
    if (StringMember(condition, "type", context) == "Ready") {
      return StringMember(condition, "status", context) == "True";
    }
  }
  return false;
}

std::vector<NodeSelectorRequirement> ReadRequirements(JsonValue term, std::string_view name,
                                                      const ReadContext& context) {
  return ReadList(term, name, context, [&](JsonValue requirement) {
    NodeSelectorRequirement read{.key = RequiredText(requirement, "key", context),
                                 .operation = RequiredText(requirement, "operator", context),
                                 .values = TextListMember(requirement, "values", context)};
    constexpr std::array<std::string_view, 6> kOperators = {"In",           "NotIn", "Exists",
                                                            "DoesNotExist", "Gt",    "Lt"};
    if (!read.operation.empty() &&
        std::find(kOperators.begin(), kOperators.end(), read.operation) == kOperators.end()) {
      context.Error(*Member(requirement, "operator"), "this operator does not exist",
                    "In, NotIn, Exists, DoesNotExist, Gt or Lt");
    }
    return read;
  });
}

NodeSelectorTerm ReadTerm(JsonValue term, const ReadContext& context) {
  return {ReadRequirements(term, "matchExpressions", context),
          ReadRequirements(term, "matchFields", context)};
}

// Kueue books usage under the hostname label but its node controller goes by the object's name.
void CheckHostname(const Node& node, JsonValue object, const ReadContext& context) {
  const std::string* hostname = node.labels.Find(kHostnameLabel);
  if (hostname == nullptr || *hostname == node.name) return;
  context.Warn(
      Member(*Member(*Member(object, "metadata"), "labels"), kHostnameLabel).value_or(object),
      "the hostname label differs from the node's name, so Kueue admits and evicts "
      "workloads on it for ever",
      "the node's name, " + node.name);
}

}  // namespace

std::vector<Taint> ReadTaints(JsonValue parent, std::string_view name, const ReadContext& context) {
  return ReadList(parent, name, context, [&](JsonValue taint) {
    return Taint{RequiredText(taint, "key", context), TextMember(taint, "value", context),
                 TextMember(taint, "effect", context)};
  });
}

std::vector<Toleration> ReadTolerations(JsonValue parent, std::string_view name,
                                        const ReadContext& context) {
  return ReadList(parent, name, context, [&](JsonValue toleration) {
    return Toleration{
        TextMember(toleration, "key", context), TextMember(toleration, "operator", context),
        TextMember(toleration, "value", context), TextMember(toleration, "effect", context)};
  });
}

std::vector<NodeSelectorTerm> ReadNodeSelectorTerms(JsonValue selector,
                                                    const ReadContext& context) {
  return ReadList(selector, "nodeSelectorTerms", context,
                  [&](JsonValue term) { return ReadTerm(term, context); });
}

NodeAffinity ReadNodeAffinity(JsonValue affinity, const ReadContext& context) {
  NodeAffinity read;
  const auto node_affinity = ObjectMember(affinity, "nodeAffinity", context);
  if (!node_affinity) return read;
  if (const auto required =
          ObjectMember(*node_affinity, "requiredDuringSchedulingIgnoredDuringExecution", context)) {
    read.required = ReadNodeSelectorTerms(*required, context);
  }
  read.preferred = ReadList(
      *node_affinity, "preferredDuringSchedulingIgnoredDuringExecution", context,
      [&](JsonValue preferred) {
        const auto preference = ObjectMember(preferred, "preference", context);
        return PreferredSchedulingTerm{
            .weight = Int32Member(preferred, "weight", context).value_or(0),
            .preference = preference ? ReadTerm(*preference, context) : NodeSelectorTerm()};
      });
  return read;
}

Node ReadNode(JsonValue object, const ReadContext& context) {
  Node node;
  node.name = ReadObjectName(object, context);
  if (const auto metadata = ObjectMember(object, "metadata", context)) {
    node.labels = TextMapMember(*metadata, "labels", context);
  }
  if (const auto spec = ObjectMember(object, "spec", context)) {
    node.taints = ReadTaints(*spec, "taints", context);
    node.unschedulable = BoolMember(*spec, "unschedulable", context).value_or(false);
  }
  if (const auto status = ObjectMember(object, "status", context)) {
    node.ready = IsReady(*status, context);
    node.allocatable = ToCanonical(ReadNonNegative(*status, "allocatable", context));
  }
  return node;
}

Node ReadClusterNode(JsonValue object, const ReadContext& context) {
  Node node = ReadNode(object, context);
  CheckHostname(node, object, context);
  return node;
}

}  // namespace espalier
