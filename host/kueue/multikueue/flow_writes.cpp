#include "host/kueue/multikueue/flow_writes.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/elastic/resize_plan.hpp"
#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/workload_status.hpp"

namespace espalier {
namespace {

std::string Json(const CountsByPodSet& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("\"{}\":{}", name, count));
  return fmt::format("{{{}}}", fmt::join(parts, ","));
}

}  // namespace

std::string Text(const CountsByPodSet& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("{}={}", name, count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string AnnotationField(std::string_view key) {
  return fmt::format("metadata.annotations[{}]", key);
}

CountsByPodSet CountsOf(const Workload& workload) {
  CountsByPodSet counts;
  for (const PodSet& pod_set : workload.pod_sets) counts[pod_set.name] = pod_set.count;
  return counts;
}

CountsByPodSet With(CountsByPodSet counts, const CountsByPodSet& request) {
  for (const auto& [name, count] : request) {
    if (counts.contains(name)) counts[name] = count;
  }
  return counts;
}

bool NamesAny(const Workload& workload, const CountsByPodSet& request) {
  return std::ranges::any_of(workload.pod_sets,
                             [&](const PodSet& pod_set) { return request.contains(pod_set.name); });
}

const Workload* Find(const std::vector<Workload>& workloads, const ObjectKey& key) {
  const auto found = std::ranges::find(workloads, key, &Workload::key);
  return found == workloads.end() ? nullptr : &*found;
}

FlowWrite SetRequest(std::string cluster, const ObjectKey& workload,
                     const CountsByPodSet& request) {
  return {std::move(cluster), "Workload",
          workload,           AnnotationField(kScaleRequestAnnotation),
          Json(request),      CountsByPodSet(request)};
}

FlowWrite ClearRequest(std::string cluster, const ObjectKey& workload) {
  return {std::move(cluster), "Workload", workload, AnnotationField(kScaleRequestAnnotation), "",
          CountsByPodSet()};
}

FlowWrite WriteWorkload(std::string cluster, Workload workload, std::string field,
                        std::string value) {
  const ObjectKey key = workload.key;
  return {std::move(cluster), "Workload",       key,
          std::move(field),   std::move(value), std::move(workload)};
}

FlowWrite WriteCounts(const std::string& cluster, const Workload& from, Workload to) {
  std::vector<std::string> fields;
  std::vector<std::string> values;
  const CountsByPodSet before = CountsOf(from);
  for (const auto& [name, count] : CountsOf(to)) {
    const auto known = before.find(name);
    if (known != before.end() && known->second == count) continue;
    fields.push_back(fmt::format("spec.podSets[{}].count", name));
    values.push_back(std::to_string(count));
  }
  return WriteWorkload(cluster, std::move(to), fmt::format("{}", fmt::join(fields, ", ")),
                       fmt::format("{}", fmt::join(values, ", ")));
}

std::vector<std::string> NamesOf(const Workload& workload) {
  std::vector<std::string> names;
  for (const auto& [name, count] : CountsOf(workload)) names.push_back(name);
  return names;
}

Workload WithCountsOf(Workload workload, const Workload& other) {
  const CountsByPodSet counts = CountsOf(other);
  for (PodSet& pod_set : workload.pod_sets) {
    const auto count = counts.find(pod_set.name);
    if (count != counts.end()) pod_set.count = static_cast<std::int32_t>(count->second);
  }
  return workload;
}

FlowWrite WriteResizing(Workload parent, bool waits) {
  const Condition condition = ResizeCondition(waits, "");
  SetCondition(parent, condition);
  return WriteWorkload(kManager, std::move(parent),
                       fmt::format("status.conditions[{}]", condition.type),
                       fmt::format("{}, {}", condition.status, condition.reason));
}

FlowWrite FinishWrite(const Workload& old, std::string cluster, const std::string& reason) {
  Workload finished = old;
  SetCondition(finished, {std::string(kFinished), "True", reason, ""});
  return WriteWorkload(std::move(cluster), std::move(finished), "status.conditions[Finished]",
                       "True, " + reason);
}

void CarryOut(const FlowStep& step, std::size_t writes, MultiKueueState& state) {
  for (std::size_t i = 0; i < std::min(writes, step.writes.size()); ++i) {
    const FlowWrite& write = step.writes[i];
    const bool at_manager = write.cluster == kManager;
    if (const auto* workload = std::get_if<Workload>(&write.after)) {
      PutWorkload(*workload, at_manager ? state.manager.workloads : state.worker.workloads);
    } else if (const auto* job = std::get_if<ScaledJob>(&write.after)) {
      state.worker.job = *job;
    } else {
      const auto& request = std::get<CountsByPodSet>(write.after);
      ScaleRequests& requests = at_manager ? state.manager_requests : state.worker.requests;
      if (request.empty()) {
        requests.erase(write.object);
      } else {
        requests[write.object] = request;
      }
    }
  }
}

}  // namespace espalier
