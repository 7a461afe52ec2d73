#include "host/gangs/gang_units.hpp"

#include <algorithm>
#include <iterator>

namespace espalier {
namespace {

constexpr std::int64_t kAlwaysRoom = 64;  // units

std::vector<Workload> TreesOf(GangWorkload& workload) {
  if (workload.replicas) *workload.replicas -= workload.with_workload;
  return TreeUnits(workload);
}

std::vector<Workload> PartsOf(GangWorkload& workload) {
  std::vector<Workload> units = PlacementUnits(workload);
  // One for each replica, unless all of them wait.
  if (std::ssize(units) == workload.replicas.value_or(1)) {
    units.erase(units.begin(), units.begin() + workload.with_workload);
  }
  return units;
}

}  // namespace

std::vector<Workload> UnitsOf(
    std::span<GangWorkload> workloads, Trees trees,
    const std::function<bool(std::size_t position, std::int64_t parts)>& has_room) {
  std::vector<Workload> all;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    GangWorkload& workload = workloads[i];
    if (!workload.others_wait.empty()) {
      all.emplace_back(workload.head).refusal = workload.others_wait;
    }
    if (workload.running || HasCondition(workload.head, "Finished")) continue;
    std::vector<Workload> units;
    if (IsTree(workload, trees)) {
      units = TreesOf(workload);
    } else if (const std::int64_t count = CountUnits(workload);
               count <= kAlwaysRoom || has_room(i, count)) {
      units = PartsOf(workload);
    }
    std::ranges::move(units, std::back_inserter(all));
  }
  return all;
}

}  // namespace espalier
