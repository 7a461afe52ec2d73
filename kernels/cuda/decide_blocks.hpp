// The work of one block of the deciding kernel and of those behind it; see count_blocks.hpp.
#pragma once

#include <cstdint>

#include "kernels/cuda/count_blocks.hpp"
#include "kernels/cuda/grid.hpp"
#include "kernels/decisions/exclusions.hpp"
#include "kernels/decisions/place.hpp"
#include "kernels/decisions/store_shares.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/team/team.hpp"
#include "kernels/views.hpp"

namespace espalier {

// One evaluation that a block of the deciding kernel makes.
struct DecideJob {
  PlacementQuery query;
  std::int32_t count_job = 0;              // whose counts it is made on
  std::int32_t share_capacity = 0;         // room for its shares
  std::int64_t share_begin = 0;            // where in DecideArgs::shares
  const std::int64_t* affinity = nullptr;  // per domain; null: all 0
};

// The answer of one evaluation; its shares lie elsewhere.
struct JobOutcome : PlacementOutcome {
  std::int64_t share_begin = 0;  // among the compacted shares
  std::int32_t share_count = 0;  // kSharesDropped when they exceed the job's room
};

struct DecideArgs {
  TreeView tree;
  const CountJob* count_jobs = nullptr;
  const DecideJob* jobs = nullptr;
  std::int32_t job_count = 0;
  const Workspace* workspaces = nullptr;
  std::int32_t workspace_count = 0;
  JobOutcome* outcomes = nullptr;  // [job_count]
  Share* shares = nullptr;         // each job's at its share_begin, by leaf, ascending
  // [count jobs] set to 1 where a job does not fit on their counts; zero before.
  std::int32_t* count_job_failed = nullptr;
  bool operator==(const DecideArgs&) const = default;
};

inline Grid GridOf(const DecideArgs& args) {
  return {args.job_count < args.workspace_count ? args.job_count : args.workspace_count, 1};
}

// Sets a flag that several blocks may set at the same time.
ESPALIER_HD inline void Raise(std::int32_t& flag) {
#ifdef __CUDA_ARCH__
  atomicExch(&flag, 1);
#else
  __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
#endif
}

// Decides one job after the other in the block's own workspace.
template <class Team>
ESPALIER_HD void RunBlock(Team& team, const DecideArgs& args, Grid block) {
  const Workspace& workspace = args.workspaces[block.x];
  for (std::int32_t i = block.x; i < args.job_count; i += args.workspace_count) {
    const DecideJob& job = args.jobs[i];
    CountsView counts = args.count_jobs[job.count_job].counts;
    counts.affinity = job.affinity;
    const PlacementWithShares outcome = Place(team, args.tree, counts, job.query, workspace);
    const std::int32_t shares = StoreShares(team, args.tree, outcome.shares,
                                            args.shares + job.share_begin, job.share_capacity);
    if (team.rank() == 0) {
      JobOutcome& out = args.outcomes[i];
      static_cast<PlacementOutcome&>(out) = outcome;
      out.share_count = shares;
      if (outcome.status == PlacementStatus::kDoesNotFit) {
        Raise(args.count_job_failed[job.count_job]);
      }
    }
    team.sync();
  }
}

// Counts what excludes leaves, for the count jobs that some job failed on.
struct ExclusionsArgs {
  std::int32_t leaf_count = 0;
  const CountJob* count_jobs = nullptr;
  std::int32_t count_job_count = 0;
  const std::int32_t* count_job_failed = nullptr;  // [count_job_count]
  bool operator==(const ExclusionsArgs&) const = default;
};

inline Grid GridOf(const ExclusionsArgs& args) { return {args.count_job_count, 1}; }

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const ExclusionsArgs& args, Grid block) {
  if (args.count_job_failed[block.x] == 0) return;
  const CountJob& job = args.count_jobs[block.x];
  CountExclusions(team, job.counts.exclusion, args.leaf_count, job.exclusions);
}

// Gives every job its place among the compacted shares: one block.
struct OffsetsArgs {
  JobOutcome* outcomes = nullptr;
  std::int32_t job_count = 0;
  std::int64_t* share_count = nullptr;  // [1] of all jobs
  bool operator==(const OffsetsArgs&) const = default;
};

inline Grid GridOf(const OffsetsArgs&) { return {1, 1}; }

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const OffsetsArgs& args, Grid) {
  std::int64_t total = 0;
  for (std::int32_t base = 0; base < args.job_count; base += team.size()) {
    const std::int32_t i = base + team.rank();
    std::int64_t mine = i < args.job_count ? args.outcomes[i].share_count : 0;
    if (mine < 0) mine = 0;
    const ScanResult<std::int64_t> scan = team.exclusive_sum(mine);
    if (i < args.job_count) args.outcomes[i].share_begin = total + scan.prefix;
    total += scan.total;
  }
  if (team.rank() == 0) *args.share_count = total;
}

// Moves the shares of all jobs together, one block a job.
struct CompactArgs {
  const DecideJob* jobs = nullptr;
  const JobOutcome* outcomes = nullptr;
  std::int32_t job_count = 0;
  const Share* shares = nullptr;
  Share* compacted = nullptr;
  bool operator==(const CompactArgs&) const = default;
};

inline Grid GridOf(const CompactArgs& args) { return {args.job_count, 1}; }

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const CompactArgs& args, Grid block) {
  const JobOutcome& outcome = args.outcomes[block.x];
  const Share* from = args.shares + args.jobs[block.x].share_begin;
  Share* to = args.compacted + outcome.share_begin;
  for (std::int32_t i = team.rank(); i < outcome.share_count; i += team.size()) to[i] = from[i];
}

}  // namespace espalier
