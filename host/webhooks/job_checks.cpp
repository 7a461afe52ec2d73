#include "host/webhooks/job_checks.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "host/model/go_texts.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/model/name_errors.hpp"
#include "host/readers/kubernetes_objects.hpp"

namespace espalier {
namespace {

constexpr std::string_view kMaxExecTime = "kueue.x-k8s.io/max-exec-time-seconds";
constexpr std::string_view kGatedBy = "kueue.x-k8s.io/admission-gated-by";

// The value of a label or an annotation; nullopt when it is not set, which differs from empty.
std::optional<std::string_view> ValueOf(JsonValue object, std::string_view map,
                                        std::string_view key) {
  std::string_view text;
  JsonValue values;
  if (object["metadata"][map].get(values) != simdjson::SUCCESS) return std::nullopt;
  const auto value = values.is_object() ? Member(values, key) : std::nullopt;
  if (!value || value->get(text) != simdjson::SUCCESS) return std::nullopt;
  return text;
}

// The kind as Go prints it.
std::string KindText(const SourceContext& context) {
  return fmt::format("\"{}{}, Kind={}\"", context.group.empty() ? "/" : "", context.version,
                     context.kind);
}

void CheckName(const JobCheck& check, const std::string& path, std::string_view name) {
  for (const std::string& error : DnsSubdomainErrors(name)) check.found.Invalid(path, name, error);
}

}  // namespace

std::string LabelPath(std::string_view key) { return fmt::format("metadata.labels[{}]", key); }

std::string AnnotationPath(std::string_view key) {
  return fmt::format("metadata.annotations[{}]", key);
}

bool HasQueueName(const JobCheck& check) {
  if (!check.job.read.empty()) return !check.job.read.front().head.queue_name.empty();
  const auto queue = ValueOf(check.job.value, "labels", kQueueNameLabel);
  return queue && !queue->empty();
}

bool IsElastic(const JobCheck& check) {
  return check.gates.elastic_jobs_via_workload_slices && check.supports.elastic &&
         ValueOf(check.job.value, "annotations", kElasticJobAnnotation) == "true";
}

void CheckJobMetadata(const JobCheck& check) {
  CheckQueueName(check);
  CheckPrebuiltWorkload(check);
  CheckMaxExecTime(check);
  CheckElasticJob(check);
  CheckAdmissionGates(check);
}

void CheckQueueName(const JobCheck& check) {
  const auto queue = ValueOf(check.job.value, "labels", kQueueNameLabel);
  if (queue) CheckName(check, LabelPath(kQueueNameLabel), *queue);
}

void CheckPrebuiltWorkload(const JobCheck& check) {
  for (const std::string_view map : {"labels", "annotations"}) {
    const auto name = ValueOf(check.job.value, map, kPrebuiltWorkload);
    if (!name) continue;
    const std::string path =
        map == "labels" ? LabelPath(kPrebuiltWorkload) : AnnotationPath(kPrebuiltWorkload);
    if (check.supports.prebuilt_workload) {
      CheckName(check, path, *name);
    } else {
      check.found.Forbidden(
          path, fmt::format("Is not supported for {}", KindText(check.job.context)), *name);
    }
  }
}

void CheckMaxExecTime(const JobCheck& check) {
  const auto text = ValueOf(check.job.value, "labels", kMaxExecTime);
  if (!text) return;
  const auto seconds = ParseGoInt("Atoi", *text);
  if (!seconds) {
    check.found.Invalid(LabelPath(kMaxExecTime), *text, seconds.error().message);
  } else if (*seconds <= 0) {
    check.found.Invalid(LabelPath(kMaxExecTime), *seconds, "should be greater than 0");
  }
}

void CheckElasticJob(const JobCheck& check) {
  const auto value = ValueOf(check.job.value, "annotations", kElasticJobAnnotation);
  if (!check.gates.elastic_jobs_via_workload_slices) return;  // nothing looks at it then
  if (check.supports.elastic || value != "true") return;
  check.found.Forbidden(
      AnnotationPath(kElasticJobAnnotation),
      fmt::format("elastic job is not supported for {}", KindText(check.job.context)), *value);
}

void CheckAdmissionGates(const JobCheck& check) {
  const auto gates = ValueOf(check.job.value, "annotations", kGatedBy);
  if (!gates || gates->empty()) return;
  const std::string path = AnnotationPath(kGatedBy);
  for (std::size_t begin = 0; begin <= gates->size();) {
    const std::size_t end = std::min(gates->find(',', begin), gates->size());
    const std::string_view gate = gates->substr(begin, end - begin);
    if (gate.empty()) {
      check.found.Invalid(path, *gates, "cannot contain empty gate names");
    } else {
      for (const std::string& error : DomainPathErrors(gate)) {
        check.found.Invalid(path, gate, error);
      }
    }
    begin = end + 1;
  }
}

PodSetToCheck ToCheck(const JobCheck& check, std::string_view pod_set, const std::string& path,
                      JsonValue metadata_of) {
  PodSetToCheck result{path + ".metadata.annotations", {}, std::nullopt};
  for (const EqGroup* group : PodSetsRead(check)) {
    if (group->name == pod_set) result.count = group->count.value_or(group->min_count.value_or(0));
  }
  if (const auto metadata = Member(metadata_of, "metadata"); metadata && metadata->is_object()) {
    result.annotations = TextMapMember(*metadata, "annotations", check.job.context.read);
  }
  return result;
}

std::vector<const EqGroup*> PodSetsRead(const JobCheck& check) {
  std::vector<const EqGroup*> pod_sets;
  for (const GangWorkload& workload : check.job.read) {
    for (const GangGroup& gang : workload.gang_groups) {
      for (const RankedGroup& ranked : gang.ranked_groups) {
        for (const EqGroup& group : ranked.eq_groups) pod_sets.push_back(&group);
      }
    }
  }
  return pod_sets;
}

bool HasTopologyRequestError(std::span<const PodSetToCheck> pod_sets, const JobCheck& check) {
  for (const PodSetToCheck& pod_set : pod_sets) {
    const std::string error =
        TopologyRequestError(pod_set.annotations, check.gates.multi_layer_topology);
    if (error.empty()) continue;
    check.found.Replace(error);
    return true;
  }
  return false;
}

void CheckPodSets(std::span<const PodSetToCheck> pod_sets, bool with_groups,
                  const JobCheck& check) {
  const std::size_t before = check.found.size();
  for (const PodSetToCheck& pod_set : pod_sets) {
    CheckTopologyAnnotations(pod_set, check.gates, check.found);
    CheckSlicesFit(pod_set, check.gates, check.found);
  }
  if (with_groups && check.found.size() == before) CheckPodSetGroups(pod_sets, check.found);
}

}  // namespace espalier
