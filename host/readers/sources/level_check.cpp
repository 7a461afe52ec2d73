#include "host/readers/sources/level_check.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {
namespace {

struct Bound {
  std::string of;
  std::string level;  // empty: none is required
};

class LevelCheck {
 public:
  LevelCheck(const std::vector<Topology>& topologies, JsonValue object, const ReadContext& context)
      : topologies_(topologies), object_(object), context_(context) {}

  void Check(const GangWorkload& workload) {
    const Bound outermost = Within({}, "the workload", workload.topology_request);
    for (const GangGroup& gang : workload.gang_groups) {
      const Bound of_gang = Within(outermost, "gangGroup " + gang.name, gang.topology_request);
      std::vector<Bound> of_middle;
      const auto around = [&](std::int32_t within) -> const Bound& {
        return within < 0 ? of_gang : of_middle[static_cast<std::size_t>(within)];
      };
      for (const MiddleGroup& group : gang.middle_groups) {
        Bound bound = Within(around(group.within), "group " + group.name, group.topology_request);
        of_middle.push_back(std::move(bound));
      }
      for (const RankedGroup& ranked : gang.ranked_groups) {
        const Bound of_ranked =
            Within(around(ranked.within), "rankedGroup " + ranked.name, ranked.topology_request);
        for (const EqGroup& group : ranked.eq_groups) {
          Within(of_ranked, "eqGroup " + group.name, group.topology_request);
        }
      }
    }
  }

 private:
  Bound Within(const Bound& outer, std::string of, const GroupTopologyRequest& request) {
    if (!request.levels || !request.levels->required) return outer;
    const std::string& inner = *request.levels->required;
    for (const Topology& topology : topologies_) {
      const auto at = std::ranges::find(topology.levels, inner);
      const auto above = std::ranges::find(topology.levels, outer.level);
      if (at == topology.levels.end() || above == topology.levels.end() || at >= above) continue;
      context_.Error(object_,
                     fmt::format("{} requires {}, which is above {} that {} around it requires", of,
                                 inner, outer.level, outer.of),
                     fmt::format("{} or a level below it", outer.level));
      break;
    }
    return {std::move(of), inner};
  }

  const std::vector<Topology>& topologies_;
  JsonValue object_;
  const ReadContext& context_;
};

// Does as ResolveKeys for one request; `of` names it in the reason.
void ResolveKeysOf(const std::vector<Topology>& topologies, const std::string& of,
                   GroupTopologyRequest& request, GangWorkload& workload) {
  std::vector<std::string> keys = std::exchange(request.also_required, {});
  if (keys.empty() || !request.levels || !request.levels->required) return;
  keys.push_back(*request.levels->required);
  for (const Topology& topology : topologies) {
    const std::string& wanted = workload.head.topology_name;
    if (!wanted.empty() && wanted != topology.name) continue;
    const auto level_of = [&](const std::string& key) {
      return std::ranges::find(topology.levels, key) - topology.levels.begin();
    };
    const std::string& finest = *std::ranges::max_element(keys, {}, level_of);
    if (level_of(finest) == std::ssize(topology.levels)) continue;  // it lacks one of them
    request.levels->required = finest;
    return;
  }
  if (workload.waits_for.empty()) {
    workload.waits_for = fmt::format("{} asks for {}, and no topology of the input has all of them",
                                     of, fmt::join(keys, ", "));
  }
}

}  // namespace

void ResolveKeys(const std::vector<Topology>& topologies, GangWorkload& workload) {
  ResolveKeysOf(topologies, "the workload", workload.topology_request, workload);
  for (GangGroup& gang : workload.gang_groups) {
    ResolveKeysOf(topologies, "gangGroup " + gang.name, gang.topology_request, workload);
    for (MiddleGroup& group : gang.middle_groups) {
      ResolveKeysOf(topologies, "group " + group.name, group.topology_request, workload);
    }
    for (RankedGroup& ranked : gang.ranked_groups) {
      ResolveKeysOf(topologies, "rankedGroup " + ranked.name, ranked.topology_request, workload);
    }
  }
}

void CheckLevels(const GangWorkload& workload, const std::vector<Topology>& topologies,
                 JsonValue object, const ReadContext& context) {
  LevelCheck(topologies, object, context).Check(workload);
}

}  // namespace espalier
