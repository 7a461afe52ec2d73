#include "host/engine/dispatch.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "host/engine/assignments.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

// Judges one answer by the state that it was given on.
class Judge {
 public:
  Judge(const ClusterState& state, const WorkloadRequest& request, const WorkloadAnswer& answer)
      : state_(state), request_(request) {
    for (const PodSetRequest& pod_set : request.pod_sets) pod_sets_.emplace(pod_set.name, &pod_set);
    for (const PodSetAnswer& placed : answer.pod_sets) NoteUsage(placed);
  }

  PodSetFit Fit(const PodSetAnswer& placed) const {
    PodSetFit fit{placed.name, "", 0, 0, 0};
    const PodSetRequest* pod_set = FindPodSet(placed.name);
    const FlavorState* flavor = state_.Find(placed.flavor);
    const auto leaves = leaves_.find(placed.name);
    if (pod_set == nullptr || flavor == nullptr || leaves == leaves_.end()) return fit;
    SetLevel(leaves->second, flavor->snapshot(), fit);
    fit.domains = static_cast<std::int64_t>(leaves->second.size());
    const Resources pod = UsageOfPods(pod_set->requests, 1);
    const std::vector<Need> needs = NeedsOf(pod, flavor->snapshot());
    for (const LeafId leaf : leaves->second) fit.left_over += RoomOn(*flavor, leaf, needs);
    return fit;
  }

 private:
  // What a pod takes of a resource.
  struct Need {
    std::string_view resource;
    std::int32_t column = -1;  // below 0: no node has it
    Amount amount = 0;         // positive
  };

  static std::vector<Need> NeedsOf(const Resources& pod, const FlavorSnapshot& snapshot) {
    std::vector<Need> needs;
    for (const auto& [resource, amount] : pod) {
      if (amount > 0) needs.push_back({resource, snapshot.FindResource(resource), amount});
    }
    return needs;
  }

  const PodSetRequest* FindPodSet(std::string_view name) const {
    const auto found = pod_sets_.find(name);
    return found == pod_sets_.end() ? nullptr : found->second;
  }

  void NoteUsage(const PodSetAnswer& placed) {
    const PodSetRequest* pod_set = FindPodSet(placed.name);
    const FlavorState* flavor = state_.Find(placed.flavor);
    if (!placed.assignment || pod_set == nullptr || flavor == nullptr) return;
    std::vector<LeafId>& leaves = leaves_[placed.name];
    for (const TopologyDomainAssignment& domain : placed.assignment->domains) {
      const LeafId leaf = flavor->snapshot().FindLeaf(ids_.Of(domain.values));
      if (!leaf.valid()) continue;
      leaves.push_back(leaf);
      AddTo(used_[{flavor, leaf.value}], UsageOfPods(pod_set->requests, domain.count));
    }
  }

  static void SetLevel(const std::vector<LeafId>& leaves, const FlavorSnapshot& snapshot,
                       PodSetFit& fit) {
    std::int32_t level = snapshot.tree().lowest();
    for (const LeafId leaf : leaves) {
      while (level >= 0 &&
             snapshot.Ancestor(leaf, level) != snapshot.Ancestor(leaves.front(), level)) {
        --level;
      }
    }
    fit.height = snapshot.tree().lowest() - level;
    if (level >= 0) fit.level = snapshot.levels()[static_cast<std::size_t>(level)];
  }

  // Pods with these needs that a leaf has room for beside the workload.
  std::int64_t RoomOn(const FlavorState& flavor, LeafId leaf,
                      const std::vector<Need>& needs) const {
    const auto& amounts = request_.simulate_empty ? flavor.free() : flavor.remaining();
    const auto used = used_.find({&flavor, leaf.value});
    std::int64_t room = std::numeric_limits<std::int64_t>::max();
    for (const auto& [resource, column, amount] : needs) {
      if (column < 0) return 0;
      const auto at = static_cast<std::size_t>(column * flavor.snapshot().stride() + leaf.value);
      const Amount* taken = used == used_.end() ? nullptr : used->second.Find(resource);
      const Amount left = SaturatingSubtract(amounts[at], taken == nullptr ? 0 : *taken);
      room = std::min(room, std::max(left, Amount{0}) / amount);
    }
    return room;
  }

  const ClusterState& state_;
  const WorkloadRequest& request_;
  std::unordered_map<std::string_view, const PodSetRequest*> pod_sets_;  // by name
  DomainIds ids_;
  std::map<std::string, std::vector<LeafId>> leaves_;                      // by pod set
  std::map<std::pair<const FlavorState*, std::int32_t>, Resources> used_;  // by leaf
};

ClusterFit FitOf(const ClusterState& state, const WorkloadRequest& request,
                 const WorkloadAnswer& answer) {
  if (const PodSetAnswer* failed = answer.FirstFailure()) {
    return {0,
            FitStatus::kDoesNotFit,
            fmt::format("pod set {}: {}", failed->name, failed->failure->reason),
            {}};
  }
  ClusterFit fit{0, FitStatus::kFits, "", {}};
  const Judge judge(state, request, answer);
  for (const PodSetAnswer& placed : answer.pod_sets) fit.pod_sets.push_back(judge.Fit(placed));
  return fit;
}

// Less is better.
auto Rank(const ClusterFit& fit) {
  std::int32_t height = 0;
  std::int64_t domains = 0;
  std::int64_t left_over = 0;
  for (const PodSetFit& pod_set : fit.pod_sets) {
    height = std::max(height, pod_set.height);
    domains += pod_set.domains;
    left_over += pod_set.left_over;
  }
  return std::tuple(fit.status, height, domains, left_over);
}

}  // namespace

std::vector<std::vector<ClusterFit>> Dispatch(std::span<const DispatchCluster> clusters,
                                              std::size_t workloads, const Engine& engine) {
  std::vector<std::vector<ClusterFit>> fits(workloads);
  std::vector<StateRequest> asked;
  std::vector<ClusterFit*> answered;
  for (std::vector<ClusterFit>& of_workload : fits) of_workload.resize(clusters.size());
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const DispatchCluster& cluster = clusters[c];
    auto known = cluster.known.begin();
    for (std::size_t w = 0; w < workloads; ++w) {
      ClusterFit& fit = fits[w][c];
      fit.cluster = c;
      if (cluster.state == nullptr) {
        fit.reason = "nothing is known of its state";
      } else if (known != cluster.known.end() && known->workload == w) {
        fit.status = known->status;
        fit.reason = known->reason;
        ++known;
      } else {
        asked.push_back({&cluster.requests[w], cluster.state});
        answered.push_back(&fit);
      }
    }
  }
  const std::vector<WorkloadAnswer> answers = engine.Nominate(asked);
  for (std::size_t i = 0; i < answers.size() && !engine.budget().stopped(); ++i) {
    const std::size_t cluster = answered[i]->cluster;
    *answered[i] = FitOf(*asked[i].state, *asked[i].request, answers[i]);
    answered[i]->cluster = cluster;
  }
  for (std::vector<ClusterFit>& of_workload : fits) {
    std::ranges::sort(of_workload, [&](const ClusterFit& a, const ClusterFit& b) {
      const auto left = Rank(a);
      const auto right = Rank(b);
      return left != right ? left < right : clusters[a.cluster].name < clusters[b.cluster].name;
    });
  }
  return fits;
}

}  // namespace espalier
