#include "host/readers/sources/level_check.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

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
      for (const RankedGroup& ranked : gang.ranked_groups) {
        const Bound of_ranked =
            Within(of_gang, "rankedGroup " + ranked.name, ranked.topology_request);
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

}  // namespace

void CheckLevels(const GangWorkload& workload, const std::vector<Topology>& topologies,
                 JsonValue object, const ReadContext& context) {
  LevelCheck(topologies, object, context).Check(workload);
}

}  // namespace espalier
