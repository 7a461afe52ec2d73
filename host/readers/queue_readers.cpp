#include <algorithm>
#include <array>

#include "host/model/excerpt.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_metadata.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostLevels = 16;

// R23.15, as far as decisions depend on it.
void CheckLevels(const std::vector<std::string>& levels, JsonValue spec,
                 const ReadContext& context) {
  const auto at = Member(spec, "levels");
  if (levels.empty() || levels.size() > kMostLevels) {
    context.Error(at.value_or(spec), "the number of levels is wrong", "1 to 16 levels");
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (std::find(levels.begin(), levels.begin() + i, levels[i]) != levels.begin() + i) {
      context.Error(*at, "the level " + Excerpt(levels[i]) + " is listed twice", "each level once");
    }
    if (levels[i] == kHostnameLabel && i + 1 < levels.size()) {
      context.Error(*at, "kubernetes.io/hostname is not the lowest level",
                    "kubernetes.io/hostname as the last level or not at all");
    }
  }
}

FlavorQuota ReadFlavorQuota(JsonValue flavor, const ReadContext& context) {
  FlavorQuota quota{.flavor = RequiredText(flavor, "name", context), .resources = {}};
  quota.resources = ReadList(flavor, "resources", context, [&](JsonValue resource) {
    FlavorQuota::Quota read{.resource = RequiredText(resource, "name", context)};
    const auto amount = [&](std::string_view name) -> std::optional<Amount> {
      const auto quantity = QuantityMember(resource, name, context);
      if (!quantity) return std::nullopt;
      if (*quantity < Quantity()) {
        context.Error(*Member(resource, name), "it is negative", "a quantity of 0 or more");
      }
      return Canonical(*quantity, read.resource);
    };
    read.nominal = amount("nominalQuota").value_or(read.nominal);
    read.borrowing_limit = amount("borrowingLimit");
    return read;
  });
  return quota;
}

// The fields of a ClusterQueue's spec that ReadClusterQueue looks at, or that matter only beside
// others that it looks at.
constexpr std::array<std::string_view, 10> kQueueFields = {
    "admissionChecks", "admissionChecksStrategy", "cohort",
    "cohortName",      "flavorFungibility",       "namespaceSelector",
    "preemption",      "queueingStrategy",        "resourceGroups",
    "stopPolicy"};

std::vector<std::string> UnknownFields(JsonValue spec, const ReadContext& context) {
  std::vector<std::string> unknown;
  for (const auto [name, value] : Fields(spec)) {
    if (std::find(kQueueFields.begin(), kQueueFields.end(), name) == kQueueFields.end()) {
      unknown.push_back("spec." + std::string(name));
    }
  }
  // TryNextFlavor is how flavors are chosen here (R21.12).
  if (const auto fungibility = ObjectMember(spec, "flavorFungibility", context)) {
    const std::string_view when = "whenCanPreempt";
    const std::string policy = TextMember(*fungibility, when, context);
    if (!policy.empty() && policy != "TryNextFlavor") {
      unknown.push_back("spec.flavorFungibility.whenCanPreempt: " + policy);
    }
  }
  return unknown;
}

}  // namespace

LabelSelector ReadLabelSelector(JsonValue object, const ReadContext& context) {
  LabelSelector selector{.match_labels = TextMapMember(object, "matchLabels", context),
                         .match_expressions = {}};
  selector.match_expressions =
      ReadList(object, "matchExpressions", context, [&](JsonValue requirement) {
        NodeSelectorRequirement read{.key = RequiredText(requirement, "key", context),
                                     .operation = RequiredText(requirement, "operator", context),
                                     .values = TextListMember(requirement, "values", context)};
        constexpr std::array<std::string_view, 4> kOperators = {"In", "NotIn", "Exists",
                                                                "DoesNotExist"};
        if (!read.operation.empty() &&
            std::find(kOperators.begin(), kOperators.end(), read.operation) == kOperators.end()) {
          context.Error(*Member(requirement, "operator"), "this operator does not exist",
                        "In, NotIn, Exists or DoesNotExist");
        }
        return read;
      });
  return selector;
}

Topology ReadTopology(JsonValue object, const ReadContext& context) {
  Topology topology{.name = ReadObjectName(object, context), .levels = {}};
  const auto spec = ObjectMember(object, "spec", context);
  if (!spec) {
    context.Missing(object, "spec", "the topology's levels");
    return topology;
  }
  topology.levels = ReadList(*spec, "levels", context, [&](JsonValue level) {
    return RequiredText(level, "nodeLabel", context);
  });
  CheckLevels(topology.levels, *spec, context);
  return topology;
}

ResourceFlavor ReadResourceFlavor(JsonValue object, const ReadContext& context) {
  ResourceFlavor flavor;
  flavor.name = ReadObjectName(object, context);
  const auto spec = ObjectMember(object, "spec", context);
  if (!spec) return flavor;
  flavor.node_labels = TextMapMember(*spec, "nodeLabels", context);
  flavor.node_taints = ReadTaints(*spec, "nodeTaints", context);
  flavor.tolerations = ReadTolerations(*spec, "tolerations", context);
  if (const auto name = StringMember(*spec, "topologyName", context)) flavor.topology_name = *name;
  return flavor;
}

ClusterQueue ReadClusterQueue(JsonValue object, const ReadContext& context) {
  ClusterQueue queue;
  queue.name = ReadObjectName(object, context);
  const auto spec = ObjectMember(object, "spec", context);
  if (!spec) return queue;
  queue.cohort = TextMember(*spec, "cohortName", context);
  if (queue.cohort.empty()) queue.cohort = TextMember(*spec, "cohort", context);  // v1beta1
  queue.queueing_strategy = TextMember(*spec, "queueingStrategy", context);
  queue.stop_policy = TextMember(*spec, "stopPolicy", context);
  queue.resource_groups = ReadList(*spec, "resourceGroups", context, [&](JsonValue group) {
    return ResourceGroup{TextListMember(group, "coveredResources", context),
                         ReadList(group, "flavors", context, [&](JsonValue flavor) {
                           return ReadFlavorQuota(flavor, context);
                         })};
  });
  if (const auto preemption = ObjectMember(*spec, "preemption", context)) {
    queue.within_cluster_queue = TextMember(*preemption, "withinClusterQueue", context);
    queue.reclaim_within_cohort = TextMember(*preemption, "reclaimWithinCohort", context);
  }
  if (const auto selector = ObjectMember(*spec, "namespaceSelector", context)) {
    queue.namespace_selector = ReadLabelSelector(*selector, context);
  }
  queue.unknown_fields = UnknownFields(*spec, context);
  queue.admission_checks = TextListMember(*spec, "admissionChecks", context);
  const auto read_rule = [&](JsonValue rule) {
    return std::pair(RequiredText(rule, "name", context),
                     TextListMember(rule, "onFlavors", context));
  };
  if (const auto strategy = ObjectMember(*spec, "admissionChecksStrategy", context)) {
    for (auto& [name, flavors] : ReadList(*strategy, "admissionChecks", context, read_rule)) {
      if (!flavors.empty()) queue.admission_check_flavors.Set(name, std::move(flavors));
      queue.admission_checks.push_back(std::move(name));
    }
  }
  return queue;
}

LocalQueue ReadLocalQueue(JsonValue object, const ReadContext& context) {
  LocalQueue queue;
  queue.key = ReadObjectKey(object, context);
  if (const auto spec = ObjectMember(object, "spec", context)) {
    queue.cluster_queue = RequiredText(*spec, "clusterQueue", context);
    queue.stop_policy = TextMember(*spec, "stopPolicy", context);
  } else {
    context.Missing(object, "spec", "the ClusterQueue in spec.clusterQueue");
  }
  return queue;
}

AdmissionCheck ReadAdmissionCheck(JsonValue object, const ReadContext& context) {
  AdmissionCheck check{.name = ReadObjectName(object, context), .controller_name = {}};
  if (const auto status = ObjectMember(object, "status", context)) {
    for (const Condition& condition : ReadConditions(*status, context)) {
      if (condition.type == "Active") check.active = condition.status == "True";
    }
  }
  if (const auto spec = ObjectMember(object, "spec", context)) {
    check.controller_name = TextMember(*spec, "controllerName", context);
  }
  return check;
}

Namespace ReadNamespace(JsonValue object, const ReadContext& context) {
  Namespace result{.name = ReadObjectName(object, context), .labels = {}};
  if (const auto metadata = ObjectMember(object, "metadata", context)) {
    result.labels = TextMapMember(*metadata, "labels", context);
  }
  result.labels.Set("kubernetes.io/metadata.name", result.name);
  return result;
}

WorkloadPriorityClass ReadWorkloadPriorityClass(JsonValue object, const ReadContext& context) {
  return {ReadObjectName(object, context), Int64Member(object, "value", context).value_or(0)};
}

}  // namespace espalier
