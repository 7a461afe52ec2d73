// Carries out plans of resizes in a cluster, and queues resizes there.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "host/kueue/elastic/resize_plan.hpp"
#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/workload_status.hpp"

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

Result<QueuedResizes> QueueResizes(std::span<const ResizeRequest> requests, const Engine& engine,
                                   Cluster& cluster) {
  QueuedResizes queued;
  const auto refuse = [&](const ObjectKey& workload, std::string_view reason) {
    queued.notes.push_back(
        fmt::format("workload {} keeps its size: {}", workload.ToString(), reason));
    ++queued.refused;
  };
  // Nothing is placed here: the cycles do that.
  std::vector<Node> nodes = std::exchange(cluster.nodes, {});
  std::vector<Pod> pods = std::exchange(cluster.pods, {});
  for (const ResizeRequest& request : requests) {
    auto plan = PlanResize(cluster, engine, request);
    if (engine.budget().stopped()) break;
    if (!plan) {
      refuse(request.workload, plan.error().message);
      continue;
    }
    if (plan->decision == ResizeDecision::kRefused) {
      refuse(plan->workload, plan->reason);
    } else if (plan->decision == ResizeDecision::kInPlace) {
      queued.notes.push_back(
          fmt::format("workload {} changes its counts in place", plan->workload.ToString()));
      CarryOut(*plan, cluster);
    } else if (plan->decision == ResizeDecision::kNewSlice) {
      Workload slice = std::move(plan->slices.front().workload);
      if (!slice.refusal.empty()) {
        refuse(plan->workload, slice.refusal);
        continue;
      }
      slice.admission.reset();
      slice.conditions.clear();
      queued.notes.push_back(fmt::format("workload {} grows: slice {} asks to replace it",
                                         plan->workload.ToString(), slice.key.name));
      if (plan->after) {  // with the slices per replica that were folded into it
        Workload grown = *std::move(plan->after);
        std::erase_if(grown.conditions, [](const Condition& condition) {
          return condition.type == kFinished;  // not before the new slice is admitted
        });
        PutWorkload(grown, cluster.workloads);
      }
      End(plan->ended, cluster.workloads);
      cluster.workloads.push_back(std::move(slice));
    }
  }
  cluster.nodes = std::move(nodes);
  cluster.pods = std::move(pods);
  if (const auto checked = engine.budget().Check(); !checked) {
    return tl::unexpected(checked.error());
  }
  return queued;
}

}  // namespace espalier
