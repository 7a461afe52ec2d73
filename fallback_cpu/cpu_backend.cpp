#include "fallback_cpu/cpu_backend.hpp"

#include <algorithm>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "fallback_cpu/counts_cache.hpp"
#include "fallback_cpu/scratch.hpp"
#include "fallback_cpu/shape_counts.hpp"
#include "kernels/decisions/place.hpp"
#include "kernels/team/serial_team.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMaxCountsBytes = std::size_t{1} << 30;

// Everything the result needs from the workspace, which the next job reuses.
PlacementResult ToResult(const PlacementJob& job, ShapeCounts& counts,
                         const PlacementOutcome& outcome) {
  PlacementResult result;
  result.status = outcome.status;
  result.level = outcome.level;
  result.fit = outcome.fit;
  result.total = outcome.total;
  const TreeView tree = job.state->snapshot().tree();
  if (outcome.status == PlacementStatus::kDoesNotFit) {
    result.layer_fits.assign(outcome.layer_fits, outcome.layer_fits + job.query.slice.layer_count);
    counts.CountExclusions(job, result);
  }
  const std::int32_t first_leaf = tree.LevelBegin(tree.lowest());
  for (std::int32_t i = 0; i < outcome.shares.size; ++i) {
    const Share& share = outcome.shares[i];
    if (share.pods == 0 && share.leaders == 0) continue;
    result.shares.push_back({LeafId(share.domain - first_leaf), share.leaders, share.pods});
  }
  std::ranges::sort(result.shares, {}, &LeafShare::leaf);
  return result;
}

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(int threads)
      : arena_(threads > 0 ? threads : tbb::task_arena::automatic), cache_(kMaxCountsBytes) {}

  std::string_view name() const override { return "cpu"; }

  void Evaluate(std::span<const PlacementJob> jobs, std::span<PlacementResult> results) override {
    if (jobs.size() == 1) {
      results[0] = EvaluateOne(jobs[0]);
      return;
    }
    arena_.execute([&] {
      tbb::parallel_for(std::size_t{0}, jobs.size(),
                        [&](std::size_t i) { results[i] = EvaluateOne(jobs[i]); });
    });
  }

 private:
  PlacementResult EvaluateOne(const PlacementJob& job) {
    const bool everywhere = job.replacement_domain.begin == 0 &&
                            job.replacement_domain.end == job.state->snapshot().leaf_count();
    if (!everywhere) {  // rare: not worth a place in the cache
      ShapeCounts counts;
      return Decide(job, counts);
    }
    const std::shared_ptr<CountsCache::Entry> entry = cache_.Get(job);
    const std::lock_guard lock(entry->mutex);
    return Decide(job, entry->counts);
  }

  PlacementResult Decide(const PlacementJob& job, ShapeCounts& shape_counts) {
    shape_counts.Refresh(job);
    const CountsView counts = shape_counts.View(job);
    Scratch& scratch = scratch_.local();
    const TreeView tree = job.state->snapshot().tree();
    SerialTeam team;
    for (;;) {
      const Workspace workspace = scratch.Get(tree, job.query.balanced);
      const PlacementOutcome outcome = Place(team, tree, counts, job.query, workspace);
      if (outcome.status != PlacementStatus::kOutOfStates || !scratch.GrowStates()) {
        return ToResult(job, shape_counts, outcome);
      }
    }
  }

  tbb::task_arena arena_;
  tbb::enumerable_thread_specific<Scratch> scratch_;
  CountsCache cache_;
};

}  // namespace

std::shared_ptr<Backend> MakeCpuBackend(int threads) {
  return std::make_shared<CpuBackend>(threads);
}

}  // namespace espalier
