// Kubeflow TrainJobs, with the JobSet that their runtime makes.
#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/readers/json_merge.hpp"
#include "host/readers/json_text.hpp"
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

// Returns whether the Job prepares the data or the model before training starts.
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

// Returns whether the Job holds the nodes that train.
bool IsNode(const ReplicatedJob& job, bool is_mpi) {
  return job.name == "node" || (!is_mpi && LabelOf(job.job_template, kStep) == "trainer");
}

bool HasJob(JsonValue job_set_spec, std::string_view name) {
  simdjson::dom::array jobs;
  return job_set_spec["replicatedJobs"].get(jobs) == simdjson::SUCCESS &&
         std::ranges::any_of(
             jobs, [&](JsonValue job) { return job.is_object() && TextOf(job, "name") == name; });
}

// A patch of the replicated Job of this name in a JobSet.
std::string PatchOf(std::string_view job, std::string_view of_pod_template) {
  std::string name;
  AppendJsonString(name, job);
  return fmt::format(
      R"({{"replicatedJobs":[{{"name":{},"template":{{"spec":{{"template":{}}}}}}}]}})", name,
      of_pod_template);
}

// The JobSet that the trainer makes of its template: each change is a patch of it.
class JobSetSpec {
 public:
  explicit JobSetSpec(JsonValue job_set_spec) : value_(job_set_spec) {}

  JsonValue value() const { return value_; }

  void Apply(JsonValue patch) {
    made_.push_back(std::make_unique<MadeJson>(MergedJson(value_, patch)));
    value_ = made_.back()->value();
  }
  void Apply(const std::string& patch) { Apply(MadeJson(patch).value()); }

 private:
  std::vector<std::unique_ptr<MadeJson>> made_;
  JsonValue value_;
};

bool HasNodeContainer(const ReplicatedJob& job) {
  const auto spec = Member(job.pod_template, "spec");
  simdjson::dom::array containers;
  return spec && spec->is_object() && (*spec)["containers"].get(containers) == simdjson::SUCCESS &&
         std::ranges::any_of(containers, [](JsonValue container) {
           return container.is_object() && TextOf(container, "name") == "node";
         });
}

// Gives the container that trains the resources that the TrainJob asks for.
void ApplyResourcesPerNode(JsonValue spec, const std::vector<ReplicatedJob>& jobs, bool is_mpi,
                           const ReadContext& context, JobSetSpec& job_set) {
  const auto trainer = ObjectMember(spec, "trainer", context);
  const auto resources =
      trainer ? ObjectMember(*trainer, "resourcesPerNode", context) : std::nullopt;
  if (!resources) return;
  for (const ReplicatedJob& job : jobs) {
    if ((!IsNode(job, is_mpi) && job.name != "launcher") || !HasNodeContainer(job)) continue;
    job_set.Apply(PatchOf(
        job.name, fmt::format(R"({{"spec":{{"containers":[{{"name":"node","resources":{}}}]}}}})",
                              std::string(simdjson::minify(*resources)))));
  }
}

// Applies what the TrainJob changes in the templates of its runtime: `runtimePatches`, and the
// lists of older versions.
void ApplyOverrides(JsonValue spec, const ReadContext& context, JobSetSpec& job_set) {
  ReadList(spec, "runtimePatches", context, [&](JsonValue patch) {
    JsonValue of_job_set;
    if (patch.at_pointer("/trainingRuntimeSpec/template/spec").get(of_job_set) ==
            simdjson::SUCCESS &&
        of_job_set.is_object()) {
      job_set.Apply(of_job_set);
    }
    return true;
  });
  for (const std::string_view list : {"podTemplateOverrides", "podSpecOverrides"}) {
    ReadList(spec, list, context, [&](JsonValue override) {
      const std::string text = simdjson::minify(override);
      const std::string of_template =
          list == "podSpecOverrides" ? fmt::format(R"({{"spec":{}}})", text) : text;
      ReadList(override, "targetJobs", context, [&](JsonValue job) {
        if (HasJob(job_set.value(), TextOf(job, "name"))) {
          job_set.Apply(PatchOf(TextOf(job, "name"), of_template));
        }
        return true;
      });
      return true;
    });
  }
}

// Settings of the runtime for the Jobs.
struct Training {
  std::int32_t nodes = 1;
  bool launcher_is_node = false;
  bool mpi = false;
  std::optional<std::int32_t> timeout;
};

// Kueue makes one Workload of all Jobs (R30.1).
void JoinGangs(GangWorkload& workload) {
  std::vector<GangGroup>& gangs = workload.gang_groups;
  for (std::size_t i = 1; i < gangs.size(); ++i) {
    std::ranges::move(gangs[i].ranked_groups, std::back_inserter(gangs[0].ranked_groups));
  }
  gangs.resize(std::min<std::size_t>(gangs.size(), 1));
  if (!gangs.empty()) gangs[0].name = "gg";
  workload.whole = true;
  workload.in_order = false;
}

// Adds the gang groups in the order in which they start: each initializer by itself, then the rest.
void AddGangs(std::vector<ReplicatedJob> jobs, const Training& training,
              const SourceContext& context, GangWorkload& workload) {
  std::vector<GangGroup>& gangs = workload.gang_groups;
  for (ReplicatedJob& job : jobs) {
    const bool is_node = IsNode(job, training.mpi);
    if (is_node) job.pods = training.launcher_is_node ? training.nodes - 1 : training.nodes;
    EqGroup group = EqGroupOf(job, job.replicas, context);
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
  if (context.as_kueue) JoinGangs(workload);
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
  const ReadContext in_runtime = ContextOf(*runtime, context);
  const SourceContext of_runtime{in_runtime,      context.defaults, context.find,    context.kind,
                                 context.version, context.group,    context.as_kueue};
  const bool is_mpi = IsMpi(*runtime_spec);
  JobSetSpec made(*job_set_spec);
  ApplyOverrides(*spec, context.read, made);
  // Without a policy for machine learning the trainer sets nothing but the number of nodes.
  if (Member(*runtime_spec, "mlPolicy")) {
    Diagnostics said_below;
    const ReadContext quiet{said_below, in_runtime.file, in_runtime.root};
    const SourceContext quietly{quiet,           context.defaults, context.find,    context.kind,
                                context.version, context.group,    context.as_kueue};
    ApplyResourcesPerNode(*spec, ReadReplicatedJobs(made.value(), quietly), is_mpi, context.read,
                          made);
  }
  std::vector<ReplicatedJob> jobs = ReadReplicatedJobs(made.value(), of_runtime);
  std::vector<JsonValue> templates;
  for (const ReplicatedJob& job : jobs) templates.push_back(job.pod_template);
  AddGangs(
      std::move(jobs),
      {NumNodes(*spec, *runtime_spec, context.read), RunsLauncherAsNode(*runtime_spec, in_runtime),
       is_mpi, TimeoutOf(*runtime_spec, in_runtime)},
      of_runtime, workload);
  FinishWorkload(workload, object, templates, of_runtime);
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
