#include "fallback_cpu/cpu_backend.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "fallback_cpu/branch_cache.hpp"
#include "fallback_cpu/leaf_counter.hpp"
#include "fallback_cpu/nested_cpu.hpp"
#include "fallback_cpu/reused.hpp"
#include "fallback_cpu/scratch.hpp"
#include "fallback_cpu/shape_counts.hpp"
#include "fallback_cpu/simd_implementation.hpp"
#include "host/model/machine_memory.hpp"
#include "host/nested/tree_placer.hpp"
#include "kernels/decisions/place.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/team/serial_team.hpp"

namespace espalier {
namespace {

// Bytes of counts that are kept warm, and the part of the memory they may be.
constexpr std::int64_t kMaxCountsBytes = std::int64_t{1} << 30;
constexpr std::int64_t kCountsParts = 16;

std::size_t MaxCountsBytes() {
  static const std::int64_t bytes = std::min(kMaxCountsBytes, MachineMemoryBytes() / kCountsParts);
  return static_cast<std::size_t>(bytes);
}

using CountsCache = BranchCache<ShapeCounts>;

// Returns the most bytes that the counts of a job's shape may come to hold: sums above the leaves,
// or every leaf's counts as well, and what excludes classes of leaves.
std::size_t MostBytes(const PlacementJob& job) {
  constexpr std::size_t kClasses = 4096;
  const FlavorSnapshot& snapshot = job.state->snapshot();
  const auto leaves = static_cast<std::size_t>(snapshot.leaf_count());
  const auto domains = static_cast<std::size_t>(snapshot.domain_count());
  const std::size_t arrays = job.query.leaders > 0 ? 4 : 2;
  const std::size_t counted = ShapeCounts::NeedsLeaves(job) ? domains : domains - leaves;
  return counted * arrays * sizeof(StoredCount) + kClasses * sizeof(std::int16_t) + 1024;
}

// Shapes counted together, and the groups of leaves counted for each in turn, so that capacity is
// read from the innermost cache.
constexpr std::size_t kMostShapesTogether = 32;
constexpr std::int32_t kGroupsTogether = 128;

// Copies everything that the result needs from the workspace, which the next job reuses. Keeps
// the memory that `result` has.
void SetResult(const PlacementJob& job, ShapeCounts& counts, ClassesCache& classes,
               const PlacementWithShares& outcome, PlacementResult& result) {
  result.Reset(outcome, job);
  const TreeView tree = job.state->snapshot().tree();
  if (outcome.status == PlacementStatus::kDoesNotFit) counts.CountExclusions(job, classes, result);
  const std::int32_t first_leaf = tree.LevelBegin(tree.lowest());
  if (!job.budget->Charge(outcome.shares.size * std::int64_t{sizeof(LeafShare)})) return;
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

// Decides a job on up-to-date counts, which other threads may read meanwhile.
void Decide(const PlacementJob& job, ShapeCounts& counts, ClassesCache& classes, Scratch& scratch,
            PlacementResult& result) {
  if (job.budget->stopped()) return;
  const ShapeCounts::Source source = counts.SourceFor(job, scratch.leaves());
  const TreeView tree = job.state->snapshot().tree();
  SerialTeam team(ActiveSimdImplementation().tightest, source.slice_index());
  for (;;) {
    const Workspace workspace = scratch.Get(tree, job.query.balanced);
    const PlacementWithShares outcome =
        Place(team, tree, source.stored(), source, job.query, workspace);
    if (outcome.status != PlacementStatus::kOutOfStates || !scratch.GrowStates()) {
      return SetResult(job, counts, classes, outcome, result);
    }
  }
}

// A job and the counts it shares with others.
struct Member {
  std::shared_ptr<CountsCache::Entry> entry;
  std::size_t job = 0;

  ShapeCounts& counts() const { return entry->value; }
};

// All jobs of a batch that share one entry; never empty.
using Sharers = std::span<const Member>;

// The jobs of a batch, grouped by their counts, and the locks on these. Later batches reuse its
// memory.
class Batch {
 public:
  void Add(std::shared_ptr<CountsCache::Entry> entry, std::size_t job) {
    members_.push_back({std::move(entry), job});
  }
  void AddAlone(std::size_t job) { alone_.push_back(job); }

  // Groups the members by entry, in the order of the entries' addresses, so that callers who share
  // some lock them in one order.
  void Group() {
    std::ranges::sort(members_, {}, [](const Member& member) {
      return std::pair(member.entry.get(), member.job);
    });
    for (std::size_t i = 0, first = 0; i < members_.size(); ++i) {
      if (i + 1 < members_.size() && members_[i + 1].entry == members_[i].entry) continue;
      groups_.push_back(std::span(members_).subspan(first, i + 1 - first));
      first = i + 1;
    }
  }

  // The locks on all counts of a batch.
  class Locks {
   public:
    explicit Locks(Batch& batch) : locks_(batch.locks_) {
      locks_.reserve(batch.groups_.size());  // so that nothing is thrown between two locks
      for (const Sharers& group : batch.groups_) locks_.emplace_back(group.front().entry->mutex);
    }
    ~Locks() { locks_.clear(); }
    Locks(const Locks&) = delete;
    Locks& operator=(const Locks&) = delete;

   private:
    std::vector<std::unique_lock<std::mutex>>& locks_;
  };

  void Clear() {
    groups_.clear();
    members_.clear();
    alone_.clear();
  }

  std::span<const Sharers> groups() const { return groups_; }
  std::span<const Member> members() const { return members_; }
  // Jobs that cannot share counts with others at the same time.
  std::span<const std::size_t> alone() const { return alone_; }

 private:
  std::vector<Member> members_;
  std::vector<Sharers> groups_;
  std::vector<std::size_t> alone_;
  std::vector<std::unique_lock<std::mutex>> locks_;
};

// Clears a batch at the end of a call, however that ends.
class BatchOfCall {
 public:
  explicit BatchOfCall(Batch& batch) : batch_(batch) {}
  ~BatchOfCall() { batch_.Clear(); }
  BatchOfCall(const BatchOfCall&) = delete;
  BatchOfCall& operator=(const BatchOfCall&) = delete;

  Batch* operator->() const { return &batch_; }
  Batch& operator*() const { return batch_; }

 private:
  Batch& batch_;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(int threads)
      : arena_(threads > 0 ? threads : tbb::task_arena::automatic),
        cache_(MaxCountsBytes()),
        classes_(MaxCountsBytes()) {
    SetTrees(MakeTreePlacer(MakeNestedCpuRunner));
  }

  std::string_view name() const override { return "cpu"; }

  void Evaluate(std::span<const PlacementJob> jobs, std::span<PlacementResult> results) override {
    if (jobs.size() == 1) {
      return EvaluateOne(jobs[0], results[0]);
    }
    const auto lent = batches_.Lend();
    const BatchOfCall batch(*lent);
    GroupJobs(jobs, *batch);
    arena_.execute([&] {
      WithLocks(*batch, [&] {
        RefreshGroups(jobs, batch->groups());
        const tbb::blocked_range<std::size_t> all(0, batch->members().size());
        tbb::parallel_for(all, [&](const tbb::blocked_range<std::size_t>& part) {
          const auto scratch = scratches_.Lend();
          for (std::size_t i = part.begin(); i < part.end(); ++i) {
            const Member& member = batch->members()[i];
            Decide(jobs[member.job], member.counts(), classes_, *scratch, results[member.job]);
          }
        });
      });
      tbb::parallel_for(std::size_t{0}, batch->alone().size(), [&](std::size_t i) {
        EvaluateOne(jobs[batch->alone()[i]], results[batch->alone()[i]]);
      });
    });
  }

  void Prepare(std::span<const PlacementJob> jobs) override {
    const auto lent = batches_.Lend();
    const BatchOfCall batch(*lent);
    GroupJobs(jobs, *batch);
    arena_.execute([&] { WithLocks(*batch, [&] { RefreshGroups(jobs, batch->groups()); }); });
  }

  void CountDomains(const PlacementJob& job, CountsStorage& counts) const override {
    const TreeView tree = job.state->snapshot().tree();
    const CountsView view = ResizeFor(job, counts);
    LeafCounter counter(job);
    counter.Assume(job);
    counter.Count({0, tree.leaf_count()}, view);
    SerialTeam team;
    RollUp(team, tree, job.shape->slice, view, 0, {0, tree.LevelEnd(0)});
  }

  void CountAboveLeaves(const PlacementJob& job, CountsStorage& counts) const override {
    thread_local CountsStorage leaves;
    ShapeCounts::CountOnce(job, leaves, counts);
  }

 private:
  // Locks inside the arena, so that a holder never waits for a slot that a waiter occupies.
  // Isolated, so that a holder never runs a task that wants the same locks.
  static void WithLocks(Batch& batch, const auto& body) {
    const Batch::Locks locks(batch);
    tbb::this_task_arena::isolate(body);
  }

  std::shared_ptr<CountsCache::Entry> EntryOf(const PlacementJob& job) {
    return cache_.Get(job, job.shape, MostBytes(job));
  }

  void GroupJobs(std::span<const PlacementJob> jobs, Batch& batch) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (!jobs[i].assumed.empty() || IsPartial(jobs[i])) {
        batch.AddAlone(i);
      } else {
        batch.Add(EntryOf(jobs[i]), i);
      }
    }
    batch.Group();
  }

  void RefreshGroups(std::span<const PlacementJob> jobs, std::span<const Sharers> groups) {
    const auto threads = static_cast<std::size_t>(arena_.max_concurrency());
    const std::size_t together =
        std::clamp(groups.size() / threads, std::size_t{1}, kMostShapesTogether);
    const std::size_t bundles = (groups.size() + together - 1) / together;
    tbb::parallel_for(std::size_t{0}, bundles, [&](std::size_t bundle) {
      if (jobs.front().budget->stopped()) return;  // then nobody decides on these counts either
      const std::size_t first = bundle * together;
      RefreshTogether(jobs, groups.subspan(first, std::min(together, groups.size() - first)));
    });
  }

  void RefreshTogether(std::span<const PlacementJob> jobs, std::span<const Sharers> groups) {
    const auto scratch = scratches_.Lend();
    CountsStorage& leaves = scratch->leaves();
    std::int32_t leaf_groups = 0;  // of the largest snapshot; they may be several
    std::size_t stale = 0;
    for (const Sharers& group : groups) {
      const auto it = std::ranges::find_if(
          group, [&](const Member& m) { return ShapeCounts::NeedsLeaves(jobs[m.job]); });
      const PlacementJob& job = jobs[(it == group.end() ? group.begin() : it)->job];
      group.front().entry->BeginWithParent(job);
      stale += group.front().counts().Prepare(job);
      leaf_groups = std::max(leaf_groups, job.state->snapshot().group_count());
    }
    // Runs as long as is good to read the capacity of what is stale from the innermost cache.
    const auto a_shape = static_cast<std::int64_t>(stale / groups.size() + 1);
    const std::int64_t run =
        std::max(kGroupsTogether * std::int64_t{leaf_groups} / a_shape, std::int64_t{1});
    for (std::int64_t begin = 0; stale > 0 && begin < leaf_groups; begin += run) {
      const auto end = static_cast<std::int32_t>(std::min<std::int64_t>(begin + run, leaf_groups));
      for (const Sharers& group : groups) group.front().counts().CountGroups(end, leaves);
    }
    for (const Sharers& group : groups) {
      group.front().counts().Finish();
      group.front().counts().PrepareExclusions(jobs[group.front().job], classes_);
    }
  }

  void EvaluateOne(const PlacementJob& job, PlacementResult& result) {
    if (job.budget->stopped()) return;
    const auto scratch = scratches_.Lend();
    if (IsPartial(job)) {  // rare, and not worth a place in the cache
      ShapeCounts counts;
      counts.Refresh(job, scratch->leaves());
      return Decide(job, counts, classes_, *scratch, result);
    }
    const std::shared_ptr<CountsCache::Entry> entry = EntryOf(job);
    const std::lock_guard lock(entry->mutex);
    entry->BeginWithParent(job);
    entry->value.Refresh(job, scratch->leaves());
    Decide(job, entry->value, classes_, *scratch, result);
  }

  tbb::task_arena arena_;
  Reused<Scratch> scratches_;
  Reused<Batch> batches_;
  CountsCache cache_;
  ClassesCache classes_;
};

}  // namespace

std::shared_ptr<Backend> MakeCpuBackend(int threads) {
  return std::make_shared<CpuBackend>(threads);
}

}  // namespace espalier
