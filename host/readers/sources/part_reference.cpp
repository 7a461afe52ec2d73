#include "host/readers/sources/part_reference.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {
namespace {

constexpr std::string_view kKaiPodGroup = "pod-group-name";
constexpr std::string_view kKaiSubGroup = "kai.scheduler/subgroup-name";
constexpr std::string_view kVolcanoTask = "volcano.sh/task-spec";
constexpr std::string_view kWorkloadLink = "scheduling.k8s.io/workload";
constexpr std::string_view kIgnoreWorkloadApi = "kai.scheduler/ignore-workload-api";

// The names in "spec.gangGroup[name=a].rankedGroup[name=b]", joined by slashes.
std::string PartOfFieldPath(std::string_view path) {
  constexpr std::string_view kName = "[name=";
  std::string part;
  for (std::size_t at = 0; (at = path.find(kName, at)) != path.npos;) {
    at += kName.size();
    const std::size_t end = std::min(path.find(']', at), path.size());
    part.append(part.empty() ? "" : "/").append(path.substr(at, end - at));
  }
  return part;
}

PartReference ReadWorkloadField(JsonValue object, const ReadContext& context) {
  WarnOfUnknownFields(object,
                      {"name", "kind", "apiVersion", "apiGroup", "namespace", "uid", "fieldPath",
                       "gangGroup", "rankedGroup", "eqGroup", "replicaKey"},
                      context);
  PartReference reference{PartReference::Kind::kWorkload, RequiredText(object, "name", context)};
  reference.part = PartOfFieldPath(TextMember(object, "fieldPath", context));
  reference.replica_key = TextMember(object, "replicaKey", context);
  for (const std::string_view name : {"gangGroup", "rankedGroup", "eqGroup"}) {
    const std::string text = TextMember(object, name, context);
    if (!text.empty()) reference.part.append(reference.part.empty() ? "" : "/").append(text);
  }
  const std::string name_space = TextMember(object, "namespace", context);
  const auto metadata = Member(context.root, "metadata");
  const std::string own = metadata ? TextMember(*metadata, "namespace", context) : "";
  if (!name_space.empty() && name_space != (own.empty() ? "default" : own)) {
    context.Error(*Member(object, "namespace"), "a reference does not cross namespaces",
                  own.empty() ? "default" : own);
  }
  return reference;
}

// Names annotations that look as if they said which Workload the pod belongs to. The gang API
// leaves open how the annotation is called that may stand in place of spec.workload.
void NameUnknownLinks(JsonValue pod, const ReadContext& context) {
  simdjson::dom::object annotations;
  if (pod["metadata"]["annotations"].get(annotations) != simdjson::SUCCESS) return;
  for (const auto [key, value] : annotations) {
    const bool links = key.starts_with("scheduling") && key.find("/workload") != key.npos;
    if (!links || key == kWorkloadLink) continue;
    context.Warn(value, fmt::format("annotation {} is not read", Excerpt(key)),
                 fmt::format("annotation {} or spec.workload.name", kWorkloadLink));
  }
}

// Reads the replica key under either of its names: that of the API, and the shorter one that KAI's
// description of it uses (W4.1).
std::string ReadReplicaKey(JsonValue reference, const ReadContext& context) {
  std::string key = TextMember(reference, "podGroupReplicaKey", context);
  const auto other = Member(reference, "replicaKey");
  if (!other) return key;
  std::string of_other = TextMember(reference, "replicaKey", context);
  if (key.empty()) return of_other;
  if (!of_other.empty() && of_other != key) {
    context.Error(*other, fmt::format("podGroupReplicaKey beside it is {}", key),
                  "one of them, or the same key in both");
  }
  return key;
}

PartReference ReadWorkloadRef(JsonValue object, const ReadContext& context) {
  WarnOfUnknownFields(object, {"name", "podGroup", "podGroupReplicaKey", "replicaKey"}, context);
  PartReference reference{PartReference::Kind::kWorkloadPodGroup,
                          RequiredText(object, "name", context),
                          RequiredText(object, "podGroup", context)};
  reference.replica_key = ReadReplicaKey(object, context);
  return reference;
}

PartReference ReadSchedulingGroup(JsonValue object, const ReadContext& context) {
  WarnOfUnknownFields(object, {"podGroupName"}, context);
  return {PartReference::Kind::kPodGroup, RequiredText(object, "podGroupName", context)};
}

}  // namespace

PartReference ReadPartReference(JsonValue pod, const ReadContext& context) {
  using Kind = PartReference::Kind;
  PartReference reference;
  const auto spec = Member(pod, "spec");
  const auto take = [&](JsonValue at, PartReference next) {
    if (reference.kind != Kind::kNone) {
      context.Error(at, "it names a second workload", "one reference to one workload");
    }
    reference = std::move(next);
  };
  if (spec && spec->is_object()) {
    if (const auto workload = ObjectMember(*spec, "workload", context)) {
      take(*workload, ReadWorkloadField(*workload, context));
    }
    if (const auto workload = ObjectMember(*spec, "workloadRef", context)) {
      take(*workload, ReadWorkloadRef(*workload, context));
    }
    if (const auto group = ObjectMember(*spec, "schedulingGroup", context)) {
      take(*group, ReadSchedulingGroup(*group, context));
    }
  }
  NameUnknownLinks(pod, context);
  if (reference.kind != Kind::kNone) return reference;
  if (const auto name = AnnotationOf(pod, kWorkloadLink); !name.empty()) {
    return {Kind::kWorkload, std::string(name)};
  }
  if (const auto name = AnnotationOf(pod, kKaiPodGroup); !name.empty()) {
    return {Kind::kKaiPodGroup, std::string(name), std::string(LabelOf(pod, kKaiSubGroup))};
  }
  if (const auto group = KueueGroupOf(pod); !group.name.empty()) {
    return {Kind::kKueuePodGroup, std::string(group.name)};
  }
  for (const std::string_view key :
       {"scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"}) {
    const auto name = AnnotationOf(pod, key);
    if (name.empty()) continue;
    const auto task = AnnotationOf(pod, kVolcanoTask);
    return {Kind::kVolcanoPodGroup, std::string(name),
            std::string(task.empty() ? LabelOf(pod, kVolcanoTask) : task)};
  }
  for (const std::string_view key :
       {"scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io",
        "pod-group.scheduling.sigs.k8s.io/name"}) {
    const auto name = LabelOf(pod, key);
    if (!name.empty()) return {Kind::kCoschedulingPodGroup, std::string(name)};
  }
  return reference;
}

KueueGroupName KueueGroupOf(JsonValue pod) {
  const std::string_view name = AnnotationOf(pod, kKueuePodGroupName);
  if (!name.empty()) return {name, true};
  return {LabelOf(pod, kKueuePodGroupName), false};
}

PartReference ReadTemplatePart(JsonValue pod_template, const ReadContext& context) {
  PartReference reference = ReadPartReference(pod_template, context);
  const bool ignored = reference.kind == PartReference::Kind::kWorkloadPodGroup &&
                       (IgnoresWorkloadApi(pod_template) || IgnoresWorkloadApi(context.root));
  return ignored ? PartReference() : reference;
}

bool IgnoresWorkloadApi(JsonValue object) {
  return AnnotationOf(object, kIgnoreWorkloadApi) == "true" ||
         LabelOf(object, kIgnoreWorkloadApi) == "true";
}

}  // namespace espalier
