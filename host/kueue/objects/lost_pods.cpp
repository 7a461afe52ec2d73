#include "host/kueue/objects/lost_pods.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "host/engine/assignments.hpp"
#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

// Pods of the outermost slice, or 1.
std::int32_t SliceSize(const std::optional<TopologyRequest>& request) {
  if (!request) return 1;
  if (!request->slice_constraints.empty()) return request->slice_constraints.front().size;
  return request->slice_size.value_or(1);
}

}  // namespace

std::int64_t LostPods(std::int32_t count, const SharedValue<TopologyAssignment>& assignment) {
  if (!assignment) return 0;
  return std::max<std::int64_t>(count - TotalPods(*assignment), 0);
}

std::string LostPodsNote(const ObjectKey& workload, std::string_view pod_set, std::int32_t count,
                         std::int64_t lost, const std::optional<TopologyRequest>& request) {
  const std::int32_t size = SliceSize(request);
  const bool beyond_slices = size > 1 && lost == count % size;
  return fmt::format(
      "workload {}, pod set {}: {} of its {} pods get no place{}; Kueue counts the workload as "
      "placed all the same",
      Excerpt(workload.ToString()), Excerpt(pod_set), lost, count,
      beyond_slices ? fmt::format(", as they are beyond the last whole slice of {}", size)
                    : std::string());
}

}  // namespace espalier
