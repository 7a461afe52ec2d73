// Kubeflow TrainJobs, with the JobSet that their runtime makes.
#include <algorithm>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/job_state.hpp"
#include "host/readers/sources/replicated_jobs.hpp"
#include "host/readers/sources/source_kinds.hpp"

namespace espalier {
namespace {

constexpr std::string_view kStep = "trainer.kubeflow.org/trainjob-ancestor-step";

// The runtime that the TrainJob names; the reason where it is not in the input.
std::optional<FoundObject> FindRuntime(JsonValue spec, const SourceContext& context,
                                       GangWorkload& workload) {
  const auto reference = ObjectMember(spec, "runtimeRef", context.read);
  if (!reference) {
    context.read.Missing(spec, "runtimeRef", "the name of a ClusterTrainingRuntime");
    return std::nullopt;
  }
  const std::string name = RequiredText(*reference, "name", context.read);
  const std::string_view kind =
      StringMember(*reference, "kind", context.read).value_or("ClusterTrainingRuntime");
  const bool in_namespace = kind == "TrainingRuntime";
  auto runtime =
      context.find(kind, in_namespace ? workload.head.key.namespace_ : std::string(), name);
  if (!runtime) {
    workload.waits_for = fmt::format(
        "{} {} is not in the input: what it makes of the TrainJob is "
        "not known",
        kind, Excerpt(name));
  }
  return runtime;
}

std::int32_t NumNodes(JsonValue spec, JsonValue runtime_spec, const ReadContext& context) {
  const auto trainer = ObjectMember(spec, "trainer", context);
  if (trainer) {
    if (const auto nodes = Int32Member(*trainer, "numNodes", context)) return *nodes;
  }
  const auto policy = ObjectMember(runtime_spec, "mlPolicy", context);
  return policy ? Int32Member(*policy, "numNodes", context).value_or(1) : 1;
}

bool RunsLauncherAsNode(JsonValue runtime_spec, const ReadContext& context) {
  const auto policy = ObjectMember(runtime_spec, "mlPolicy", context);
  const auto mpi = policy ? ObjectMember(*policy, "mpi", context) : std::nullopt;
  return mpi && BoolMember(*mpi, "runLauncherAsNode", context).value_or(false);
}

bool IsMpi(JsonValue runtime_spec) {
  const auto policy = Member(runtime_spec, "mlPolicy");
  return policy && Member(*policy, "mpi").has_value();
}

// Whether the Job prepares the data or the model before training starts.
bool IsInitializer(const ReplicatedJob& job) {
  const std::string_view step = LabelOf(job.job_template, kStep);
  return step.ends_with("initializer") || job.name.ends_with("initializer");
}

std::optional<std::int32_t> TimeoutOf(JsonValue runtime_spec, const ReadContext& context) {
  const auto policy = ObjectMember(runtime_spec, "podGroupPolicy", context);
  if (!policy) return std::nullopt;
  for (const std::string_view name : {"coreWorkload", "coscheduling"}) {
    if (const auto of = ObjectMember(*policy, name, context)) {
      return Int32Member(*of, "scheduleTimeoutSeconds", context);
    }
  }
  return std::nullopt;
}

void ApplyResourcesPerNode(JsonValue spec, const SourceContext& context, EqGroup& group) {
  const auto trainer = Member(spec, "trainer");
  const auto resources =
      trainer ? ObjectMember(*trainer, "resourcesPerNode", context.read) : std::nullopt;
  if (!resources || !group.pod_template) return;
  QuantityMap requests = QuantitiesMember(*resources, "requests", context.read);
  FillGaps(requests, QuantitiesMember(*resources, "limits", context.read));
  for (const auto& [name, amount] : ToCanonical(requests)) {
    group.pod_template->requests.Set(name, amount);
  }
}

// What the runtime says of the Jobs.
struct Training {
  std::int32_t nodes = 1;
  bool launcher_is_node = false;
  bool mpi = false;
  std::optional<std::int32_t> timeout;
};

// Adds the gang groups in the order in which they start: each initializer by itself, then the rest.
void AddGangs(std::vector<ReplicatedJob> jobs, const Training& training, JsonValue spec,
              const SourceContext& context, GangWorkload& workload) {
  std::vector<GangGroup>& gangs = workload.gang_groups;
  for (ReplicatedJob& job : jobs) {
    const bool is_node =
        job.name == "node" || (!training.mpi && LabelOf(job.job_template, kStep) == "trainer");
    if (is_node) job.pods = training.launcher_is_node ? training.nodes - 1 : training.nodes;
    EqGroup group = EqGroupOf(job, job.replicas, context);
    if (is_node || job.name == "launcher") ApplyResourcesPerNode(spec, context, group);
    const std::string name = IsInitializer(job) ? job.name : "trainer";
    auto gang = std::ranges::find(gangs, name, &GangGroup::name);
    if (gang == gangs.end()) {
      gang = gangs.insert(gangs.end(), GangGroup{.name = name});
      gang->schedule_timeout_seconds = training.timeout;
    }
    const bool ranked = !training.mpi && is_node && job.indexed;
    AddRankedGroup(*gang, std::move(group), ranked ? kCompletionIndexLabel : "");
  }
  if (gangs.size() == 1) gangs[0].name = "gg";
  workload.in_order = true;
}

}  // namespace

void ReadTrainJob(JsonValue object, const SourceContext& context,
                  std::vector<GangWorkload>& workloads) {
  GangWorkload workload = BeginWorkload(object, context);
  ReadJobState(object, context, workload);
  const auto spec = SpecOf(object, context);
  if (!spec) return;
  const auto runtime = FindRuntime(*spec, context, workload);
  const auto runtime_spec = runtime ? Member(runtime->value, "spec") : std::nullopt;
  const auto job_set = runtime_spec ? Member(*runtime_spec, "template") : std::nullopt;
  const auto job_set_spec = job_set ? Member(*job_set, "spec") : std::nullopt;
  if (!job_set_spec) {
    if (runtime) workload.waits_for = "its runtime has no spec.template.spec";
    workloads.push_back(std::move(workload));
    return;
  }
  for (const std::string_view overrides : {"podSpecOverrides", "podTemplateOverrides"}) {
    if (Member(*spec, overrides)) {
      workload.notes.push_back(fmt::format("spec.{} is not honoured", overrides));
    }
  }
  const ReadContext in_runtime = ContextOf(*runtime, context);
  const SourceContext of_runtime{in_runtime,   context.defaults, context.find,
                                 context.kind, context.version,  context.group};
  std::vector<ReplicatedJob> jobs = ReadReplicatedJobs(*job_set_spec, of_runtime);
  std::vector<JsonValue> templates;
  for (const ReplicatedJob& job : jobs) templates.push_back(job.pod_template);
  AddGangs(
      std::move(jobs),
      {NumNodes(*spec, *runtime_spec, context.read), RunsLauncherAsNode(*runtime_spec, in_runtime),
       IsMpi(*runtime_spec), TimeoutOf(*runtime_spec, in_runtime)},
      *spec, of_runtime, workload);
  FinishWorkload(workload, object, templates, of_runtime);
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
