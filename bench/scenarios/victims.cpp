#include "bench/scenarios/victims.hpp"

#include <utility>

#include <fmt/format.h>

#include "host/engine/assignments.hpp"
#include "host/model/splitmix64.hpp"

namespace espalier {

std::vector<Victim> VictimsOf(const LoadedScenario& loaded, std::uint64_t seed) {
  std::vector<Victim> victims;
  for (const RunningGang& gang : loaded.prefill.gangs) {
    Victim& victim = victims.emplace_back();
    victim.name = fmt::format("running-{}", victims.size());
    const Resources requests = SlotRequests(loaded.cluster, gang.slots);
    for (const auto& [node, pods] : gang.pods) {
      victim.usage.push_back({std::string(kBenchFlavor),
                              loaded.cluster.nodes.names[static_cast<std::size_t>(node)],
                              UsageOfPods(requests, pods)});
    }
  }
  SplitMix64 random(seed);
  for (std::size_t i = victims.size(); i > 1; --i) {
    std::swap(victims[i - 1],
              victims[static_cast<std::size_t>(random.Below(static_cast<std::int64_t>(i)))]);
  }
  return victims;
}

std::vector<std::int64_t> PrioritiesOf(const std::vector<Victim>& victims, std::uint64_t seed) {
  constexpr std::int64_t kPriorities = 8;
  SplitMix64 random(seed);
  std::vector<std::int64_t> priorities;
  for (std::size_t v = 0; v < victims.size(); ++v) priorities.push_back(random.Below(kPriorities));
  return priorities;
}

}  // namespace espalier
