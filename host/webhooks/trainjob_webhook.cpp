// The webhook of Kubeflow's TrainJobs.
#include <vector>

#include <fmt/format.h>

#include "host/webhooks/job_checks.hpp"

namespace espalier {
namespace {

// The name of the runtime that the TrainJob refers to; "" when it is there.
std::string_view MissingRuntime(const JobCheck& check) {
  JsonValue reference;
  if (check.job.value["spec"]["runtimeRef"].get(reference) != simdjson::SUCCESS ||
      !reference.is_object()) {
    return "";
  }
  const std::string_view name = TextOf(reference, "name");
  const std::string_view kind = TextOf(reference, "kind", "ClusterTrainingRuntime");
  const SourceContext& context = check.job.context;
  const std::string name_space =
      kind == "TrainingRuntime" ? NamespaceOfObject(check.job.value, context.read) : "";
  return context.find(kind, name_space, name) ? "" : name;
}

}  // namespace

void CheckTrainJob(const JobCheck& check) {
  CheckJobMetadata(check);
  if (const std::string_view name = MissingRuntime(check); !name.empty()) {
    return check.found.Replace(fmt::format("runtime '{}' not found", name));
  }
  // The templates are those that the trainer makes of its runtime.
  std::vector<PodSetToCheck> pod_sets;
  for (const EqGroup* group : PodSetsRead(check)) {
    pod_sets.push_back({fmt::format("job[{}].annotations", group->name),
                        group->pod_template ? group->pod_template->annotations : StringMap(),
                        group->min_count.value_or(0)});
  }
  if (HasTopologyRequestError(pod_sets, check)) return;
  const std::size_t before = check.found.size();
  CheckPodSets(pod_sets, /*with_groups=*/false, check);
  check.found.AppendToMessages(
      before,
      ". Adjust either the \"TrainJob.spec.runtimePatches\" or the \"TrainingRuntime.Template\" "
      "annotations for the corresponding Job");
}

}  // namespace espalier
