#include "fallback_cpu/shape_counts.hpp"

#include <algorithm>

#include "kernels/decisions/roll_up.hpp"
#include "kernels/team/serial_team.hpp"

namespace espalier {
namespace {

// Slices and pods are the same number everywhere when a slice is one pod on one leaf.
bool HasSlices(const SliceRule& slice, const TreeView& tree) {
  return slice.size != 1 || slice.level != tree.lowest() || slice.layer_count > 1;
}

}  // namespace

CountsView ShapeCounts::View(const PlacementJob& job) {
  CountsView view = storage_.View();
  const NodeFilter* filter = job.shape->filter.get();
  if (job.affinity_scores && filter != nullptr && !filter->affinity.empty()) {
    view.affinity = filter->affinity.data();
  }
  return view;
}

void ShapeCounts::Refresh(const PlacementJob& job) {
  const FlavorState& state = *job.state;
  const std::size_t log_size = job.simulate_empty ? 0 : state.changed_blocks().size();
  if (counted_ && log_position_ == log_size && job.assumed.empty() && assumed_blocks_.empty()) {
    return;
  }
  const LeafCounter counter(job);
  const auto blocks = static_cast<std::size_t>(state.snapshot().block_count());
  if (!counted_ || log_size - log_position_ > 2 * blocks) {
    CountAll(job, counter);
  } else {
    stale_.swap(assumed_blocks_);
    for (std::size_t i = log_position_; i < log_size; ++i) {
      if (state.IsLastChange(i)) stale_.push_back(state.changed_blocks()[i]);
    }
    for (const AssumedLeaf& assumed : job.assumed) {
      stale_.push_back(state.snapshot().BlockOf(assumed.leaf));
    }
    CountBlocks(job, counter);
  }
  counted_ = true;
  log_position_ = log_size;
  assumed_blocks_.clear();
  for (const AssumedLeaf& assumed : job.assumed) {
    assumed_blocks_.push_back(state.snapshot().BlockOf(assumed.leaf));
  }
}

void ShapeCounts::CountAll(const PlacementJob& job, const LeafCounter& counter) {
  const TreeView tree = job.state->snapshot().tree();
  storage_.Resize(tree.domain_count(), HasSlices(job.shape->slice, tree), job.query.leaders > 0);
  const CountsView counts = storage_.View();
  counter.Count({0, tree.leaf_count()}, counts);
  SerialTeam team;
  RollUp(team, tree, job.shape->slice, counts, 0, {tree.LevelBegin(0), tree.LevelEnd(0)});
  limited_known_ = false;
}

// Counts the blocks in stale_ and rolls their ancestors up.
void ShapeCounts::CountBlocks(const PlacementJob& job, const LeafCounter& counter) {
  const FlavorSnapshot& snapshot = job.state->snapshot();
  const CountsView counts = storage_.View();
  for (const std::int32_t block : stale_) {
    const DomainRange leaves = snapshot.BlockLeaves(block);
    counter.Count(leaves, counts);
    if (limited_known_) LimitBlock(counter, leaves, block);
  }
  const TreeView tree = snapshot.tree();
  // Blocks are the domains above the leaves; go up from there, each ancestor once.
  seen_.resize(static_cast<std::size_t>(tree.LevelBegin(tree.lowest())), 0);
  ++refresh_;
  for (std::int32_t level = tree.lowest() - 1; level >= 0; --level) {
    std::size_t kept = 0;
    for (const std::int32_t below : stale_) {
      const std::int32_t domain =
          level == tree.lowest() - 1 ? tree.LevelBegin(level) + below : tree.parent[below];
      std::uint32_t& seen = seen_[static_cast<std::size_t>(domain)];
      if (seen == refresh_) continue;
      seen = refresh_;
      stale_[kept++] = domain;
      RollUpDomain(tree, job.shape->slice, counts, level, domain);
    }
    stale_.resize(kept);
  }
  stale_.clear();
}

void ShapeCounts::LimitBlock(const LeafCounter& counter, DomainRange leaves, std::int32_t block) {
  const std::size_t resources = limited_.size();
  std::int32_t* of_block = limited_of_block_.data() + static_cast<std::size_t>(block) * resources;
  for (std::size_t r = 0; r < resources; ++r) limited_[r] -= of_block[r];
  std::fill_n(of_block, resources, 0);
  counter.CountLimited(leaves, of_block);
  for (std::size_t r = 0; r < resources; ++r) limited_[r] += of_block[r];
}

void ShapeCounts::CountExclusions(const PlacementJob& job, PlacementResult& result) {
  if (!limited_known_) {
    const FlavorSnapshot& snapshot = job.state->snapshot();
    const LeafCounter counter(job);
    const std::size_t resources = job.shape->workers.names.size();
    limited_.assign(resources, 0);
    limited_of_block_.assign(static_cast<std::size_t>(snapshot.block_count()) * resources, 0);
    outside_ = 0;
    for (std::int32_t block = 0; block < snapshot.block_count(); ++block) {
      std::int32_t* of_block =
          limited_of_block_.data() + static_cast<std::size_t>(block) * resources;
      outside_ += counter.CountLimited(snapshot.BlockLeaves(block), of_block);
      for (std::size_t r = 0; r < resources; ++r) limited_[r] += of_block[r];
    }
    limited_known_ = true;
  }
  result.limited_by = limited_;
  result.outside_domain = outside_;
}

}  // namespace espalier
