#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/resource_limits.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {
namespace {

std::optional<std::string> OptionalText(JsonValue parent, std::string_view name,
                                        const ReadContext& context) {
  const auto text = StringMember(parent, name, context);
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

// Any 32-bit size: what is wrong with a slice size is the engine's answer (R6.2, R6.7).
std::optional<std::int32_t> SliceSize(JsonValue parent, std::string_view name,
                                      const ReadContext& context) {
  return Int32Member(parent, name, context, std::numeric_limits<std::int32_t>::min());
}

// The first form of KEP-2724: `policy`, Required or Preferred, with the `level`.
void ReadPolicyAndLevel(JsonValue object, const ReadContext& context, TopologyRequest& request) {
  const auto policy = StringMember(object, "policy", context);
  if (!policy) {
    if (const auto level = Member(object, "level")) {
      context.Error(*level, "it has no policy beside it", "policy: Required or policy: Preferred");
    }
    return;
  }
  std::string level = RequiredText(object, "level", context);
  if (*policy != "Required" && *policy != "Preferred") {
    return context.Error(*Member(object, "policy"), "there is no such policy",
                         "Required or Preferred");
  }
  std::optional<std::string>& wanted = *policy == "Required" ? request.required : request.preferred;
  if (wanted && *wanted != level) {
    return context.Error(*Member(object, "level"), "it contradicts the level beside it", *wanted);
  }
  wanted = std::move(level);
}

PodSetAssignment ReadPodSetAssignment(JsonValue object, const ReadContext& context) {
  PodSetAssignment assignment;
  assignment.name = RequiredText(object, "name", context);
  assignment.flavors = TextMapMember(object, "flavors", context);
  assignment.resource_usage = ResourcesMember(object, "resourceUsage", context);
  assignment.count = Int32Member(object, "count", context);
  if (const auto topology = ObjectMember(object, "topologyAssignment", context)) {
    assignment.topology_assignment = ReadTopologyAssignment(*topology, context);
  }
  assignment.delayed_topology_request = OptionalText(object, "delayedTopologyRequest", context);
  return assignment;
}

AdmissionCheckState ReadAdmissionCheckState(JsonValue object, const ReadContext& context) {
  AdmissionCheckState check;
  check.name = RequiredText(object, "name", context);
  check.state = TextMember(object, "state", context);
  check.pod_set_updates = ReadList(object, "podSetUpdates", context, [&](JsonValue update) {
    return ReadPodSetUpdate(update, context);
  });
  return check;
}

void ReadStatus(JsonValue status, const ReadContext& context, Workload& workload) {
  if (const auto admission = ObjectMember(status, "admission", context)) {
    workload.admission.emplace();
    workload.admission->cluster_queue = TextMember(*admission, "clusterQueue", context);
    workload.admission->pod_set_assignments =
        ReadList(*admission, "podSetAssignments", context,
                 [&](JsonValue assignment) { return ReadPodSetAssignment(assignment, context); });
  }
  workload.conditions = ReadConditions(status, context);
  DropWithdrawnAdmission(workload);
  workload.unhealthy_nodes = ReadList(status, "unhealthyNodes", context, [&](JsonValue node) {
    return RequiredText(node, "name", context);
  });
  workload.reclaimable_pods =
      ReadList(status, "reclaimablePods", context, [&](JsonValue reclaimable) {
        return ReclaimablePod{RequiredText(reclaimable, "name", context),
                              Int32Member(reclaimable, "count", context).value_or(0)};
      });
  workload.admission_checks = ReadList(status, "admissionChecks", context, [&](JsonValue check) {
    return ReadAdmissionCheckState(check, context);
  });
  if (const auto requeue = ObjectMember(status, "requeueState", context)) {
    workload.requeue_at_seconds = TimeMember(*requeue, "requeueAt", context);
  }
}

// The name of the workload's priority class and the value it has, if that is known.
struct PriorityClassValue {
  std::string name;
  std::optional<std::int64_t> value;
};

PriorityClassValue ReadPriorityClassOf(JsonValue spec, const ReadContext& context,
                                       const ClusterDefaults& defaults) {
  const auto reference = ObjectMember(spec, "priorityClassRef", context);  // v1beta2
  const JsonValue parent = reference.value_or(spec);
  const std::string_view field = reference ? "name" : "priorityClassName";
  const std::string_view source =
      StringMember(parent, reference ? "kind" : "priorityClassSource", context).value_or("");
  const bool of_pods = source == "PriorityClass" || source == "scheduling.k8s.io/priorityclass";
  const auto& values = of_pods ? defaults.priority_classes : defaults.workload_priority_classes;
  PriorityClassValue result{TextMember(parent, field, context), std::nullopt};
  if (const auto it = values.find(result.name); it != values.end()) result.value = it->second;
  return result;
}

void ReadPriority(JsonValue spec, const ReadContext& context, const ClusterDefaults& defaults,
                  Workload& workload) {
  PriorityClassValue priority_class = ReadPriorityClassOf(spec, context, defaults);
  workload.priority_class = std::move(priority_class.name);
  constexpr std::int32_t kLowest = std::numeric_limits<std::int32_t>::min();
  if (const auto priority = Int32Member(spec, "priority", context, kLowest)) {
    workload.priority = *priority;
  } else if (priority_class.value) {
    workload.priority = *priority_class.value;
  } else if (!workload.priority_class.empty()) {
    context.Warn(spec,
                 "the priority class " + workload.priority_class +
                     " is not in the input, so the priority counts as 0",
                 "the priority class among the files, or spec.priority");
  }
}

// One per pod set; nullopt where it has none.
std::vector<std::optional<JsonValue>> PodSpecs(JsonValue spec, const ReadContext& context) {
  std::vector<std::optional<JsonValue>> pod_specs;
  if (const auto pod_sets = ArrayMember(spec, "podSets", context)) {
    for (const JsonValue pod_set : *pod_sets) {
      const auto pod_template = Member(pod_set, "template");
      pod_specs.push_back(pod_template ? Member(*pod_template, "spec") : std::nullopt);
    }
  }
  return pod_specs;
}

// Answers, admissions and pods say by name which pod set is meant.
void CheckPodSetNames(const std::vector<PodSet>& pod_sets, JsonValue spec,
                      const ReadContext& context) {
  std::set<std::string_view> names;
  for (const PodSet& pod_set : pod_sets) {
    if (names.insert(pod_set.name).second) continue;
    context.Error(*Member(spec, "podSets"),
                  "two pod sets are named \"" + Excerpt(pod_set.name) + "\"",
                  "a name of its own for each pod set");
  }
}

// Adds what keeps pods of the same labels apart from each other: Kueue does not look at it (R7.7),
// and a Workload is placed as Kueue places it.
void AddWhatIsNotKeptApart(JsonValue spec, Workload& workload) {
  simdjson::dom::array pod_sets;
  if (spec["podSets"].get(pod_sets) != simdjson::SUCCESS) return;
  std::vector<std::string> apart;
  std::int64_t pods_apart = 0;
  for (std::size_t i = 0; i < workload.pod_sets.size(); ++i) {
    const PodSet& pod_set = workload.pod_sets[i];
    if (pod_set.count < 1 || pod_set.pod_template.ignored_constraints.empty()) continue;
    EqGroup group;
    JsonValue pods;
    if (pod_sets.at(i)["template"].get(pods) == simdjson::SUCCESS) AddWhatKeepsApart(pods, group);
    if (group.apart) {
      pods_apart += pod_set.count;
      apart.push_back(
          fmt::format("that each pod of pod set {} has a domain of {} to itself is not looked at",
                      pod_set.name, group.apart->topology));
    }
    if (pod_set.count == 1) continue;
    for (const std::string& what : group.kept_apart) {
      workload.not_honoured.push_back(
          fmt::format("{} of pod set {} is not looked at", what, pod_set.name));
    }
  }
  if (pods_apart > 1) std::ranges::move(apart, std::back_inserter(workload.not_honoured));
}

}  // namespace

TopologyRequest ReadTopologyRequest(JsonValue object, const ReadContext& context) {
  TopologyRequest request;
  request.required = OptionalText(object, "required", context);
  request.preferred = OptionalText(object, "preferred", context);
  ReadPolicyAndLevel(object, context, request);
  request.unconstrained = BoolMember(object, "unconstrained", context);
  request.slice_topology = OptionalText(object, "podSetSliceRequiredTopology", context);
  request.slice_size = SliceSize(object, "podSetSliceSize", context);
  if (request.slice_size && !request.slice_topology && context.kind == "Workload") {
    context.Warn(*Member(object, "podSetSliceSize"),
                 "it is not honoured when podSetSliceRequiredTopology is not specified",
                 "podSetSliceRequiredTopology beside it");
  }
  request.slice_constraints = ReadList(
      object, "podsetSliceRequiredTopologyConstraints", context, [&](JsonValue constraint) {
        return SliceConstraint{RequiredText(constraint, "topology", context),
                               SliceSize(constraint, "size", context).value_or(0)};
      });
  request.pod_set_group_name = OptionalText(object, "podSetGroupName", context);
  request.pod_index_label = OptionalText(object, "podIndexLabel", context);
  request.sub_group_index_label = OptionalText(object, "subGroupIndexLabel", context);
  request.sub_group_count = Int32Member(object, "subGroupCount", context);
  return request;
}

PodSetUpdate ReadPodSetUpdate(JsonValue object, const ReadContext& context) {
  return {TextMember(object, "name", context), TextMapMember(object, "labels", context),
          TextMapMember(object, "annotations", context),
          TextMapMember(object, "nodeSelector", context),
          ReadTolerations(object, "tolerations", context)};
}

PodSet ReadPodSet(JsonValue object, const ReadContext& context, const ClusterDefaults& defaults,
                  std::string_view name_space) {
  PodSet pod_set;
  pod_set.name = StringMember(object, "name", context).value_or("main");
  pod_set.count = Int32Member(object, "count", context).value_or(1);
  pod_set.min_count = Int32Member(object, "minCount", context);
  if (pod_set.min_count && (*pod_set.min_count < 1 || *pod_set.min_count > pod_set.count)) {
    context.Error(*Member(object, "minCount"), "it is not among the counts of the pod set",
                  fmt::format("1 to {}, its count", pod_set.count));
  }
  const auto pod_template = ObjectMember(object, "template", context);
  if (pod_template) {
    pod_set.pod_template = ReadPodTemplate(*pod_template, context, defaults, name_space);
    if ((*pod_template)["spec"]["nodeName"].is_string()) {
      pod_set.pod_template.ignored_constraints.emplace_back("node name");
    }
  }
  if (const auto request = ObjectMember(object, "topologyRequest", context)) {
    pod_set.topology_request = ReadTopologyRequest(*request, context);
  } else if (pod_template) {
    pod_set.topology_request = ReadTopologyAnnotations(*pod_template, "", context);
  }
  return pod_set;
}

Workload ReadWorkload(JsonValue object, const ReadContext& context,
                      const ClusterDefaults& defaults) {
  Workload workload;
  workload.key = ReadObjectKey(object, context);
  if (const auto metadata = ObjectMember(object, "metadata", context)) {
    workload.uid = TextMember(*metadata, "uid", context);
    workload.labels = TextMapMember(*metadata, "labels", context);
    workload.annotations = TextMapMember(*metadata, "annotations", context);
    workload.owners = ReadOwners(*metadata, context);
    workload.creation_seconds = TimeMember(*metadata, "creationTimestamp", context).value_or(0);
  }
  if (const auto spec = ObjectMember(object, "spec", context)) {
    ReadPriority(*spec, context, defaults, workload);
    workload.queue_name = TextMember(*spec, "queueName", context);
    workload.active = BoolMember(*spec, "active", context).value_or(true);
    workload.pod_sets = ReadList(*spec, "podSets", context, [&](JsonValue pod_set) {
      return ReadPodSet(pod_set, context, defaults, workload.key.namespace_);
    });
    CheckPodSetNames(workload.pod_sets, *spec, context);
    AddWhatIsNotKeptApart(*spec, workload);
    workload.resources_error =
        ResourcesError(PodSpecs(*spec, context), context, defaults, workload.key.namespace_);
  }
  if (const auto status = ObjectMember(object, "status", context)) {
    ReadStatus(*status, context, workload);
  }
  return workload;
}

}  // namespace espalier
