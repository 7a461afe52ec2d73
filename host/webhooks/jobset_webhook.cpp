// The webhook of JobSets.
#include <vector>

#include <fmt/format.h>

#include "host/webhooks/job_checks.hpp"

namespace espalier {

void CheckJobSet(const JobCheck& check) {
  CheckJobMetadata(check);
  simdjson::dom::array jobs;
  if (check.job.value["spec"]["replicatedJobs"].get(jobs) != simdjson::SUCCESS) return;
  std::vector<PodSetToCheck> pod_sets;
  std::size_t index = 0;
  for (const JsonValue job : jobs) {
    const std::size_t i = index++;
    JsonValue pods;
    if (job["template"]["spec"]["template"].get(pods) != simdjson::SUCCESS || !pods.is_object()) {
      continue;
    }
    pod_sets.push_back(ToCheck(check, TextOf(job, "name"),
                               fmt::format("spec.replicatedJobs[{}].template.spec.template", i),
                               pods));
  }
  if (HasTopologyRequestError(pod_sets, check)) return;
  CheckPodSets(pod_sets, /*with_groups=*/true, check);
}

}  // namespace espalier
