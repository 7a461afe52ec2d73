#include "host/what_if/victims_by_flavor.hpp"

#include <string_view>
#include <unordered_set>

namespace espalier {
namespace {

VictimsOnFlavor* FindOrAdd(VictimsByFlavor& held, const FlavorState* flavor, bool together) {
  const auto it = std::ranges::find(held, flavor, &VictimsOnFlavor::flavor);
  return it == held.end() ? &held.emplace_back(*flavor, together) : &*it;
}

}  // namespace

Result<VictimsByFlavor> ResolveVictims(const ClusterState& state, std::span<const Victim> victims,
                                       bool together) {
  VictimsByFlavor held;
  std::unordered_set<std::string_view> names;
  names.reserve(victims.size());
  std::vector<std::string_view> ids;  // of a run
  std::vector<LeafId> leaves;
  for (std::size_t v = 0; v < victims.size(); ++v) {
    const Victim& victim = victims[v];
    const auto wrong = [&](const std::string& problem) {
      return BadInput(fmt::format("victim {}: {}", Excerpt(victim.name), problem));
    };
    if (together && !names.insert(victim.name).second) {
      return wrong("it is named twice; want each once");
    }
    for (std::span<const FlavorLeafUsage> rest = victim.usage; !rest.empty();) {
      const std::span<const FlavorLeafUsage> run = FirstOfOneFlavor(rest);
      rest = rest.subspan(run.size());
      const FlavorState* flavor = state.Find(run[0].flavor);
      if (flavor == nullptr) {
        return wrong(fmt::format("it is on the flavor {}, which the state does not have",
                                 Excerpt(run[0].flavor)));
      }
      ids.clear();
      for (const FlavorLeafUsage& entry : run) ids.emplace_back(entry.leaf);
      leaves.resize(run.size());
      flavor->snapshot().FindLeaves(ids, leaves);
      VictimsOnFlavor* on_flavor = FindOrAdd(held, flavor, together);
      on_flavor->Begin(v);
      for (std::size_t i = 0; i < run.size(); ++i) {
        if (!leaves[i].valid()) continue;
        if (const std::string problem = on_flavor->Add(leaves[i], run[i].usage); !problem.empty()) {
          return wrong(problem);
        }
      }
    }
    for (VictimsOnFlavor& any : held) {
      any.Begin(v);
      if (const std::string problem = any.End(); !problem.empty()) return wrong(problem);
    }
  }
  return held;
}

}  // namespace espalier
