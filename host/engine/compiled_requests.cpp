#include "host/engine/compiled_requests.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

namespace espalier {
namespace {

bool IsSameButCount(const PodSetRequest& a, const PodSetRequest& b) {
  return a.requests == b.requests && a.name == b.name && a.flavor == b.flavor &&
         a.topology_request == b.topology_request && a.implied == b.implied && a.group == b.group &&
         a.pod_template == b.pod_template && a.updates == b.updates;
}

bool IsOfShape(const WorkloadRequest& request, const GangPodSets& gang, const GangShape& shape) {
  return request.simulate_empty == shape.simulate_empty &&
         request.affinity_scores_consumed == shape.affinity_scores_consumed &&
         gang.leader_first == shape.leader_first &&
         (gang.leader != nullptr) == shape.leader.has_value() &&
         IsSameButCount(*gang.workers, shape.workers) &&
         (gang.leader == nullptr || IsSameButCount(*gang.leader, *shape.leader));
}

// Tells most shapes apart.
std::size_t HashOf(const ClusterState& state, const PodSetRequest& workers) {
  constexpr std::size_t kPrime = 0x100000001b3;  // of FNV-1a
  std::size_t hash = std::hash<const void*>()(&state);
  hash = (hash ^ std::hash<std::string>()(workers.flavor)) * kPrime;
  for (const auto& [resource, amount] : workers.requests) {
    hash = (hash ^ std::hash<std::string>()(resource)) * kPrime;
    hash = (hash ^ static_cast<std::size_t>(amount)) * kPrime;
  }
  return hash;
}

// Numbers the shapes of gangs as they come.
class ShapeNumbers {
 public:
  ShapeNumbers(const FeatureGates& gates, WorkBudget& budget, CompiledRequests& compiled)
      : gates_(gates), budget_(budget), compiled_(compiled) {}

  std::int32_t Of(const RequestOnState& asked, const GangPodSets& gang) {
    std::vector<std::int32_t>& alike = by_hash_[HashOf(*asked.state, *gang.workers)];
    for (const std::int32_t known : alike) {
      const auto i = static_cast<std::size_t>(known);
      if (compiled_.states[i] == asked.state &&
          IsOfShape(*asked.request, gang, compiled_.shapes[i]->specification)) {
        return known;
      }
    }
    alike.push_back(static_cast<std::int32_t>(compiled_.shapes.size()));
    compiled_.states.push_back(asked.state);
    compiled_.shapes.push_back(std::make_shared<const ResolvedGangShape>(
        Resolve(ShapeOf(*asked.request, gang), *asked.state, gates_, budget_)));
    return alike.back();
  }

 private:
  const FeatureGates& gates_;
  WorkBudget& budget_;
  CompiledRequests& compiled_;
  std::unordered_map<std::size_t, std::vector<std::int32_t>> by_hash_;
};

}  // namespace

std::optional<GangPodSets> AsGang(const WorkloadRequest& request, const ClusterState& state) {
  if (request.tree || request.replacement || !request.assumed_usage.empty()) return std::nullopt;
  if (request.pod_sets.empty() || request.pod_sets.size() > 2) return std::nullopt;
  for (const PodSetRequest& pod_set : request.pod_sets) {
    if (pod_set.previous_assignment || pod_set.count < 0) return std::nullopt;
  }
  const PodSetRequest& first = request.pod_sets.front();
  const PodSetRequest& last = request.pod_sets.back();
  if (state.Find(first.flavor) == nullptr) return std::nullopt;
  if (request.pod_sets.size() == 1) return GangPodSets{&first, nullptr, false};
  if (!first.group || first.group != last.group || first.flavor != last.flavor ||
      first.name == last.name) {
    return std::nullopt;
  }
  const bool leader_first = LeaderComesFirst(first.count, last.count);
  return leader_first ? GangPodSets{&last, &first, true} : GangPodSets{&first, &last, false};
}

GangShape ShapeOf(const WorkloadRequest& request, const GangPodSets& gang) {
  GangShape shape{*gang.workers, std::nullopt, gang.leader_first, request.simulate_empty,
                  request.affinity_scores_consumed};
  if (gang.leader != nullptr) shape.leader = *gang.leader;
  return shape;
}

CompiledRequests Compile(std::span<const RequestOnState> requests, const FeatureGates& gates,
                         WorkBudget& budget) {
  CompiledRequests compiled;
  compiled.gangs.reserve(requests.size());
  ShapeNumbers numbers(gates, budget, compiled);
  for (const RequestOnState& asked : requests) {
    if (budget.stopped()) break;
    if (const auto gang = AsGang(*asked.request, *asked.state)) {
      compiled.gangs.push_back({numbers.Of(asked, *gang), gang->workers->count});
    } else {
      compiled.gangs.push_back(GangRow::Stepped(compiled.stepped.size()));
      compiled.stepped.push_back(asked);
    }
  }
  return compiled;
}

}  // namespace espalier
