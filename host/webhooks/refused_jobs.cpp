#include "host/webhooks/refused_jobs.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/objects/workload_status.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/part_reference.hpp"
#include "host/webhooks/job_webhooks.hpp"

namespace espalier {
namespace {

bool HasComeToBe(JsonValue object) {
  std::string_view uid;
  return object["metadata"]["uid"].get(uid) == simdjson::SUCCESS && !uid.empty();
}

// Why Kueue makes no Workload of a job that there is; "" when it makes one.
std::string WhyNoWorkload(const Workload& workload) {
  if (!workload.webhook_errors.empty()) {
    return fmt::format("Kueue's webhook of Workloads refuses the one that its controller makes: {}",
                       fmt::join(workload.webhook_errors, "; "));
  }
  const bool class_is_missing =
      !workload.priority_class.empty() &&
      workload.reconcile_error.ends_with(fmt::format("\"{}\" not found", workload.priority_class));
  if (workload.reconcile_error.empty() || class_is_missing) return "";
  return "Kueue makes no Workload of it: " + workload.reconcile_error;
}

}  // namespace

void RefusedJobs::Look(const JobObject& job, const FeatureGates& gates) {
  if (HasComeToBe(job.value)) return;
  std::vector<std::string> lines;
  for (Violation& violation : ValidateJob(job, gates)) lines.push_back(std::move(violation.text));
  if (lines.empty()) return;
  const std::string title = ObjectTitle(job.value, job.context.kind, job.context.read.generated);
  std::string why = fmt::format("Kueue's webhook refuses {}, which never comes to be: {}", title,
                                fmt::join(lines, "; "));
  std::string_view group;
  if (job.context.kind == "Pod" &&
      job.value["metadata"]["labels"][kKueuePodGroupName].get(group) == simdjson::SUCCESS) {
    why_of_pod_group_.emplace(
        ObjectKey{NamespaceOfObject(job.value, job.context.read), std::string(group)}, why);
  }
  why_.emplace(title, std::move(why));
}

void RefusedJobs::Refuse(Cluster& cluster) const {
  for (Workload& workload : cluster.workloads) {
    if (!workload.refusal.empty() || workload.admission || !LacksQuota(workload)) continue;
    for (const OwnerReference& owner : workload.owners) {
      const ObjectKey key{workload.key.namespace_, owner.name};
      const auto found = why_.find(fmt::format("{} {}", owner.kind, key.ToString()));
      if (found != why_.end()) workload.refusal = found->second;
    }
    const auto group = why_of_pod_group_.find(workload.key);
    if (workload.refusal.empty() && group != why_of_pod_group_.end()) {
      workload.refusal = group->second;
    }
    if (workload.refusal.empty()) workload.refusal = WhyNoWorkload(workload);
  }
}

}  // namespace espalier
