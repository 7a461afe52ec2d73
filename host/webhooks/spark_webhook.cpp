// The webhook of SparkApplications.
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "host/model/kueue_keys.hpp"
#include "host/model/quantity.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/sources/spark_pods.hpp"
#include "host/webhooks/job_checks.hpp"

namespace espalier {
namespace {

// Why Kubernetes takes the text for no quantity, in its words; empty when it is one.
std::string QuantityError(std::string_view text) {
  if (ParseQuantity(text)) return "";
  constexpr std::string_view kDigits = "0123456789";
  const auto skip = [&](std::string_view set) {
    const std::size_t end = text.find_first_not_of(set);
    text.remove_prefix(end == text.npos ? text.size() : end);
  };
  const auto skip_one = [&](std::string_view set) {
    if (!text.empty() && set.find(text.front()) != set.npos) text.remove_prefix(1);
  };
  const bool is_empty = text.empty();
  skip_one("+-");
  skip(kDigits);
  skip_one(".");
  skip(kDigits);
  skip("eEinumkKMGTP");
  skip_one("+-");
  skip(kDigits);
  return is_empty || !text.empty() ? "quantities must match the regular expression "
                                     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
                                   : "unable to parse quantity's suffix";
}

struct SparkPods {
  PodSetToCheck pod_set;
  std::string error;  // why Kueue makes none; empty when it does
};

SparkPods PodsOfRole(JsonValue spec, const SparkRole& role, const JobCheck& check) {
  SparkPods pods;
  const auto of_role = Member(spec, role.name);
  if (!of_role || !of_role->is_object()) return pods;
  for (const SparkQuantity& quantity : kSparkQuantities) {
    std::string_view text;
    const auto value = Member(*of_role, quantity.field);
    if (!value || value->get(text) != simdjson::SUCCESS) continue;
    const std::string error = QuantityError(KubernetesText(quantity, text));
    if (error.empty()) continue;
    pods.error = fmt::format("failed to parse {} {}: {}", quantity.title, text, error);
    return pods;
  }
  MadeObjects made;
  pods.pod_set = ToCheck(check, role.name, "", MadeSparkPods("", spec, *of_role, role, made));
  pods.pod_set.annotations_path = fmt::format("spec.{}.annotations", role.name);
  pods.error = TopologyRequestError(pods.pod_set.annotations, check.gates.multi_layer_topology);
  return pods;
}

bool AllocatesDynamically(JsonValue spec) {
  bool enabled = false;
  return spec["dynamicAllocation"]["enabled"].get(enabled) == simdjson::SUCCESS && enabled;
}

}  // namespace

void CheckSparkApplication(const JobCheck& check) {
  const auto spec = Member(check.job.value, "spec");
  if (!spec || !spec->is_object()) return CheckJobMetadata(check);
  if (HasQueueName(check)) {
    const std::string_view mode = TextOf(*spec, "mode");
    if (mode != "cluster") {
      check.found.Invalid("spec.mode", mode,
                          "only Cluster mode is supported for a kueue managed job");
    }
    const bool elastic = check.gates.elastic_jobs_via_workload_slices &&
                         AnnotationOf(check.job.value, kElasticJobAnnotation) == "true";
    if (!elastic && AllocatesDynamically(*spec)) {
      check.found.Invalid("spec.dynamicAllocation.enabled", true,
                          "a kueue managed job can use dynamicAllocation only when the "
                          "ElasticJobsViaWorkloadSlices feature gate is on and the job is an "
                          "elastic job");
    }
  }
  CheckJobMetadata(check);
  if (!check.gates.topology_aware_scheduling) return;
  const SparkPods roles[] = {PodsOfRole(*spec, kSparkDriver, check),
                             PodsOfRole(*spec, kSparkExecutor, check)};
  for (const SparkPods& role : roles) {
    if (!role.error.empty()) return check.found.Replace(role.error);
  }
  for (const SparkPods& role : roles) {
    CheckTopologyAnnotations(role.pod_set, check.gates, check.found);
    CheckSlicesFit(role.pod_set, check.gates, check.found);
  }
}

}  // namespace espalier
