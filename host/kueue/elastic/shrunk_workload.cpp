#include "host/kueue/elastic/shrunk_workload.hpp"

#include <algorithm>
#include <utility>

#include "host/kueue/objects/leaving_pods.hpp"

namespace espalier {
namespace {

class Shrinking {
 public:
  Shrinking(ResizeProfile profile, const ClusterLookup& lookup, const Cluster& cluster,
            LeafPaths& paths)
      : profile_(profile), lookup_(lookup), cluster_(cluster), paths_(paths) {}

  // `before`: pods of the pod set so far. Fewer may be admitted, and those may be few enough.
  void Shrink(const PodSet& pod_set, std::int32_t before, PodSetAssignment& assignment,
              LeavingPods& leaving) const {
    const std::int32_t held = assignment.count.value_or(before);
    const std::int32_t stay = std::min(held, pod_set.count);
    Resources usage;
    for (const auto& [resource, amount] : assignment.resource_usage) {
      usage.Set(resource, held <= 0 ? 0 : SaturatingMultiply(amount / held, stay));
    }
    assignment.resource_usage = std::move(usage);
    assignment.count = stay;
    if (!assignment.topology_assignment) {
      if (held > stay) leaving.domains = {{{}, held - stay}};
      return;
    }
    ShrunkAssignment shrunk = ShrinkTopology(pod_set, assignment);
    assignment.topology_assignment = std::move(shrunk.staying);
    leaving.domains = std::move(shrunk.leaving);
  }

 private:
  ShrunkAssignment ShrinkTopology(const PodSet& pod_set, const PodSetAssignment& assignment) const {
    const TopologyAssignment& topology = *assignment.topology_assignment;
    if (profile_ == ResizeProfile::kKueue) return KeepFirstPods(topology, pod_set.count);
    const Topology* levels = TopologyOf(assignment, lookup_);
    if (levels == nullptr) return KeepFirstPods(topology, pod_set.count);
    const auto paths = paths_.PathsOf(topology, *levels, cluster_);
    return KeepWholeDomains(topology, pod_set.count, paths,
                            SliceLevels(pod_set.topology_request, *levels));
  }

  const ResizeProfile profile_;
  const ClusterLookup& lookup_;
  const Cluster& cluster_;
  LeafPaths& paths_;
};

}  // namespace

std::vector<LeavingPods> ShrinkTo(std::span<const std::int64_t> counts, ResizeProfile profile,
                                  const ClusterLookup& lookup, const Cluster& cluster,
                                  LeafPaths& paths, Workload& workload) {
  const Shrinking shrinking(profile, lookup, cluster, paths);
  std::vector<LeavingPods> all_leaving;
  auto& assignments = workload.admission->pod_set_assignments;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    PodSet& pod_set = workload.pod_sets[i];
    if (counts[i] >= pod_set.count) continue;
    const std::int32_t before = pod_set.count;
    pod_set.count = static_cast<std::int32_t>(counts[i]);
    const auto assignment = std::ranges::find(assignments, pod_set.name, &PodSetAssignment::name);
    LeavingPods leaving{pod_set.name, {}};
    if (assignment == assignments.end()) {
      leaving.domains = {{{}, before - pod_set.count}};
    } else {
      shrinking.Shrink(pod_set, before, *assignment, leaving);
    }
    if (!leaving.domains.empty()) all_leaving.push_back(std::move(leaving));
  }
  return all_leaving;
}

}  // namespace espalier
