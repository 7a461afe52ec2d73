// The webhooks of RayClusters, RayJobs and RayServices.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "host/model/kueue_keys.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/sources/ray_head.hpp"
#include "host/webhooks/job_checks.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostPodSets = 18;                     // R23.14
constexpr const char* kClusterPath = "spec.rayClusterSpec";  // of RayServices too
constexpr std::string_view kScaling =
    "a kueue managed job should only use autoscaling when workload slicing is enabled";

// A RayClusterSpec within an object, and where Kueue says that it is.
struct RayCluster {
  JsonValue spec;
  std::string path;
};

std::vector<JsonValue> WorkerGroups(const RayCluster& cluster) {
  std::vector<JsonValue> groups;
  const auto list = Member(cluster.spec, "workerGroupSpecs");
  if (!list) return groups;
  for (const JsonValue group : Items(*list)) {
    if (group.is_object()) groups.push_back(group);
  }
  return groups;
}

std::optional<JsonValue> ObjectIn(JsonValue parent, std::string_view name) {
  const auto value = Member(parent, name);
  return value && value->is_object() ? value : std::nullopt;
}

bool IsTrue(JsonValue object, std::string_view name) {
  bool value = false;
  return object[name].get(value) == simdjson::SUCCESS && value;
}

// Checks what Kueue asks of clusters of its own.
void CheckManagedCluster(const RayCluster& cluster, std::string_view scaling,
                         const JobCheck& check) {
  if (IsTrue(cluster.spec, "enableInTreeAutoscaling") && !IsElastic(check)) {
    check.found.Invalid(cluster.path + ".enableInTreeAutoscaling", true, scaling);
  }
  const std::vector<JsonValue> groups = WorkerGroups(cluster);
  if (groups.size() + 1 > kMostPodSets) {
    check.found.TooMany(cluster.path + ".workerGroupSpecs", groups.size() + 1, kMostPodSets);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (TextOf(groups[i], "groupName") != "head") continue;
    check.found.Forbidden(fmt::format("{}.workerGroupSpecs[{}].groupName", cluster.path, i),
                          R"("head" is reserved for the head group)", "head");
  }
}

// The pod sets of a cluster, the head first.
std::vector<PodSetToCheck> PodSetsOf(const RayCluster& cluster, const JobCheck& check) {
  std::vector<PodSetToCheck> pod_sets;
  const auto add = [&](JsonValue of, std::string_view name, std::string_view field) {
    pod_sets.push_back(ToCheck(check, name, fmt::format("{}.{}.template", cluster.path, field),
                               ObjectIn(of, "template").value_or(of)));
  };
  add(ObjectIn(cluster.spec, "headGroupSpec").value_or(cluster.spec), "head", "headGroupSpec");
  for (const JsonValue group : WorkerGroups(cluster)) {
    add(group, LowerCase(TextOf(group, "groupName")),
        fmt::format("workerGroupSpecs[{}]", pod_sets.size() - 1));
  }
  return pod_sets;
}

// Why Kueue makes no pod sets of the cluster; empty when it does.
std::string PodSetsError(std::span<const PodSetToCheck> pod_sets, const RayCluster& cluster,
                         const JobCheck& check) {
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    std::string error =
        TopologyRequestError(pod_sets[i].annotations, check.gates.multi_layer_topology);
    if (!error.empty()) return error;
    if (i > 0 || !RecoversFromRedis(check.job.value, cluster.spec)) continue;
    simdjson::dom::array containers;
    const auto head = cluster.spec["headGroupSpec"]["template"]["spec"]["containers"];
    if (head.get(containers) != simdjson::SUCCESS || containers.size() == 0) {
      return "cannot account for Redis cleanup resources: head pod template must include the Ray "
             "container";
    }
  }
  return "";
}

// The pod sets whose topology requests may name a group (R20.11).
std::vector<PodSetToCheck> WithLevel(std::span<const PodSetToCheck> pod_sets) {
  std::vector<PodSetToCheck> with_level;
  std::ranges::copy_if(pod_sets, std::back_inserter(with_level), [](const PodSetToCheck& pod_set) {
    return pod_set.annotations.Contains(kRequiredTopology) ||
           pod_set.annotations.Contains(kPreferredTopology);
  });
  return with_level;
}

// Checks the topology annotations. With `all_or_head`, those of the workers are looked at only
// where Kueue makes pod sets of the cluster. `submitter`: the template of a pod set after them.
void CheckTopology(const RayCluster& cluster, std::optional<JsonValue> submitter, bool all_or_head,
                   const JobCheck& check) {
  if (!check.gates.topology_aware_scheduling) return;
  const std::vector<PodSetToCheck> pod_sets = PodSetsOf(cluster, check);
  std::string error = PodSetsError(pod_sets, cluster, check);
  if (submitter && error.empty()) {
    error = TopologyRequestError(
        ToCheck(check, "submitter", "spec.submitterPodTemplate", *submitter).annotations,
        check.gates.multi_layer_topology);
  }
  const std::size_t before = check.found.size();
  for (const PodSetToCheck& pod_set : pod_sets) {
    const bool is_head = &pod_set == pod_sets.data();
    if (!is_head && all_or_head && !error.empty()) break;
    CheckTopologyAnnotations(pod_set, check.gates, check.found);
    if (!error.empty()) continue;
    CheckSlicesFit(pod_set, check.gates, check.found);
    if (is_head) CheckPodSetGroups(WithLevel(pod_sets), check.found);
  }
  if (!error.empty() && check.found.size() == before) check.found.Replace(error);
}

// A map of texts as JSON, in the order of its keys.
std::string SortedJson(JsonValue map) {
  std::map<std::string_view, JsonValue> fields;
  for (const auto [name, value] : Fields(map)) fields.insert_or_assign(name, value);
  ObjectText sorted;
  for (const auto& [name, value] : fields) sorted.Add(name, value);
  return sorted.Take();
}

}  // namespace

void CheckRayCluster(const JobCheck& check) {
  const auto spec = ObjectIn(check.job.value, "spec");
  if (!spec) return CheckJobMetadata(check);
  const RayCluster cluster{*spec, "spec"};
  if (HasQueueName(check)) {
    CheckManagedCluster(
        cluster,
        "a kueue-managed RayCluster can use autoscaling only as an elastic job: enable the "
        "ElasticJobsViaWorkloadSlices feature gate and set the \"kueue.x-k8s.io/elastic-job\": "
        "\"true\" annotation",
        check);
  }
  CheckJobMetadata(check);
  CheckTopology(cluster, std::nullopt, true, check);
}

void CheckRayService(const JobCheck& check) {
  const auto spec = ObjectIn(check.job.value, "spec");
  const auto config = spec ? ObjectIn(*spec, "rayClusterConfig") : std::nullopt;
  if (!config) return CheckJobMetadata(check);
  const RayCluster cluster{*config, kClusterPath};
  if (HasQueueName(check)) CheckManagedCluster(cluster, kScaling, check);
  CheckJobMetadata(check);
  CheckTopology(cluster, std::nullopt, false, check);
}

void CheckRayJob(const JobCheck& check) {
  const auto spec = ObjectIn(check.job.value, "spec");
  if (!spec) return CheckJobMetadata(check);
  const auto of_cluster = ObjectIn(*spec, "rayClusterSpec");
  if (HasQueueName(check)) {
    const auto selector = ObjectIn(*spec, "clusterSelector");
    const bool selects = selector && Fields(*selector).size() > 0;
    if (selects && of_cluster) {
      return check.found.InvalidJson("spec.clusterSelector", SortedJson(*selector),
                                     "a kueue managed job should not use an existing cluster");
    }
    if (selects) return;  // Kueue leaves it alone
    if (!of_cluster) {
      return check.found.Required(kClusterPath,
                                  "rayClusterSpec is required for Kueue-managed jobs that don't "
                                  "use clusterSelector");
    }
    if (!IsTrue(*spec, "shutdownAfterJobFinishes")) {
      check.found.Invalid("spec.shutdownAfterJobFinishes", false,
                          "a kueue managed job should delete the cluster after finishing");
    }
    CheckManagedCluster({*of_cluster, kClusterPath}, kScaling, check);
  }
  CheckJobMetadata(check);
  if (!of_cluster) return;
  const bool by_job = TextOf(*spec, "submissionMode", "K8sJobMode") == "K8sJobMode";
  CheckTopology({*of_cluster, kClusterPath},
                by_job ? ObjectIn(*spec, "submitterPodTemplate") : std::nullopt, false, check);
}

}  // namespace espalier
