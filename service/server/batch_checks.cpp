#include "service/server/batch_checks.hpp"

#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/engine/assignments.hpp"
#include "host/model/excerpt.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

Result<LeafIndex> ReadNaming(v1::DomainNaming naming, const ClusterState& state) {
  switch (static_cast<int>(naming)) {
    case v1::DOMAIN_NAMING_NAME:
      return LeafIndex();
    case v1::DOMAIN_NAMING_INDEX:
      return [&state](const std::string& flavor,
                      const std::vector<std::string>& values) -> std::optional<std::int32_t> {
        const FlavorState* found = state.Find(flavor);
        const LeafId leaf = found ? found->snapshot().FindLeaf(DomainIdText(values)) : LeafId();
        if (!leaf.valid()) return std::nullopt;
        return found->snapshot().IndexOf(leaf);
      };
    default:
      return BadInput(fmt::format("domain_naming: is {}; INDEX (0) or NAME (1) expected",
                                  static_cast<int>(naming)));
  }
}

Result<void> CheckFlavors(const std::vector<WorkloadRequest>& workloads,
                          const ClusterState& state) {
  std::size_t position = 0;
  for (const WorkloadRequest& workload : workloads) {
    for (const PodSetRequest& pod_set : workload.pod_sets) {
      if (state.Find(pod_set.flavor) == nullptr) {
        return tl::unexpected(Error{
            ErrorClass::kNotFound,
            fmt::format("workloads.pod_set_flavors[{}]: the state has no flavor \"{}\" with a "
                        "topology; it has {}",
                        position, Excerpt(pod_set.flavor),
                        Excerpt(fmt::format("{}", fmt::join(state.FlavorNames(), ", "))))});
      }
      ++position;
    }
  }
  return {};
}

Result<PlacementMode> ReadMode(v1::PlacementMode mode) {
  switch (static_cast<int>(mode)) {
    case v1::PLACEMENT_MODE_NOMINATE:
      return PlacementMode::kNominate;
    case v1::PLACEMENT_MODE_SEQUENTIAL:
      return PlacementMode::kSequential;
    default:
      return BadInput(fmt::format("mode: is {}; NOMINATE (1) or SEQUENTIAL (2) expected",
                                  static_cast<int>(mode)));
  }
}

}  // namespace espalier
