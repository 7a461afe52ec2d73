#include "host/engine/backend.hpp"

#include <utility>

#include "host/engine/leaf_input.hpp"
#include "host/engine/tree_placer.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/team/serial_team.hpp"

namespace espalier {

Backend::Backend() = default;
Backend::~Backend() = default;

void Backend::SetTrees(std::unique_ptr<TreePlacer> trees) { trees_ = std::move(trees); }

void Backend::CountDomains(const PlacementJob& job, CountsStorage& counts) const {
  FlatAssumed assumed;
  assumed.Set(job.assumed);
  const LeafInput input = MakeLeafInput(job, assumed);
  const TreeView tree = job.state->snapshot().tree();
  const CountsView view = ResizeFor(job, counts);
  SerialTeam team;
  CountLeaves(team, tree, job.shape->slice, input, view);
  RollUp(team, tree, job.shape->slice, view, 0, {0, tree.LevelEnd(0)});
}

void Backend::CountEach(std::span<const PlacementJob> jobs, std::span<const DomainReading> readings,
                        const CountsVisitor& visit) {
  CountsStorage counts;
  for (std::size_t i = 0; i < jobs.size() && !jobs[i].budget->stopped(); ++i) {
    CountDomains(jobs[i], counts);
    ReadCounts(jobs, i, counts.View(), readings, visit);
  }
}

void ReadCounts(std::span<const PlacementJob> jobs, std::size_t i, const CountsView& counts,
                std::span<const DomainReading> readings, const CountsVisitor& visit) {
  const TreeView tree = jobs[i].state->snapshot().tree();
  for (const DomainReading& reading : ReadingsOf(readings, i)) ReadDomains(tree, counts, reading);
  if (visit) visit(i, counts);
}

std::vector<Evaluation> EachOf(std::span<const PlacementJob> jobs) {
  std::vector<Evaluation> each;
  for (const PlacementJob& job : jobs) {
    each.push_back({static_cast<std::int32_t>(each.size()), job.query.pods});
  }
  return each;
}

CountsView ResizeFor(const PlacementJob& job, CountsStorage& counts) {
  const TreeView tree = job.state->snapshot().tree();
  counts.Resize(tree.domain_count(), !job.shape->slice.IsOnePod(tree.lowest()),
                job.query.leaders > 0);
  return counts.View();
}

}  // namespace espalier
