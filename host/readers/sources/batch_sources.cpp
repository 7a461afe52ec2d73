// batch Jobs and CronJobs.
#include <algorithm>

#include <fmt/format.h>

#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/sources/job_state.hpp"
#include "host/readers/sources/part_reference.hpp"
#include "host/readers/sources/pods_of_job.hpp"
#include "host/readers/sources/source_kinds.hpp"
#include "host/readers/sources/source_reader.hpp"
#include "host/readers/sources/topology_claims.hpp"

namespace espalier {

std::int32_t PodsOfJob(JsonValue job_spec, const ReadContext& context) {
  const std::int32_t parallelism = Int32Member(job_spec, "parallelism", context).value_or(1);
  return std::min(parallelism, Int32Member(job_spec, "completions", context).value_or(parallelism));
}

bool IsIndexed(JsonValue job_spec, bool by_default, const ReadContext& context) {
  const std::string mode = ReadWord(job_spec, "completionMode", {"NonIndexed", "Indexed"}, context);
  return mode.empty() ? by_default : mode == "Indexed";
}

bool RunsAllAtOnce(JsonValue job_spec, const ReadContext& context) {
  const std::int32_t parallelism = Int32Member(job_spec, "parallelism", context).value_or(1);
  return Int32Member(job_spec, "completions", context).value_or(parallelism) <= parallelism;
}

namespace {

// The gang of a Job's pods; only an indexed Job whose pods all run at once is one.
GangGroup GangOfJob(JsonValue job_spec, EqGroup group, const SourceContext& context) {
  GangGroup gang;
  gang.name = "gg";
  const bool indexed = IsIndexed(job_spec, false, context.read);
  if (!indexed || !RunsAllAtOnce(job_spec, context.read)) gang.mode = GangMode::kOff;
  RankedGroup& ranked =
      AddRankedGroup(gang, std::move(group), indexed ? kCompletionIndexLabel : "");
  ranked.name = "rg";
  return gang;
}

}  // namespace

void ReadBatchJob(JsonValue object, const SourceContext& context,
                  std::vector<GangWorkload>& workloads) {
  Workload of_kueue = ReadJob(object, context.read, context.defaults);
  GangWorkload& workload = workloads.emplace_back();
  workload.source = "batch/v1 Job";
  workload.whole = true;
  workload.true_workload = {"batch", "Job", of_kueue.key.name};
  if (!of_kueue.pod_sets.empty()) {
    PodSet& main = of_kueue.pod_sets[0];
    const JsonValue pod_template = *Member(*Member(object, "spec"), "template");
    EqGroup group;
    group.name = std::move(main.name);
    group.part_of = ReadTemplatePart(pod_template, context.read);
    group.min_count = main.count;
    group.max_count = main.count;
    group.partial_count = main.min_count;
    group.pod_template = std::move(main.pod_template);
    group.topology_request.levels = std::move(main.topology_request);
    AddWhatKueueLeavesOut(pod_template, group);
    ApplyPodClaims(pod_template, of_kueue.key.namespace_, context.read, context.defaults, group);
    workload.gang_groups.push_back(GangOfJob(*Member(object, "spec"), std::move(group), context));
  }
  workload.head = std::move(of_kueue);
  workload.head.pod_sets.clear();
  if (!IsKueueJob(object)) ReadJobState(object, context, workload);
}

void ReadCronJob(JsonValue object, const SourceContext& context,
                 std::vector<GangWorkload>& workloads) {
  GangWorkload workload = BeginWorkload(object, context);
  const auto spec = SpecOf(object, context);
  const auto job = spec ? RequiredObject(*spec, "jobTemplate", "the template of its Jobs", context)
                        : std::nullopt;
  const auto job_spec = job ? RequiredObject(*job, "spec", "what its Jobs are", context) : job;
  const auto pod_template =
      job_spec ? RequiredObject(*job_spec, "template", "the Jobs' pod template", context)
               : job_spec;
  if (!pod_template) return;
  if (workload.head.queue_name.empty()) workload.head.queue_name = LabelOf(*job, kQueueNameLabel);
  FinishWorkload(workload, object, {*pod_template}, context);
  workload.whole = true;
  workload.gang_groups.push_back(
      GangOfJob(*job_spec,
                ReadEqGroup("main", *pod_template, PodsOfJob(*job_spec, context.read),
                            {kCompletionIndexLabel}, context),
                context));
  workload.notes.push_back(
      "each Job that it starts is a workload of its own; the next one is shown");
  if (BoolMember(*spec, "suspend", context.read).value_or(false)) {
    workload.head.active = false;
    workload.notes.push_back("it is suspended and starts no Job");
  }
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
