#include "host/kueue/elastic/owned_jobs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

bool StandsFor(const Workload& workload, const GangWorkload& job) {
  if (workload.key.namespace_ != job.head.key.namespace_ || !job.true_workload) return false;
  return std::ranges::any_of(workload.owners, [&](const OwnerReference& owner) {
    return owner.kind == job.true_workload->kind && owner.name == job.head.key.name;
  });
}

// Returns the workload of a job that has not finished; of two, the one that replaces the other or
// is younger. Null when there is none.
const Workload* NewestOf(std::span<const Workload> workloads, const GangWorkload& job) {
  const Workload* newest = nullptr;
  for (const Workload& workload : workloads) {
    if (HasCondition(workload, kFinished) || !StandsFor(workload, job)) continue;
    const std::string* replaced = workload.annotations.Find(kSliceReplacementFor);
    const bool replaces =
        newest != nullptr && replaced != nullptr && *replaced == newest->key.ToString();
    if (newest == nullptr || replaces || workload.creation_seconds > newest->creation_seconds) {
      newest = &workload;
    }
  }
  return newest;
}

bool HasOneWorkload(const std::string& kind) {
  constexpr std::array<std::string_view, 6> kSeveral{"Deployment", "LeaderWorkerSet", "Pod",
                                                     "ReplicaSet", "StatefulSet",     "Workload"};
  return std::ranges::find(kSeveral, kind) == kSeveral.end();
}

// Returns how the job's counts differ from those of its workload, as "main=6 and not 4"; "" when
// they do not. Fewer pods than the workload has are what Kueue gave it where that many are
// admitted.
std::string DifferenceOf(const GangWorkload& job, const Workload& workload) {
  const CountsByPodSet wanted = CountsOf(job);
  std::vector<std::string> parts;
  for (const PodSet& pod_set : workload.pod_sets) {
    const auto count = wanted.find(pod_set.name);
    if (count == wanted.end() || count->second == pod_set.count) continue;
    const bool is_admitted =
        workload.admission &&
        std::ranges::any_of(workload.admission->pod_set_assignments, [&](const auto& assignment) {
          return assignment.name == pod_set.name && assignment.count == count->second;
        });
    if (is_admitted) continue;
    parts.push_back(
        fmt::format("{}={} and not {}", Excerpt(pod_set.name), count->second, pod_set.count));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Returns the owner as text, where Kueue makes one Workload of it; "" otherwise.
std::string OnlyOwner(const Workload& workload) {
  const bool is_slice =
      IsElasticJob(workload) || workload.annotations.Find(kSliceReplacementFor) != nullptr;
  if (is_slice || workload.owners.size() != 1) return "";
  const OwnerReference& owner = workload.owners.front();
  if (owner.name.empty() || !HasOneWorkload(owner.kind)) return "";
  return fmt::format("{} {}/{}", owner.kind, workload.key.namespace_, owner.name);
}

// Leaves one of the workloads of a job; `job` is null where it is not in the input.
void HoldBackAllButOne(const std::string& owner, const std::vector<Workload*>& workloads,
                       const GangWorkload* job) {
  const auto comes_first = [&](const Workload* workload) {
    const bool differs = job != nullptr && !DifferenceOf(*job, *workload).empty();
    return std::tuple(differs, !HasReservation(*workload), workload->creation_seconds,
                      workload->key);
  };
  const Workload* kept = *std::ranges::min_element(workloads, {}, comes_first);
  for (Workload* workload : workloads) {
    if (workload == kept || !LacksQuota(*workload) || !workload->refusal.empty()) continue;
    workload->refusal = fmt::format(
        "{} has another Workload, {}: Kueue keeps one of a job that fits it, and deletes the rest",
        Excerpt(owner), Excerpt(kept->key.ToString()));
  }
}

}  // namespace

CountsByPodSet CountsOf(const GangWorkload& job) {
  CountsByPodSet counts;
  for (const GangGroup& gang : job.gang_groups) {
    for (const RankedGroup& ranked : gang.ranked_groups) {
      for (const EqGroup& group : ranked.eq_groups) {
        counts[group.name] += group.count.value_or(group.min_count.value_or(0));
      }
    }
  }
  return counts;
}

std::vector<std::string> OptIn(std::span<const GangWorkload> jobs, std::span<Workload> workloads) {
  std::vector<std::string> notes;
  for (const GangWorkload& job : jobs) {
    if (!IsElasticJob(job.head)) continue;
    for (Workload& workload : workloads) {
      if (HasCondition(workload, kFinished) || !StandsFor(workload, job)) continue;
      if (workload.annotations.Find(kElasticJobAnnotation) != nullptr) continue;
      workload.annotations.Set(kElasticJobAnnotation, "true");
      notes.push_back(fmt::format("workload {} counts as elastic, as its {} {} is",
                                  workload.key.ToString(), job.true_workload->kind,
                                  job.head.key.ToString()));
    }
  }
  return notes;
}

std::vector<ResizeRequest> ResizesOf(std::span<const GangWorkload> jobs,
                                     std::span<const Workload> workloads) {
  std::vector<ResizeRequest> resizes;
  for (const GangWorkload& job : jobs) {
    const Workload* workload = NewestOf(workloads, job);
    if (workload == nullptr || !IsElasticJob(*workload)) continue;
    const CountsByPodSet wanted = CountsOf(job);
    ResizeRequest resize{workload->key, {}, SliceMode::kReplacement, ResizeProfile::kKueue};
    for (const PodSet& pod_set : workload->pod_sets) {
      const auto count = wanted.find(pod_set.name);
      if (count != wanted.end() && count->second != pod_set.count) resize.counts.push_back(*count);
    }
    if (!resize.counts.empty()) resizes.push_back(std::move(resize));
  }
  return resizes;
}

std::vector<std::string> OtherSizes(std::span<const GangWorkload> jobs,
                                    std::span<const Workload> workloads, bool elastic_too) {
  std::vector<std::string> notes;
  for (const GangWorkload& job : jobs) {
    const Workload* workload = NewestOf(workloads, job);
    if (workload == nullptr || !HasOneWorkload(job.true_workload->kind)) continue;
    const bool is_elastic = IsElasticJob(*workload) || IsElasticJob(job.head);
    if (is_elastic && !elastic_too) continue;
    const std::string difference = DifferenceOf(job, *workload);
    if (difference.empty()) continue;
    notes.push_back(fmt::format(
        "workload {} has another size than its {} {}, which wants {}: it keeps its size here, {}",
        Excerpt(workload->key.ToString()), job.true_workload->kind,
        Excerpt(job.head.key.ToString()), difference,
        is_elastic ? "`cycle` and `resize` change it" : "where Kueue makes a Workload anew"));
  }
  return notes;
}

void HoldBackSurplus(std::span<const GangWorkload> jobs, std::span<Workload> workloads) {
  std::map<std::string, std::vector<Workload*>> of_owner;
  for (Workload& workload : workloads) {
    if (HasCondition(workload, kFinished)) continue;
    if (std::string owner = OnlyOwner(workload); !owner.empty()) {
      of_owner[std::move(owner)].push_back(&workload);
    }
  }
  for (const auto& [owner, of_one] : of_owner) {
    if (of_one.size() < 2) continue;
    const Workload& first = *of_one.front();
    const auto job =
        std::ranges::find_if(jobs, [&](const GangWorkload& one) { return StandsFor(first, one); });
    if (job == jobs.end()) {
      HoldBackAllButOne(owner, of_one, nullptr);
    } else if (!IsElasticJob(job->head)) {
      HoldBackAllButOne(owner, of_one, &*job);
    }
  }
}

}  // namespace espalier
