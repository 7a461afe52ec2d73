// The webhook of LeaderWorkerSets.
#include <vector>

#include "host/webhooks/job_checks.hpp"

namespace espalier {
namespace {

std::vector<PodSetToCheck> TemplatesOf(const JobCheck& check) {
  JsonValue pods;
  if (check.job.value["spec"]["leaderWorkerTemplate"].get(pods) != simdjson::SUCCESS) return {};
  std::vector<PodSetToCheck> pod_sets;
  const auto add = [&](std::string_view name, const char* field) {
    const auto pod_template = Member(pods, field);
    if (!pod_template || !pod_template->is_object()) return;
    pod_sets.push_back(
        ToCheck(check, name, std::string("spec.leaderWorkerTemplate.") + field, *pod_template));
  };
  add("leader", "leaderTemplate");
  add(pod_sets.empty() ? "main" : "worker", "workerTemplate");
  return pod_sets;
}

}  // namespace

void CheckLeaderWorkerSet(const JobCheck& check) {
  CheckQueueName(check);
  CheckElasticJob(check);
  CheckAdmissionGates(check);
  const std::vector<PodSetToCheck> pod_sets = TemplatesOf(check);
  Violations built(check.found.object());
  const bool known =
      !HasTopologyRequestError(pod_sets, {check.job, check.gates, check.supports, built});
  const std::size_t before = check.found.size();
  for (const PodSetToCheck& pod_set : pod_sets) {
    CheckTopologyAnnotations(pod_set, check.gates, check.found);
    if (known) CheckSlicesFit(pod_set, check.gates, check.found);
  }
  if (known) return CheckPodSetGroups(pod_sets, check.found);
  // That no request can be made of them is said where nothing else is.
  if (check.found.size() == before) check.found.AddFrom("", built.Take());
}

}  // namespace espalier
