#include "service/server/capacity_gauges.hpp"

#include <string_view>

#include "host/what_if/census.hpp"

namespace espalier {

std::vector<CapacityGauges::Value> CapacityGauges::Values() const {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<const PublishedState> current = store_.Current();
  if (current->position == counted_) return values_;
  const auto flavors = current->state.FlavorNames();
  std::vector<PodSetRequest> gangs;
  for (const CapacityShape& shape : shapes_) {
    for (const std::string_view flavor : flavors) {
      gangs.push_back(shape.gang);
      gangs.back().flavor = flavor;
    }
  }
  const std::vector<GangCensus> counted =
      CountGangs(current->state, gangs, CensusDetail::kLevels,
                 GatesOf(current->configuration, gates_), *backend_);
  values_.clear();
  for (std::size_t i = 0; i < gangs.size(); ++i) {
    for (const LevelCensus& level : counted[i].levels) {
      values_.push_back(
          {shapes_[i / flavors.size()].text, gangs[i].flavor, level.level, level.gangs});
    }
  }
  counted_ = current->position;
  return values_;
}

}  // namespace espalier
