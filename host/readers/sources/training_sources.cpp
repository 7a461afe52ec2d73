// MPIJobs and the training jobs of Kubeflow's first operator.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "host/readers/sources/job_state.hpp"
#include "host/readers/sources/source_kinds.hpp"
#include "host/readers/sources/training_kinds.hpp"

namespace espalier {
namespace {

void CheckTypes(JsonValue specs, const TrainingKind& kind, const ReadContext& context) {
  for (const auto [name, value] : Fields(specs)) {
    if (std::ranges::find(kind.types, name) != kind.types.end()) continue;
    std::string known;
    for (const std::string_view type : kind.types) {
      if (!type.empty()) known += fmt::format("{}{}", known.empty() ? "" : ", ", type);
    }
    context.Error(value, fmt::format("a {} has no replicas of this type", kind.kind), known);
  }
}

constexpr auto kTrainingKinds = std::to_array<TrainingKind>({
    {"MPIJob", "mpiReplicaSpecs", {"Launcher", "Worker"}},
    {"PyTorchJob", "pytorchReplicaSpecs", {"Master", "Worker"}},
    {"TFJob", "tfReplicaSpecs", {"Chief", "Master", "PS", "Worker", "Evaluator"}},
    {"XGBoostJob", "xgbReplicaSpecs", {"Master", "Worker"}},
    {"PaddleJob", "paddleReplicaSpecs", {"Master", "Worker"}},
    {"JAXJob", "jaxReplicaSpecs", {"Worker"}},
});

}  // namespace

const TrainingKind& TrainingKindOf(std::string_view kind) {
  return *std::ranges::find(kTrainingKinds, kind, &TrainingKind::kind);
}

void ReadTrainingJob(JsonValue object, const SourceContext& context,
                     std::vector<GangWorkload>& workloads) {
  const TrainingKind& kind = TrainingKindOf(context.kind);
  GangWorkload workload = BeginWorkload(object, context);
  ReadJobState(object, context, workload);
  const auto spec = SpecOf(object, context);
  const auto specs =
      spec ? RequiredObject(*spec, kind.field, "replica specs by type", context) : std::nullopt;
  if (!specs) return;
  CheckTypes(*specs, kind, context.read);
  const bool with_launcher = BoolMember(*spec, "runLauncherAsWorker", context.read).value_or(false);
  workload.whole = true;
  GangGroup gang;
  gang.name = "gg";
  std::vector<JsonValue> templates;
  for (const std::string_view type : kind.types) {
    const auto replica = type.empty() ? std::nullopt : ObjectMember(*specs, type, context.read);
    const auto pods =
        replica ? RequiredObject(*replica, "template", "the pod template", context) : std::nullopt;
    if (!pods) continue;
    templates.push_back(*pods);
    EqGroup group = ReadEqGroup(LowerCase(type), *pods,
                                Int32Member(*replica, "replicas", context.read).value_or(1),
                                {kReplicaIndex}, context);
    // Ranks run on from the launcher to the workers where it is one of them (R22.9).
    const bool continues = with_launcher && type == "Worker" && !gang.ranked_groups.empty();
    if (continues) {
      const auto& request = group.topology_request.levels;
      if (!(request && request->pod_set_group_name)) {
        group.pod_template->annotations.Set(kPodIndexOffsetAnnotation, "1");
      }
      gang.ranked_groups.back().eq_groups.push_back(std::move(group));
      gang.ranked_groups.back().name = "rg";
    } else {
      AddRankedGroup(gang, std::move(group), kReplicaIndex);
    }
  }
  for (const std::string_view ignored : {"elasticPolicy"}) {
    if (Member(*spec, ignored))
      workload.notes.push_back(fmt::format("spec.{} is not honoured", ignored));
  }
  if (!gang.ranked_groups.empty()) workload.gang_groups.push_back(std::move(gang));
  FinishWorkload(workload, object, templates, context);
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
