// What plans of resizes change in a cluster.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "host/kueue/resize_plan.hpp"
#include "host/kueue/workload_slices.hpp"

namespace espalier {
namespace {

// One that is gone already does not come back.
void End(const std::vector<Workload>& ended, std::vector<Workload>& workloads) {
  for (const Workload& slice : ended) {
    const auto found = std::ranges::find(workloads, slice.key, &Workload::key);
    if (found != workloads.end()) *found = slice;
  }
}

}  // namespace

void CarryOut(const ResizePlan& plan, Cluster& cluster) {
  End(plan.ended, cluster.workloads);
  if (plan.after) PutWorkload(*plan.after, cluster.workloads);
  for (const PlannedSlice& slice : plan.slices) {
    if (plan.decision == ResizeDecision::kSlicesPerReplica && slice.admitted) {
      std::erase_if(cluster.workloads,
                    [&](const Workload& known) { return known.key == slice.workload.key; });
    } else {
      PutWorkload(slice.workload, cluster.workloads);
    }
  }
}

Result<std::vector<std::string>> QueueResizes(std::span<const ResizeRequest> requests,
                                              const Engine& engine, Cluster& cluster) {
  std::vector<std::string> notes;
  // Nothing is placed here: the cycles do that.
  std::vector<Node> nodes = std::exchange(cluster.nodes, {});
  std::vector<Pod> pods = std::exchange(cluster.pods, {});
  std::optional<Error> error;
  for (const ResizeRequest& request : requests) {
    auto plan = PlanResize(cluster, engine, request);
    if (!plan) {
      error = plan.error();
      break;
    }
    const std::string name = plan->workload.ToString();
    if (plan->decision == ResizeDecision::kRefused) {
      notes.push_back(fmt::format("workload {} keeps its size: {}", name, plan->reason));
    } else if (plan->decision == ResizeDecision::kInPlace) {
      notes.push_back(fmt::format("workload {} changes its counts in place", name));
      CarryOut(*plan, cluster);
    } else if (plan->decision == ResizeDecision::kNewSlice) {
      Workload slice = std::move(plan->slices.front().workload);
      slice.admission.reset();
      slice.conditions.clear();
      notes.push_back(
          fmt::format("workload {} grows: slice {} asks to replace it", name, slice.key.name));
      End(plan->ended, cluster.workloads);
      cluster.workloads.push_back(std::move(slice));
    }
  }
  cluster.nodes = std::move(nodes);
  cluster.pods = std::move(pods);
  if (error) return tl::unexpected(*error);
  return notes;
}

}  // namespace espalier
