#include "host/webhooks/job_webhooks.hpp"

#include <algorithm>
#include <array>

#include "host/webhooks/job_checks.hpp"

namespace espalier {
namespace {

struct JobWebhook {
  std::string_view kind;
  std::string_view group;
  void (*check)(const JobCheck&);
  JobSupport supports = {};
};

constexpr std::string_view kKubeflow = "kubeflow.org";
constexpr std::string_view kRay = "ray.io";
constexpr std::string_view kSpark = "sparkoperator.k8s.io";

constexpr auto kWebhooks = std::to_array<JobWebhook>({
    {"Job", "batch", CheckBatchJob, {.elastic = true}},
    {"JobSet", "jobset.x-k8s.io", CheckJobSet},
    {"TrainJob", "trainer.kubeflow.org", CheckTrainJob},
    {"MPIJob", kKubeflow, CheckTrainingJob},
    {"PyTorchJob", kKubeflow, CheckTrainingJob},
    {"TFJob", kKubeflow, CheckTrainingJob},
    {"XGBoostJob", kKubeflow, CheckTrainingJob},
    {"PaddleJob", kKubeflow, CheckTrainingJob},
    {"JAXJob", kKubeflow, CheckTrainingJob},
    {"RayCluster", kRay, CheckRayCluster, {.elastic = true}},
    {"RayJob", kRay, CheckRayJob, {.elastic = true}},
    {"RayService", kRay, CheckRayService, {.elastic = true}},
    {"SparkApplication", kSpark, CheckSparkApplication, {.prebuilt_workload = false}},
    {"Pod", "", CheckPod},
    {"Deployment", "apps", CheckDeployment},
    {"StatefulSet", "apps", CheckStatefulSet},
    {"LeaderWorkerSet", "leaderworkerset.x-k8s.io", CheckLeaderWorkerSet},
    {"AppWrapper", "workload.codeflare.dev", CheckJobMetadata},
});

const JobWebhook* Find(std::string_view kind, std::string_view group) {
  const auto row = std::ranges::find_if(kWebhooks, [&](const JobWebhook& webhook) {
    return webhook.kind == kind && webhook.group == group;
  });
  return row == kWebhooks.end() ? nullptr : &*row;
}

}  // namespace

bool HasJobWebhook(const JobObject& job) {
  return Find(job.context.kind, job.context.group) != nullptr;
}

std::string JobKind(const JobObject& job) { return std::string(job.context.kind); }

std::string JobPlace(const JobObject& job) {
  return ObjectPlace(job.context.read.file, job.context.read.number);
}

std::vector<Violation> ValidateJob(const JobObject& job, const FeatureGates& gates) {
  const JobWebhook* webhook = Find(job.context.kind, job.context.group);
  if (webhook == nullptr) return {};
  Violations found(ObjectTitle(job.value, job.context.kind, job.context.read.generated));
  webhook->check({job, gates, webhook->supports, found});
  return found.Take();
}

}  // namespace espalier
