// The webhook of batch Jobs.
#include <fmt/format.h>

#include "host/model/go_texts.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/readers/sources/pods_of_job.hpp"
#include "host/webhooks/job_checks.hpp"

namespace espalier {
namespace {

constexpr std::string_view kSyncCompletions = "kueue.x-k8s.io/job-completions-equal-parallelism";

// Partial admission (R21.11).
void CheckMinParallelism(const JobCheck& check, const StringMap& annotations, std::int64_t pods) {
  const std::string* text = annotations.Find(kMinParallelismAnnotation);
  if (text == nullptr) return;
  const auto least = ParseGoInt("Atoi", *text);
  if (!least) {
    return check.found.Invalid(AnnotationPath(kMinParallelismAnnotation), *text,
                               least.error().message);
  }
  if (*least > 0 && *least < pods) return;
  check.found.Invalid(AnnotationPath(kMinParallelismAnnotation), *least,
                      fmt::format("should be between 0 and {}", pods - 1));
}

void CheckSyncedCompletions(const JobCheck& check, const StringMap& annotations, JsonValue spec) {
  const std::string* text = annotations.Find(kSyncCompletions);
  if (text == nullptr) return;
  const auto synced = ParseGoBool(*text);
  if (!synced) {
    return check.found.Invalid(AnnotationPath(kSyncCompletions), *text, synced.error().message);
  }
  if (!*synced) return;
  if (!IsIndexed(spec, false, check.job.context.read)) {
    check.found.Invalid(AnnotationPath(kSyncCompletions), *text,
                        "should not be enabled for NonIndexed jobs");
  }
  const ReadContext& context = check.job.context.read;
  const auto completions = Int32Member(spec, "completions", context);
  if (completions.value_or(1) == Int32Member(spec, "parallelism", context).value_or(1)) return;
  const std::string message =
      fmt::format("should be equal to parallelism when {} annotation is true", kSyncCompletions);
  if (completions) {
    check.found.Invalid("spec.completions", std::int64_t{*completions}, message);
  } else {
    check.found.Invalid("spec.completions", "null", message);
  }
}

}  // namespace

void CheckBatchJob(const JobCheck& check) {
  CheckJobMetadata(check);
  const auto spec = Member(check.job.value, "spec");
  const auto pods = spec && spec->is_object() ? Member(*spec, "template") : std::nullopt;
  if (!pods || !pods->is_object()) return;
  const ReadContext& context = check.job.context.read;
  StringMap annotations;
  if (const auto metadata = Member(check.job.value, "metadata")) {
    annotations = TextMapMember(*metadata, "annotations", context);
  }
  CheckMinParallelism(check, annotations, PodsOfJob(*spec, context));
  CheckSyncedCompletions(check, annotations, *spec);
  const PodSetToCheck pod_set = ToCheck(check, "main", "spec.template", *pods);
  if (IsElastic(check)) CheckElasticTopology(pod_set, check.found);
  const std::size_t before = check.found.size();
  CheckTopologyAnnotations(pod_set, check.gates, check.found);
  if (check.found.size() == before) CheckSlicesFit(pod_set, check.gates, check.found);
}

}  // namespace espalier
