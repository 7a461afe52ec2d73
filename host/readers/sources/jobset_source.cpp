// JobSets.
#include <algorithm>

#include <fmt/format.h>

#include "host/model/jobset_keys.hpp"
#include "host/readers/sources/job_state.hpp"
#include "host/readers/sources/pods_of_job.hpp"
#include "host/readers/sources/replicated_jobs.hpp"
#include "host/readers/sources/source_kinds.hpp"

namespace espalier {
namespace {

bool StartsInOrder(JsonValue spec, const ReadContext& context) {
  const auto policy = ObjectMember(spec, "startupPolicy", context);
  return policy &&
         ReadWord(*policy, "startupPolicyOrder", {"AnyOrder", "InOrder"}, context) == "InOrder";
}

// Returns whether a replicated job starts after another one, which is one of those before it.
bool WaitsForAnother(JsonValue replicated_job, const std::vector<ReplicatedJob>& before,
                     const ReadContext& context) {
  const auto read = [&](JsonValue one) {
    const std::string name = RequiredText(one, "name", context);
    if (!name.empty() && std::ranges::find(before, name, &ReplicatedJob::name) == before.end()) {
      context.Error(*Member(one, "name"), "no replicated job before it has that name",
                    "the name of one before it");
    }
    ReadWord(one, "status", {"Ready", "Complete"}, context);
    return 0;
  };
  return !ReadList(replicated_job, "dependsOn", context, read).empty();
}

// Adds a workload for each Job: they do not run at the same time.
void AddAWorkloadPerJob(const GangWorkload& of_all, const std::vector<ReplicatedJob>& jobs,
                        JsonValue object, const SourceContext& context,
                        std::vector<GangWorkload>& workloads) {
  const std::size_t before = workloads.size();
  std::size_t number = 0;
  for (const ReplicatedJob& job : jobs) {
    if (!context.read.Charge(job.job_template, static_cast<std::size_t>(job.replicas),
                             sizeof(GangWorkload) + sizeof(GangGroup))) {
      return;
    }
    for (std::int32_t i = 0; i < job.replicas; ++i) {
      GangWorkload& workload = workloads.emplace_back(of_all);
      workload.head.key.name = fmt::format("{}-{}-{}", of_all.head.key.name, job.name, i);
      workload.head.uid += fmt::format("{:08}", number++);
      workload.true_workload = {"batch", "Job", workload.head.key.name};
      workload.notes.push_back(fmt::format(
          "the Jobs of JobSet {} start one after the other: each is a workload of its own",
          of_all.head.key.name));
      GangGroup& gang = workload.gang_groups.emplace_back();
      if (!job.indexed) gang.mode = GangMode::kOff;
      AddRankedGroup(gang, EqGroupOf(job, 1, context), job.indexed ? kCompletionIndexLabel : "");
      FinishWorkload(workload, object, {job.pod_template}, context);
    }
  }
  if (workloads.size() == before) workloads.push_back(of_all);  // of no pods
}

}  // namespace

std::vector<ReplicatedJob> ReadReplicatedJobs(JsonValue job_set_spec,
                                              const SourceContext& context) {
  std::vector<ReplicatedJob> jobs;
  if (!Member(job_set_spec, "replicatedJobs")) {
    context.read.Missing(job_set_spec, "replicatedJobs", "a list of Job templates");
  }
  ReadList(job_set_spec, "replicatedJobs", context.read, [&](JsonValue item) {
    ReplicatedJob job;
    job.name = RequiredText(item, "name", context.read);
    job.replicas = Int32Member(item, "replicas", context.read).value_or(1);
    const auto job_template = RequiredObject(item, "template", "a Job template", context);
    const auto spec = job_template ? RequiredObject(*job_template, "spec", "a Job's spec", context)
                                   : std::nullopt;
    const auto pods = spec ? RequiredObject(*spec, "template", "the pod template", context) : spec;
    if (!pods) return 0;
    job.job_template = *job_template;
    job.pod_template = *pods;
    job.pods = PodsOfJob(*spec, context.read);
    job.indexed = IsIndexed(*spec, true, context.read);
    job.waits = WaitsForAnother(item, jobs, context.read);
    jobs.push_back(std::move(job));
    return 0;
  });
  return jobs;
}

EqGroup EqGroupOf(const ReplicatedJob& job, std::int32_t replicas, const SourceContext& context) {
  const std::int64_t pods = std::int64_t{job.pods} * replicas;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (pods > kMost) {
    context.read.Error(job.job_template, "its replicas have more pods than can be counted",
                       fmt::format("at most {} in all", kMost));
  }
  return ReadEqGroup(job.name, job.pod_template, static_cast<std::int32_t>(std::min(pods, kMost)),
                     {kCompletionIndexLabel, kJobIndex, replicas}, context);
}

void ReadJobSet(JsonValue object, const SourceContext& context,
                std::vector<GangWorkload>& workloads) {
  GangWorkload workload = BeginWorkload(object, context);
  ReadJobState(object, context, workload);
  const auto spec = SpecOf(object, context);
  if (!spec) return;
  const std::vector<ReplicatedJob> jobs = ReadReplicatedJobs(*spec, context);
  const std::string exclusive(AnnotationOf(object, kExclusiveTopology));
  if (!exclusive.empty()) {
    workload.notes.push_back(fmt::format(
        "annotation {}: pods that no JobSet has may be in the domains of its Jobs; those of other "
        "JobSets may too in profile kueue; in profile espalier domains where they run stay closed "
        "to it, whoever goes",
        kExclusiveTopology));
  }
  const bool in_order =
      StartsInOrder(*spec, context.read) || std::ranges::any_of(jobs, &ReplicatedJob::waits);
  if (in_order && !context.as_kueue) {
    if (!exclusive.empty()) workload.topology_request.levels.emplace().required = exclusive;
    return AddAWorkloadPerJob(workload, jobs, object, context, workloads);
  }
  workload.whole = true;
  GangGroup gang;
  gang.name = "gg";
  std::vector<JsonValue> templates;
  for (const ReplicatedJob& job : jobs) {
    EqGroup group = EqGroupOf(job, job.replicas, context);
    if (!exclusive.empty() && job.pods > 0) group.apart = SliceConstraint{exclusive, job.pods};
    AddRankedGroup(gang, std::move(group), job.indexed ? kCompletionIndexLabel : "");
    templates.push_back(job.pod_template);
  }
  if (!jobs.empty()) workload.gang_groups.push_back(std::move(gang));
  FinishWorkload(workload, object, templates, context);
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
