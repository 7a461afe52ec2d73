// The webhooks of Deployments and StatefulSets.
#include "host/webhooks/job_checks.hpp"

namespace espalier {
namespace {

// Checks the pods that are made of the object's template, each of which goes through the webhook of
// pods. They have the object's queue, so that no other of theirs matters.
void CheckPodsOf(const JobCheck& check) {
  JsonValue pods;
  if (check.job.value["spec"]["template"].get(pods) != simdjson::SUCCESS || !pods.is_object()) {
    return;
  }
  const SourceContext& of_job = check.job.context;
  const SourceContext of_pods{of_job.read, of_job.defaults, of_job.find, "Pod", "v1",
                              "",          of_job.as_kueue};
  const JobObject pod{pods, of_pods, {}, check.job.cluster};
  Violations found(check.found.object());
  CheckPod({pod, check.gates, check.supports, found});
  check.found.AddFrom("spec.template.", found.Take());
}

}  // namespace

void CheckDeployment(const JobCheck& check) {
  const std::size_t before = check.found.size();
  CheckQueueName(check);
  CheckElasticJob(check);
  if (check.found.size() == before && HasQueueName(check)) CheckPodsOf(check);
}

void CheckStatefulSet(const JobCheck& check) {
  CheckQueueName(check);
  CheckElasticJob(check);
  CheckAdmissionGates(check);
}

}  // namespace espalier
