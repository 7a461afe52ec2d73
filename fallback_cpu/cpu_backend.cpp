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
#include "kernels/team/serial_team.hpp"

namespace espalier {
namespace {

// Bytes of counts that are kept warm, and the part of the memory they may be.
constexpr std::int64_t kMaxCountsBytes = std::int64_t{1} << 30;
constexpr std::int64_t kCountsParts = 16;
// The part of as much again that is for what excludes leaves one by one.
constexpr std::size_t kExcludedParts = 4;

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
  const std::size_t counted = NeedsLeaves(job) ? domains : domains - leaves;
  return counted * arrays * sizeof(StoredCount) + kClasses * sizeof(std::int16_t) + 1024;
}

// Shapes counted together, and the groups of leaves counted for each in turn, so that capacity is
// read from the innermost cache.
constexpr std::size_t kMostShapesTogether = 32;
constexpr std::int32_t kGroupsTogether = 128;

// Adds the row of an outcome, whose shares lie in the workspace, which the next evaluation reuses.
void AddRow(const PlacementJob& job, ShapeCounts& counts, ExclusionCaches& exclusions,
            const PlacementWithShares& outcome, PlacementColumns& answers) {
  const TreeView tree = job.state->snapshot().tree();
  const std::int32_t first_leaf = tree.LevelBegin(tree.lowest());
  std::vector<LeafShare>& all = answers.shares.Own();
  const std::size_t begin = all.size();
  if (job.budget->Charge(outcome.shares.size * std::int64_t{sizeof(LeafShare)})) {
    for (std::int32_t i = 0; i < outcome.shares.size; ++i) {
      const Share& share = outcome.shares[i];
      if (share.pods == 0 && share.leaders == 0) continue;
      all.push_back({LeafId(share.domain - first_leaf), share.leaders, share.pods});
    }
  }
  const auto shares = std::span(all).subspan(begin);
  if (!std::ranges::is_sorted(shares, {}, &LeafShare::leaf)) {
    std::ranges::sort(shares, {}, &LeafShare::leaf);
  }
  FailedPlacement* failed = answers.EndRow(outcome, job.query.slice.layer_count);
  if (outcome.status == PlacementStatus::kDoesNotFit) {
    counts.CountExclusions(job, exclusions, *failed);
  }
}

// Decides a job with so many pods on up-to-date counts, which other threads may read meanwhile, and
// adds its row; an empty one once the budget is stopped.
void Decide(const PlacementJob& job, Count pods, ShapeCounts& counts, ExclusionCaches& exclusions,
            Scratch& scratch, PlacementColumns& answers) {
  if (job.budget->stopped()) {
    answers.EndRow({}, 0);
    return;
  }
  PlacementQuery query = job.query;
  query.pods = pods;
  const ShapeCounts::Source source = counts.SourceFor(job, scratch.leaves());
  const TreeView tree = job.state->snapshot().tree();
  SerialTeam team(ActiveSimdImplementation().tightest, source.slice_index());
  for (;;) {
    const Workspace workspace = scratch.Get(tree, query.balanced);
    const PlacementWithShares outcome =
        Place(team, tree, source.stored(), source, query, workspace);
    if (outcome.status != PlacementStatus::kOutOfStates || !scratch.GrowStates()) {
      return AddRow(job, counts, exclusions, outcome, answers);
    }
  }
}

// A job of a table and the counts that it shares with others.
struct Member {
  std::shared_ptr<CountsCache::Entry> entry;
  std::size_t job = 0;

  ShapeCounts& counts() const { return entry->value; }
};

// All jobs of a batch that share one entry; never empty.
using Sharers = std::span<const Member>;

// The evaluations of a call: their jobs, grouped by the counts that these share, the locks on
// these, and what each thread decided. Later batches reuse its memory.
class Batch {
 public:
  // Takes the evaluations of a table of jobs, which so many threads are to decide. `entry_of(job)`
  // returns the entry of a job, or null where it cannot share counts with others at the same time.
  void Begin(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
             std::size_t threads, const auto& entry_of) {
    jobs_ = jobs;
    asked_ = asked;
    of_part_ = std::clamp(asked.size() / (threads * kPartsOfThread), std::size_t{1}, kMostOfPart);
    begin_of_job_.assign(jobs.size(), 0);
    for (const Evaluation& one : asked) ++begin_of_job_[static_cast<std::size_t>(one.job)];
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      if (begin_of_job_[job] == 0) continue;
      std::shared_ptr<CountsCache::Entry> entry = entry_of(jobs[job]);
      (entry == nullptr ? alone_ : members_).push_back({std::move(entry), job});
    }
    Group();
  }

  // Orders the evaluations for DecidePart: those of a group together, and those of jobs that are
  // alone last.
  void Order() {
    counts_of_job_.assign(jobs_.size(), nullptr);
    std::size_t begin = 0;
    const auto place = [&](const Member& member) {
      begin += std::exchange(begin_of_job_[member.job], begin);
      counts_of_job_[member.job] = member.entry.get();
    };
    for (const Member& member : members_) place(member);
    shared_ = begin;
    for (const Member& member : alone_) place(member);
    order_.resize(asked_.size());
    row_of_.resize(asked_.size());
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      order_[begin_of_job_[static_cast<std::size_t>(asked_[i].job)]++] = i;
    }
    parts_.resize(std::max(parts_.size(), part_count()));
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
    std::size_t shares = 0;
    for (const PlacementColumns& part : parts_) shares += part.shares.capacity();
    if (shares > kMostKeptShares) parts_ = {};
  }

  std::span<const Sharers> groups() const { return groups_; }
  std::span<const Member> alone() const { return alone_; }

  // Parts of the evaluations: first those on shared counts, then those of jobs that are alone.
  std::size_t shared_parts() const { return PartsFor(shared_); }
  std::size_t part_count() const { return shared_parts() + PartsFor(order_.size() - shared_); }

  // Decides a part: calls `decide(job, pods, counts, columns)` for each evaluation, where counts
  // are null for a job that is alone. Different threads may decide different parts.
  void DecidePart(std::size_t part, const auto& decide) {
    const bool alone = part >= shared_parts();
    const std::size_t begin =
        alone ? shared_ + (part - shared_parts()) * of_part_ : part * of_part_;
    const std::size_t end = std::min(begin + of_part_, alone ? order_.size() : shared_);
    PlacementColumns& columns = parts_[part];
    columns.Clear();
    for (std::size_t i = begin; i < end; ++i) {
      const Evaluation& one = asked_[order_[i]];
      const auto job = static_cast<std::size_t>(one.job);
      row_of_[order_[i]] = {static_cast<std::int32_t>(part), static_cast<std::int32_t>(i - begin)};
      decide(jobs_[job], one.pods, alone ? nullptr : &counts_of_job_[job]->value, columns);
    }
  }

  // Puts the answers of all parts into the order of the evaluations.
  void GatherAnswers(PlacementColumns& answers) {
    Gather(std::span(parts_).first(part_count()), row_of_, answers);
  }

 private:
  // Enough parts to keep all threads busy to the end.
  static constexpr std::size_t kPartsOfThread = 8;
  static constexpr std::size_t kMostOfPart = 32;
  // Shares that memory is kept for: 4 MiB.
  static constexpr std::size_t kMostKeptShares = std::size_t{1} << 18;

  std::size_t PartsFor(std::size_t evaluations) const {
    return (evaluations + of_part_ - 1) / of_part_;
  }

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

  std::span<const PlacementJob> jobs_;
  std::span<const Evaluation> asked_;
  std::vector<Member> members_;
  std::vector<Member> alone_;  // without entries
  std::vector<Sharers> groups_;
  std::vector<std::unique_lock<std::mutex>> locks_;
  // The number of evaluations of a job, then where in order_ these begin.
  std::vector<std::size_t> begin_of_job_;
  std::vector<CountsCache::Entry*> counts_of_job_;
  std::vector<std::size_t> order_;  // indices of evaluations
  std::size_t shared_ = 0;          // of these, from the front, on shared counts
  std::size_t of_part_ = 1;         // evaluations of a part
  std::vector<PlacementColumns> parts_;
  std::vector<RowOfPart> row_of_;  // by evaluation
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
        exclusions_{ClassesCache(MaxCountsBytes()),
                    ExcludedCache(MaxCountsBytes() / kExcludedParts)} {
    SetTrees(MakeTreePlacer(MakeNestedCpuRunner));
  }

  std::string_view name() const override { return "cpu"; }

  void Evaluate(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
                PlacementColumns& answers) override {
    answers.Clear();
    if (asked.empty()) return;
    if (asked.size() == 1) {
      const PlacementJob& job = jobs[static_cast<std::size_t>(asked[0].job)];
      return DecideAlone(job, asked[0].pods, *scratches_.Lend(), answers);
    }
    const auto lent = batches_.Lend();
    const BatchOfCall batch(*lent);
    Begin(jobs, asked, *batch);
    batch->Order();
    arena_.execute([&] {
      WithLocks(*batch, [&] {
        RefreshGroups(jobs, batch->groups());
        DecideParts(*batch, 0, batch->shared_parts());
      });
      DecideParts(*batch, batch->shared_parts(), batch->part_count());
    });
    batch->GatherAnswers(answers);
  }

  void Prepare(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked) override {
    const auto lent = batches_.Lend();
    const BatchOfCall batch(*lent);
    Begin(jobs, asked, *batch);
    arena_.execute([&] { WithLocks(*batch, [&] { RefreshGroups(jobs, batch->groups()); }); });
  }

  void CountDomains(const PlacementJob& job, CountsStorage& counts) const override {
    CountAllDomains(job, counts);
  }

  // Keeps the counts that have none of leaves; the others are many times as large.
  void CountEach(std::span<const PlacementJob> jobs, std::span<const DomainReading> readings,
                 const CountsVisitor& visit) override {
    if (jobs.empty()) return;
    const auto lent = batches_.Lend();
    const BatchOfCall batch(*lent);
    const std::vector<Evaluation> each = EachOf(jobs);
    const auto keeps_apart = [](const PlacementJob& job) { return NeedsLeaves(job); };
    Begin(jobs, each, keeps_apart, *batch);
    const std::span<const Member> alone = batch->alone();
    arena_.execute([&] {
      WithLocks(*batch, [&] {
        RefreshGroups(jobs, batch->groups(), [&](const Sharers& group) {
          for (const Member& member : group) {
            ReadCounts(jobs, member.job, member.counts().stored(), readings, visit);
          }
        });
      });
      tbb::parallel_for(std::size_t{0}, alone.size(), [&](std::size_t i) {
        const PlacementJob& job = jobs[alone[i].job];
        if (job.budget->stopped()) return;
        const auto scratch = scratches_.Lend();
        CountAllDomains(job, scratch->leaves());
        ReadCounts(jobs, alone[i].job, scratch->leaves().View(), readings, visit);
      });
    });
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

  // Begins a batch, in which jobs share counts where they can and `keeps_apart` does not say no.
  void Begin(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
             const auto& keeps_apart, Batch& batch) {
    const auto threads = static_cast<std::size_t>(arena_.max_concurrency());
    batch.Begin(jobs, asked, threads, [&](const PlacementJob& job) {
      const bool alone = !job.assumed.empty() || IsPartial(job) || keeps_apart(job);
      return alone ? nullptr : EntryOf(job);
    });
  }
  void Begin(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked, Batch& batch) {
    Begin(
        jobs, asked, [](const PlacementJob& /*job*/) { return false; }, batch);
  }

  void DecideParts(Batch& batch, std::size_t first, std::size_t end) {
    tbb::parallel_for(first, end, [&](std::size_t part) {
      const auto scratch = scratches_.Lend();
      batch.DecidePart(part, [&](const PlacementJob& job, Count pods, ShapeCounts* counts,
                                 PlacementColumns& answers) {
        if (counts == nullptr) return DecideAlone(job, pods, *scratch, answers);
        Decide(job, pods, *counts, exclusions_, *scratch, answers);
      });
    });
  }

  // Brings the counts of all groups up to date, and calls refreshed(group) for each while its
  // counts are in the caches.
  void RefreshGroups(std::span<const PlacementJob> jobs, std::span<const Sharers> groups,
                     const auto& refreshed) {
    const auto threads = static_cast<std::size_t>(arena_.max_concurrency());
    const std::size_t together =
        std::clamp(groups.size() / threads, std::size_t{1}, kMostShapesTogether);
    const std::size_t bundles = (groups.size() + together - 1) / together;
    tbb::parallel_for(std::size_t{0}, bundles, [&](std::size_t bundle) {
      if (jobs.front().budget->stopped()) return;  // then nobody decides on these counts either
      const std::size_t first = bundle * together;
      const auto some = groups.subspan(first, std::min(together, groups.size() - first));
      RefreshTogether(jobs, some);
      std::ranges::for_each(some, refreshed);
    });
  }
  void RefreshGroups(std::span<const PlacementJob> jobs, std::span<const Sharers> groups) {
    RefreshGroups(jobs, groups, [](const Sharers& /*group*/) {});
  }

  void RefreshTogether(std::span<const PlacementJob> jobs, std::span<const Sharers> groups) {
    const auto scratch = scratches_.Lend();
    CountsStorage& leaves = scratch->leaves();
    std::int32_t leaf_groups = 0;  // of the largest snapshot; they may be several
    std::size_t stale = 0;
    for (const Sharers& group : groups) {
      const auto it =
          std::ranges::find_if(group, [&](const Member& m) { return NeedsLeaves(jobs[m.job]); });
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
      group.front().counts().PrepareExclusions(jobs[group.front().job], exclusions_);
    }
  }

  void DecideAlone(const PlacementJob& job, Count pods, Scratch& scratch,
                   PlacementColumns& answers) {
    if (job.budget->stopped()) {
      answers.EndRow({}, 0);
      return;
    }
    if (IsPartial(job)) {  // rare, and not worth a place in the cache
      ShapeCounts counts;
      counts.Refresh(job, scratch.leaves());
      return Decide(job, pods, counts, exclusions_, scratch, answers);
    }
    const std::shared_ptr<CountsCache::Entry> entry = EntryOf(job);
    const std::lock_guard lock(entry->mutex);
    entry->BeginWithParent(job);
    entry->value.Refresh(job, scratch.leaves());
    Decide(job, pods, entry->value, exclusions_, scratch, answers);
  }

  tbb::task_arena arena_;
  Reused<Scratch> scratches_;
  Reused<Batch> batches_;
  CountsCache cache_;
  ExclusionCaches exclusions_;
};

}  // namespace

std::shared_ptr<Backend> MakeCpuBackend(int threads) {
  return std::make_shared<CpuBackend>(threads);
}

}  // namespace espalier
