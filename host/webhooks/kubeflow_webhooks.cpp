// The webhooks of MPIJobs and of the jobs of Kubeflow's training operator.
#include <vector>

#include <fmt/format.h>

#include "host/readers/sources/training_kinds.hpp"
#include "host/webhooks/job_checks.hpp"

namespace espalier {

void CheckTrainingJob(const JobCheck& check) {
  CheckJobMetadata(check);
  const TrainingKind& kind = TrainingKindOf(check.job.context.kind);
  JsonValue specs;
  if (check.job.value["spec"][kind.field].get(specs) != simdjson::SUCCESS || !specs.is_object()) {
    return;
  }
  std::vector<PodSetToCheck> pod_sets;
  for (const std::string_view type : kind.types) {
    const auto replica = type.empty() ? std::nullopt : Member(specs, type);
    const auto pods = replica && replica->is_object() ? Member(*replica, "template") : std::nullopt;
    if (!pods || !pods->is_object()) continue;
    pod_sets.push_back(ToCheck(check, LowerCase(type),
                               fmt::format("spec.{}[{}].template", kind.field, type), *pods));
  }
  const bool is_mpi = kind.kind == "MPIJob";
  if (is_mpi && HasTopologyRequestError(pod_sets, check)) return;
  CheckPodSets(pod_sets, is_mpi, check);
}

}  // namespace espalier
