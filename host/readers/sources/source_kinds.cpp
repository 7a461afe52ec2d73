#include "host/readers/sources/source_kinds.hpp"

#include <algorithm>
#include <array>

namespace espalier {
namespace {

constexpr std::string_view kScheduling = "scheduling.k8s.io";
constexpr std::string_view kSchedulingVersions =
    "scheduling.k8s.io/v1alpha1 scheduling.k8s.io/v1alpha2 scheduling.k8s.io/v1alpha3 "
    "scheduling.k8s.io/v1beta1";
constexpr std::string_view kRay = "ray.io";
constexpr std::string_view kRayVersions = "ray.io/v1 ray.io/v1alpha1";
constexpr std::string_view kTrainer = "trainer.kubeflow.org";
constexpr std::string_view kTrainerVersions =
    "trainer.kubeflow.org/v1alpha1 trainer.kubeflow.org/v1beta1";

constexpr auto kSourceKinds = std::to_array<SourceKind>({
    {"CronJob", "batch", "batch/v1", ReadCronJob},
    {"JobSet", "jobset.x-k8s.io", "jobset.x-k8s.io/v1alpha2 jobset.x-k8s.io/v1", ReadJobSet},
    {"TrainJob", kTrainer, kTrainerVersions, ReadTrainJob},
    {"TrainingRuntime", kTrainer, kTrainerVersions, nullptr},
    {"ClusterTrainingRuntime", kTrainer, kTrainerVersions, nullptr},
    {"Deployment", "apps", "apps/v1", ReadReplicatedPods},
    {"ReplicaSet", "apps", "apps/v1", ReadReplicatedPods},
    {"StatefulSet", "apps", "apps/v1", ReadStatefulSet},
    {"HorizontalPodAutoscaler", "autoscaling", "autoscaling/v2 autoscaling/v1", nullptr},
    {"LeaderWorkerSet", "leaderworkerset.x-k8s.io", "leaderworkerset.x-k8s.io/v1",
     ReadLeaderWorkerSet},
    {"MPIJob", "kubeflow.org", "kubeflow.org/v2beta1 kubeflow.org/v1", ReadTrainingJob},
    {"PyTorchJob", "kubeflow.org", "kubeflow.org/v1", ReadTrainingJob},
    {"TFJob", "kubeflow.org", "kubeflow.org/v1", ReadTrainingJob},
    {"XGBoostJob", "kubeflow.org", "kubeflow.org/v1", ReadTrainingJob},
    {"PaddleJob", "kubeflow.org", "kubeflow.org/v1", ReadTrainingJob},
    {"JAXJob", "kubeflow.org", "kubeflow.org/v1", ReadTrainingJob},
    {"RayCluster", kRay, kRayVersions, ReadRay},
    {"RayJob", kRay, kRayVersions, ReadRay},
    {"RayService", kRay, kRayVersions, ReadRay},
    {"SparkApplication", "sparkoperator.k8s.io", "sparkoperator.k8s.io/v1beta2",
     ReadSparkApplication},
    {"AppWrapper", "workload.codeflare.dev", "workload.codeflare.dev/v1beta2", ReadAppWrapper},
    {"Workload", "scheduling", "scheduling/v1alpha1", nullptr},
    {"Workload", kScheduling, kSchedulingVersions, nullptr},
    {"PodGroup", kScheduling, kSchedulingVersions, nullptr},
    {"CompositePodGroup", kScheduling, kSchedulingVersions, nullptr},
    {"PodGroup", "scheduling.run.ai", "scheduling.run.ai/v2alpha2", nullptr},
    {"PodGroup", "scheduling.x-k8s.io", "scheduling.x-k8s.io/v1alpha1", nullptr},
    {"PodGroup", "scheduling.sigs.k8s.io", "scheduling.sigs.k8s.io/v1alpha1", nullptr},
    {"PodGroup", "scheduling.volcano.sh", "scheduling.volcano.sh/v1beta1", nullptr},
    {"Job", "batch.volcano.sh", "batch.volcano.sh/v1alpha1", ReadVolcanoJob},
});

std::string_view GroupOf(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : api_version.substr(0, slash);
}

}  // namespace

const SourceKind* FindSourceKind(std::string_view kind, std::string_view api_version) {
  const auto row = std::ranges::find_if(kSourceKinds, [&](const SourceKind& one) {
    return one.kind == kind && (api_version.empty() || one.group == GroupOf(api_version));
  });
  return row == kSourceKinds.end() ? nullptr : &*row;
}

std::span<const SourceKind> SourceKinds() { return kSourceKinds; }

}  // namespace espalier
