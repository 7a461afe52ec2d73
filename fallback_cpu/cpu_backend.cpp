#include "fallback_cpu/cpu_backend.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "fallback_cpu/bulk_counts.hpp"
#include "fallback_cpu/counts_cache.hpp"
#include "fallback_cpu/scratch.hpp"
#include "fallback_cpu/shape_counts.hpp"
#include "kernels/decisions/place.hpp"
#include "kernels/team/serial_team.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMaxCountsBytes = std::size_t{1} << 30;

// Shapes counted together, and the blocks counted for each in turn, so that capacity is read from
// the innermost cache.
constexpr std::size_t kMostShapesTogether = 16;
constexpr std::int32_t kBlocksTogether = 32;

// Everything the result needs from the workspace, which the next job reuses. What memory `result`
// has is used again.
void SetResult(const PlacementJob& job, ShapeCounts& counts, const PlacementOutcome& outcome,
               PlacementResult& result) {
  result.layer_fits.clear();
  result.limited_by.clear();
  result.outside_domain = 0;
  result.shares.clear();
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
  result.shares.reserve(static_cast<std::size_t>(outcome.shares.size));
  for (std::int32_t i = 0; i < outcome.shares.size; ++i) {
    const Share& share = outcome.shares[i];
    if (share.pods == 0 && share.leaders == 0) continue;
    result.shares.push_back({LeafId(share.domain - first_leaf), share.leaders, share.pods});
  }
  if (!std::ranges::is_sorted(result.shares, {}, &LeafShare::leaf)) {
    std::ranges::sort(result.shares, {}, &LeafShare::leaf);
  }
}

// On brought-up-to-date counts, which other threads may read meanwhile.
void Decide(const PlacementJob& job, ShapeCounts& counts, Scratch& scratch,
            PlacementResult& result) {
  const ShapeCounts::Source source = counts.SourceFor(job, scratch.leaves());
  const TreeView tree = job.state->snapshot().tree();
  SerialTeam team(ActiveBulkCounts().tightest);
  for (;;) {
    const Workspace workspace = scratch.Get(tree, job.query.balanced);
    const PlacementOutcome outcome =
        Place(team, tree, source.stored(), source, job.query, workspace);
    if (outcome.status != PlacementStatus::kOutOfStates || !scratch.GrowStates()) {
      return SetResult(job, counts, outcome, result);
    }
  }
}

// Whether the job is on a part of the flavor: rare, and not worth a place in the cache.
bool IsPartial(const PlacementJob& job) {
  return job.replacement_domain.begin != 0 ||
         job.replacement_domain.end != job.state->snapshot().leaf_count();
}

// The jobs of a batch that share counts.
struct Group {
  std::shared_ptr<CountsCache::Entry> entry;
  std::vector<std::size_t> jobs;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(int threads)
      : arena_(threads > 0 ? threads : tbb::task_arena::automatic), cache_(kMaxCountsBytes) {}

  std::string_view name() const override { return "cpu"; }

  void Evaluate(std::span<const PlacementJob> jobs, std::span<PlacementResult> results) override {
    if (jobs.size() == 1) {
      return EvaluateOne(jobs[0], results[0]);
    }
    std::vector<std::size_t> alone;  // jobs that cannot share counts with others at the same time
    std::vector<Group> groups = GroupJobs(jobs, alone);
    arena_.execute([&] {
      EvaluateGroups(jobs, results, groups);
      tbb::parallel_for(std::size_t{0}, alone.size(),
                        [&](std::size_t i) { EvaluateOne(jobs[alone[i]], results[alone[i]]); });
    });
  }

  void Prepare(std::span<const PlacementJob> jobs) override {
    if (arena_.max_concurrency() == 1) return;
    std::vector<std::size_t> alone;
    std::vector<Group> groups = GroupJobs(jobs, alone);
    const std::vector<std::unique_lock<std::mutex>> locks = LockAll(groups);
    arena_.execute([&] {
      RefreshGroups(jobs, groups);
      tbb::parallel_for(std::size_t{0}, groups.size(), [&](std::size_t i) {
        groups[i].entry->counts.PrepareExclusions(jobs[groups[i].jobs.front()]);
      });
    });
  }

 private:
  std::vector<Group> GroupJobs(std::span<const PlacementJob> jobs,
                               std::vector<std::size_t>& alone) {
    std::vector<Group> groups;
    std::unordered_map<const CountsCache::Entry*, std::size_t> group_of;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (!jobs[i].assumed.empty() || IsPartial(jobs[i])) {
        alone.push_back(i);
        continue;
      }
      std::shared_ptr<CountsCache::Entry> entry = cache_.Get(jobs[i]);
      const auto [it, fresh] = group_of.emplace(entry.get(), groups.size());
      if (fresh) groups.push_back({std::move(entry), {}});
      groups[it->second].jobs.push_back(i);
    }
    // Callers lock the entries they share in one order.
    std::ranges::sort(groups, {}, [](const Group& group) { return group.entry.get(); });
    return groups;
  }

  void EvaluateGroups(std::span<const PlacementJob> jobs, std::span<PlacementResult> results,
                      std::span<Group> groups) {
    const std::vector<std::unique_lock<std::mutex>> locks = LockAll(groups);
    RefreshGroups(jobs, groups);
    std::vector<std::pair<const Group*, std::size_t>> order;
    order.reserve(jobs.size());
    for (const Group& group : groups) {
      for (const std::size_t job : group.jobs) order.emplace_back(&group, job);
    }
    tbb::parallel_for(std::size_t{0}, order.size(), [&](std::size_t i) {
      const auto& [group, job] = order[i];
      Decide(jobs[job], group->entry->counts, scratch_.local(), results[job]);
    });
  }

  static std::vector<std::unique_lock<std::mutex>> LockAll(std::span<const Group> groups) {
    std::vector<std::unique_lock<std::mutex>> locks;
    locks.reserve(groups.size());
    for (const Group& group : groups) locks.emplace_back(group.entry->mutex);
    return locks;
  }

  void RefreshGroups(std::span<const PlacementJob> jobs, std::span<Group> groups) {
    const auto threads = static_cast<std::size_t>(arena_.max_concurrency());
    const std::size_t together =
        std::clamp(groups.size() / (4 * threads), std::size_t{1}, kMostShapesTogether);
    const std::size_t bundles = (groups.size() + together - 1) / together;
    tbb::parallel_for(std::size_t{0}, bundles, [&](std::size_t bundle) {
      const std::size_t first = bundle * together;
      RefreshTogether(jobs, groups.subspan(first, std::min(together, groups.size() - first)));
    });
  }

  void RefreshTogether(std::span<const PlacementJob> jobs, std::span<Group> groups) {
    CountsStorage& leaves = scratch_.local().leaves();
    std::vector<ShapeCounts*> cold;
    std::int32_t blocks = 0;  // of the largest snapshot; they may be several
    for (Group& group : groups) {
      ShapeCounts& counts = group.entry->counts;
      const auto needs = [&](std::size_t job) { return ShapeCounts::NeedsLeaves(jobs[job]); };
      const auto it = std::ranges::find_if(group.jobs, needs);
      const PlacementJob& job = jobs[it == group.jobs.end() ? group.jobs.front() : *it];
      if (!counts.Prepare(job, leaves)) continue;
      cold.push_back(&counts);
      blocks = std::max(blocks, job.state->snapshot().block_count());
    }
    for (std::int32_t begin = 0; begin < blocks; begin += kBlocksTogether) {
      for (ShapeCounts* counts : cold) {
        counts->CountBlocks(begin, begin + kBlocksTogether, leaves);
      }
    }
    for (ShapeCounts* counts : cold) counts->Finish();
  }

  void EvaluateOne(const PlacementJob& job, PlacementResult& result) {
    Scratch& scratch = scratch_.local();
    if (IsPartial(job)) {
      ShapeCounts counts;
      counts.Refresh(job, scratch.leaves());
      return Decide(job, counts, scratch, result);
    }
    const std::shared_ptr<CountsCache::Entry> entry = cache_.Get(job);
    const std::lock_guard lock(entry->mutex);
    entry->counts.Refresh(job, scratch.leaves());
    Decide(job, entry->counts, scratch, result);
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
