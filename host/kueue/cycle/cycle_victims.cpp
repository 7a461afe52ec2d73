#include "host/kueue/cycle/cycle_victims.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/cycle/preemption.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/names_text.hpp"
#include "host/what_if/prefix_search.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostNamed = 5;

// Quota that is free again when victims are gone.
class QuotaRoom final : public OtherRoom {
 public:
  QuotaRoom(const NeedsVictims& asked, const std::vector<VictimSlices>& candidates)
      : left_(asked.quota) {
    for (const PodSetFlavors& pod_set : asked.nomination.flavors.pod_sets) {
      for (const auto& [resource, amount] : pod_set.requests) {
        const std::string* flavor = pod_set.flavors.Find(resource);
        if (flavor == nullptr) continue;
        Amount& sum = wanted_[{*flavor, resource}];
        sum = SaturatingAdd(sum, amount);
      }
    }
    // A slice takes over what the one before it has (R21.13).
    const QuotaUsage held =
        asked.replaced == nullptr ? QuotaUsage() : QuotaUsageOf(*asked.replaced);
    for (auto& [key, amount] : wanted_) {
      const auto before = held.find(key);
      if (before == held.end()) continue;
      amount = std::max<Amount>(SaturatingSubtract(amount, before->second), 0);
    }
    for (const VictimSlices& slices : candidates) {
      QuotaUsage& usage = usage_.emplace_back();
      for (const std::size_t i : slices) {
        for (const auto& [key, amount] : QuotaUsageOf(asked.cluster.workloads[i])) {
          usage[key] = SaturatingAdd(usage[key], amount);
        }
      }
    }
  }

  void Set(std::size_t victim, bool removed) override {
    if (removed) {
      left_.Remove(usage_[victim]);
    } else {
      left_.Add(usage_[victim]);
    }
  }

  bool Fits() const override {
    return std::ranges::all_of(wanted_, [&](const auto& entry) {
      const auto& [key, amount] = entry;
      return amount <= SaturatingSubtract(left_.Nominal(key), left_.Used(key));
    });
  }

 private:
  Quota left_;
  QuotaUsage wanted_;
  std::vector<QuotaUsage> usage_;  // of the candidates
};

}  // namespace

std::optional<VictimsAnswer> FindVictims(const NeedsVictims& asked, const ClusterState& state,
                                         const Engine& engine) {
  const auto policy = ParsePreemptionPolicy(asked.queue.within_cluster_queue);
  if (!policy || *policy == PreemptionPolicy::kNever) return std::nullopt;
  WorkloadRequest request = asked.nomination.request;
  if (request.pod_sets.empty()) return std::nullopt;  // quota alone: that is the controller's
  request.simulate_empty = false;                     // as it was judged last (R21.5)
  const std::vector<VictimSlices> candidates =
      PreemptionCandidates(asked.cluster, asked.workload, request, asked.queue.name, *policy);
  const std::string who = fmt::format("workload {} in ClusterQueue {}",
                                      Excerpt(asked.workload.key.ToString()), asked.queue.name);
  if (candidates.empty()) {
    return VictimsAnswer{.note =
                             fmt::format("{} stays pending: nobody may be preempted for it by {}",
                                         who, asked.queue.within_cluster_queue)};
  }
  std::vector<Victim> victims;
  for (const VictimSlices& slices : candidates) {
    victims.push_back(VictimOf(asked.cluster, slices, asked.lookup));
  }
  QuotaRoom quota(asked, candidates);
  auto found = FindPrefix(engine, state, request, victims, &quota);
  if (!found) {
    return VictimsAnswer{
        .note = fmt::format("{}: whom to preempt was not found: {}", who, found.error().message)};
  }
  if (!found->fits) {
    return VictimsAnswer{
        .note = fmt::format("{} would not fit even without all {} that may be preempted for it "
                            "by {}",
                            who, candidates.size(), asked.queue.within_cluster_queue)};
  }
  std::vector<std::string> names;
  for (const std::size_t target : found->targets) names.push_back(Excerpt(victims[target].name));
  return VictimsAnswer{.note = fmt::format("{} would have {} preempted for it: {}", who,
                                           names.size(), NamesText(names, kMostNamed)),
                       .placement = std::move(found->answer)};
}

}  // namespace espalier
