#include "host/readers/sources/wrapped_pod_sets.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/model/parse_integer.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/sources/pods_of_job.hpp"

namespace espalier {
namespace {

constexpr std::string_view kWrapperPodIndex =
    "workload.codeflare.dev.appwrapper/tas-pod-index-label";
constexpr std::string_view kWrapperSubGroupIndex =
    "workload.codeflare.dev.appwrapper/tas-sub-group-index-label";
constexpr std::string_view kSubGroupCount = "workload.codeflare.dev.appwrapper/tas-sub-group-count";

// Finds the pods of objects of the kinds that Kueue knows.
class PodFinder {
 public:
  PodFinder(const ReadContext& context, std::vector<WrappedPods>& found)
      : context_(context), found_(found) {}

  // Returns whether Kueue knows the kind.
  bool Find(JsonValue object) {
    const std::string_view kind = TextOf(object, "kind");
    const std::string_view version = TextOf(object, "apiVersion");
    const auto is = [&](std::string_view of_version, std::string_view of_kind) {
      return version == of_version && kind == of_kind;
    };
    if (is("v1", "Pod")) {
      Add(object, 1);
    } else if (is("apps/v1", "Deployment") || is("apps/v1", "StatefulSet")) {
      AddReplicas(FollowPath(object, "spec"));
    } else if (is("batch/v1", "Job")) {
      if (const auto spec = FollowPath(object, "spec")) {
        AddAt(*spec, PodsOfJob(*spec, context_), {kCompletionIndexLabel});
      }
    } else if (is("jobset.x-k8s.io/v1alpha2", "JobSet")) {
      ForEach(object, "spec", "replicatedJobs", [&](JsonValue job) { AddReplicatedJob(job); });
    } else if (is("kubeflow.org/v1", "PyTorchJob")) {
      for (const char* type : {"Master", "Worker"}) {
        AddReplicas(FollowPath(object, fmt::format("spec.pytorchReplicaSpecs.{}", type)),
                    {kReplicaIndex});
      }
    } else if (is("ray.io/v1", "RayCluster")) {
      AddRayCluster(object, "spec");
    } else if (is("ray.io/v1", "RayJob")) {
      AddRayCluster(object, "spec.rayClusterSpec");
    } else {
      return false;
    }
    return true;
  }

 private:
  void Add(JsonValue pod_template, std::int32_t count, const PodIndex& index = {}) {
    if (Member(pod_template, "spec")) found_.push_back({pod_template, count, index});
  }

  // Adds the pods of the template beside which the count is.
  void AddAt(JsonValue parent, std::int32_t count, const PodIndex& index = {}) {
    if (const auto pod_template = FollowPath(parent, "template")) Add(*pod_template, count, index);
  }

  void AddReplicas(const std::optional<JsonValue>& parent, const PodIndex& index = {}) {
    if (parent) AddAt(*parent, Int32Member(*parent, "replicas", context_).value_or(1), index);
  }

  void AddReplicatedJob(JsonValue job) {
    const auto job_spec = FollowPath(job, "template.spec");
    if (!job_spec) return;
    const std::int32_t replicas = Int32Member(job, "replicas", context_).value_or(1);
    const std::int64_t pods = std::int64_t{replicas} * PodsOfJob(*job_spec, context_);
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    AddAt(*job_spec, static_cast<std::int32_t>(std::clamp(pods, -kMost, kMost)),
          {kCompletionIndexLabel, kJobIndex, replicas});
  }

  void AddRayCluster(JsonValue object, std::string_view path) {
    const auto cluster = FollowPath(object, path);
    if (!cluster) return;
    if (const auto head = FollowPath(*cluster, "headGroupSpec")) AddAt(*head, 1);
    ForEach(object, path, "workerGroupSpecs", [&](JsonValue group) { AddReplicas(group); });
  }

  void ForEach(JsonValue object, std::string_view path, std::string_view list,
               const std::function<void(JsonValue)>& read) {
    const auto parent = FollowPath(object, path);
    if (!parent) return;
    ReadList(*parent, list, context_, [&](JsonValue item) {
      read(item);
      return 0;
    });
  }

  const ReadContext& context_;
  std::vector<WrappedPods>& found_;
};

// The labels with the pods' indexes, which annotations of a declared pod set name.
PodIndex IndexOf(JsonValue pod_set) {
  std::string_view texts[3];
  constexpr std::string_view kKeys[] = {kWrapperPodIndex, kWrapperSubGroupIndex, kSubGroupCount};
  JsonValue annotations;
  if (pod_set["annotations"].get(annotations) != simdjson::SUCCESS || !annotations.is_object()) {
    return {};
  }
  for (std::size_t i = 0; i < std::size(kKeys); ++i) {
    if (const auto value = Member(annotations, kKeys[i])) std::ignore = value->get(texts[i]);
  }
  return {texts[0], texts[1], ParseInteger<std::int32_t>(texts[2]).value_or(0)};
}

}  // namespace

std::optional<JsonValue> FollowPath(JsonValue value, std::string_view path) {
  while (!path.empty()) {
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    if (end > 0) {
      const auto next = Member(value, path.substr(0, end));
      if (!next) return std::nullopt;
      value = *next;
    }
    path.remove_prefix(end);
    if (path.starts_with('.')) path.remove_prefix(1);
    if (!path.starts_with('[')) continue;
    std::size_t index = 0;
    const std::size_t close = std::min(path.find(']'), path.size());
    const auto [stop, code] = std::from_chars(path.data() + 1, path.data() + close, index);
    simdjson::dom::array list;
    if (code != std::errc{} || stop != path.data() + close ||
        value.get(list) != simdjson::SUCCESS || index >= list.size()) {
      return std::nullopt;
    }
    value = list.at(index).value_unsafe();
    path.remove_prefix(std::min(close + 1, path.size()));
  }
  return value.is_object() ? std::optional<JsonValue>(value) : std::nullopt;
}

std::vector<WrappedPods> ReadWrappedPods(JsonValue component, const ReadContext& context,
                                         const std::function<void(std::string)>& note) {
  std::vector<WrappedPods> found;
  const auto inner = FollowPath(component, "template");
  if (!inner) return found;
  const auto declared = ArrayMember(component, "podSets", context);
  if (!declared || declared->size() == 0) {
    if (!PodFinder(context, found).Find(*inner)) {
      note(fmt::format("Kueue looks for no pods in its {} {}, which declares no podSets",
                       TextOf(*inner, "apiVersion"), Excerpt(TextOf(*inner, "kind"))));
    }
    return found;
  }
  ReadList(component, "podSets", context, [&](JsonValue pod_set) {
    const std::string path = TextMember(pod_set, "path", context);
    const auto pods = path.starts_with("template") ? FollowPath(component, path) : std::nullopt;
    if (!pods || !Member(*pods, "spec")) {
      note(
          fmt::format("nothing is at the path {} of its podSets, so that Kueue takes no account "
                      "of it",
                      Excerpt(path)));
      return 0;
    }
    found.push_back(
        {*pods, Int32Member(pod_set, "replicas", context).value_or(1), IndexOf(pod_set)});
    return 0;
  });
  return found;
}

}  // namespace espalier
