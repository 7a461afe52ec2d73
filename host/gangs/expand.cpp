#include "host/gangs/expand.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

namespace espalier {
namespace {

using Count = std::optional<std::int32_t>;

void FillName(std::string& name, std::string_view base, std::size_t index, std::size_t of) {
  if (name.empty()) name = DefaultName(base, index, of);
}

// The sum of a count over all equivalence groups; absent where one of them does not say it.
Count SumOf(const GangGroup& gang, Count EqGroup::*count) {
  std::int64_t sum = 0;
  bool any = false;
  for (const RankedGroup& ranked : gang.ranked_groups) {
    for (const EqGroup& group : ranked.eq_groups) {
      if (!(group.*count)) return std::nullopt;
      sum += *(group.*count);
      any = true;
    }
  }
  if (!any || sum > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::int32_t>(sum);
}

// The only group of the gang without a count gets what the others leave of the gang's.
void FillTheOnlyGap(GangGroup& gang, Count GangGroup::*total, Count EqGroup::*count) {
  if (!(gang.*total)) return;
  EqGroup* gap = nullptr;
  std::int64_t left = *(gang.*total);
  for (RankedGroup& ranked : gang.ranked_groups) {
    for (EqGroup& group : ranked.eq_groups) {
      if (group.*count) {
        left -= *(group.*count);
      } else if (gap == nullptr) {
        gap = &group;
      } else {
        return;
      }
    }
  }
  if (gap == nullptr || left < 0) return;
  if (gap->max_count) left = std::min<std::int64_t>(left, *gap->max_count);
  gap->*count = static_cast<std::int32_t>(left);
}

void CheckSum(const GangGroup& gang, const Count& said, const Count& sum, std::string_view name,
              std::vector<std::string>& notes) {
  if (!said || !sum || *said == *sum) return;
  notes.push_back(fmt::format("gangGroup {}: {} is {}, but its eqGroups have {} pods in all",
                              gang.name, name, *said, *sum));
}

void ExpandGang(GangGroup& gang, std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < gang.ranked_groups.size(); ++i) {
    RankedGroup& ranked = gang.ranked_groups[i];
    FillName(ranked.name, "rg", i, gang.ranked_groups.size());
    for (std::size_t j = 0; j < ranked.eq_groups.size(); ++j) {
      FillName(ranked.eq_groups[j].name, "template", j, ranked.eq_groups.size());
    }
  }
  FillTheOnlyGap(gang, &GangGroup::min_count, &EqGroup::min_count);
  const Count least = SumOf(gang, &EqGroup::min_count);
  if ((gang.min_count ? gang.min_count : least) == 0) gang.mode = GangMode::kOff;
  FillTheOnlyGap(gang, &GangGroup::max_count, &EqGroup::max_count);
  for (RankedGroup& ranked : gang.ranked_groups) {
    for (EqGroup& group : ranked.eq_groups) {
      if (!group.max_count && group.min_count && gang.mode == GangMode::kGang && !gang.max_count) {
        group.max_count = group.min_count;
      }
    }
  }
  const Count most = SumOf(gang, &EqGroup::max_count);
  if (gang.mode == GangMode::kOff) return;  // counts of pods that do not wait for each other
  if (!gang.schedule_timeout_seconds) gang.schedule_timeout_seconds = kDefaultScheduleTimeout;
  if (gang.rescheduling_policy.empty()) gang.rescheduling_policy = "TerminateAll";
  if (!gang.min_count) gang.min_count = least;
  if (!gang.max_count) gang.max_count = most;
  CheckSum(gang, gang.max_count, most, "maxCount", notes);
  if (gang.min_count && least && *gang.min_count < *least) return;  // the rest is best effort
  CheckSum(gang, gang.min_count, least, "minCount", notes);
}

// Notes the constraints that bind the pods and are not looked at.
void NoteIgnoredConstraints(const GangGroup& gang, std::vector<std::string>& notes) {
  for (const RankedGroup& ranked : gang.ranked_groups) {
    for (const EqGroup& group : ranked.eq_groups) {
      if (!group.pod_template) continue;
      for (const std::string& ignored : group.pod_template->ignored_constraints) {
        notes.push_back(fmt::format("eqGroup {}: {} not looked at", group.name,
                                    ignored + (ignored.ends_with('s') ? " are" : " is")));
      }
    }
  }
}

}  // namespace

std::string DefaultName(std::string_view base, std::size_t index, std::size_t of) {
  return of == 1 ? std::string(base) : fmt::format("{}-{}", base, index);
}

void Expand(GangWorkload& workload) {
  for (std::size_t i = 0; i < workload.gang_groups.size(); ++i) {
    FillName(workload.gang_groups[i].name, "gg", i, workload.gang_groups.size());
    std::vector<std::string> contradictions;
    ExpandGang(workload.gang_groups[i], contradictions);
    if (workload.waits_for.empty() && workload.gang_groups[i].waits_for.empty()) {
      std::ranges::move(contradictions, std::back_inserter(workload.notes));
    }
    NoteIgnoredConstraints(workload.gang_groups[i], workload.notes);
  }
}

GangWorkload FromKueueWorkload(const Workload& workload) {
  GangWorkload model;
  model.head = workload;
  model.head.pod_sets.clear();
  model.source = "kueue.x-k8s.io Workload";
  model.whole = true;
  model.waits_for = workload.refusal;
  for (const OwnerReference& owner : workload.owners) {
    if (!owner.controller && workload.owners.size() > 1) continue;
    const std::size_t slash = owner.api_version.find('/');
    model.true_workload = {slash == std::string::npos ? "" : owner.api_version.substr(0, slash),
                           owner.kind, owner.name};
    break;
  }
  if (workload.pod_sets.empty()) return model;
  GangGroup& gang = model.gang_groups.emplace_back();
  for (const PodSet& pod_set : workload.pod_sets) {
    RankedGroup& ranked = gang.ranked_groups.emplace_back();
    ranked.name = pod_set.name;
    EqGroup& group = ranked.eq_groups.emplace_back();
    group.name = pod_set.name;
    group.min_count = pod_set.min_count.value_or(pod_set.count);
    group.max_count = pod_set.count;
    group.count = pod_set.count;
    group.partial_count = pod_set.min_count;
    group.pod_template = pod_set.pod_template;
    group.topology_request.levels = pod_set.topology_request;
    if (pod_set.topology_request && pod_set.topology_request->pod_index_label) {
      ranked.rank_from = LabelFieldPath(*pod_set.topology_request->pod_index_label);
    }
  }
  Expand(model);
  return model;
}

}  // namespace espalier
