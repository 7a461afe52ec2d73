// What one block of the deciding kernel and of those behind it does; see count_blocks.hpp.
#pragma once

#include <cstdint>

#include "kernels/cuda/count_blocks.hpp"
#include "kernels/cuda/grid.hpp"
#include "kernels/decisions/exclusions.hpp"
#include "kernels/decisions/place.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/team/team.hpp"
#include "kernels/views.hpp"

namespace espalier {

// One evaluation.
struct DecideJob {
  PlacementQuery query;
  std::int32_t row = 0;
  std::int32_t share_capacity = 0;         // room for its shares
  std::int64_t share_begin = 0;            // where in DecideArgs::shares
  const std::int64_t* affinity = nullptr;  // per domain; null: all 0
};

// What one evaluation answers; its shares lie elsewhere.
struct JobOutcome {
  PlacementStatus status = PlacementStatus::kDoesNotFit;
  std::int32_t level = 0;
  Count fit = 0;
  Count total = 0;
  Count layer_fits[kMaxSliceLayers] = {};
  std::int64_t share_begin = 0;  // among the compacted shares
  std::int32_t share_count = 0;  // kSharesDropped when they exceed the job's room
};

inline constexpr std::int32_t kSharesDropped = -1;

struct DecideArgs {
  TreeView tree;
  const CountRow* rows = nullptr;
  const DecideJob* jobs = nullptr;
  std::int32_t job_count = 0;
  const Workspace* workspaces = nullptr;
  std::int32_t workspace_count = 0;
  JobOutcome* outcomes = nullptr;      // [job_count]
  Share* shares = nullptr;             // each job's at its share_begin, by leaf, ascending
  std::int32_t* row_failed = nullptr;  // [rows] set to 1 where a job does not fit; zero before
  bool operator==(const DecideArgs&) const = default;
};

inline Grid GridOf(const DecideArgs& args) {
  return {args.job_count < args.workspace_count ? args.job_count : args.workspace_count, 1};
}

struct ByDomain {
  ESPALIER_HD bool operator()(const Share& a, const Share& b) const { return a.domain < b.domain; }
};

// Keeps the shares that are not empty, their domains turned into leaves, ascending.
template <class Team>
ESPALIER_HD std::int32_t StoreShares(Team& team, const TreeView& tree, const ShareList& shares,
                                     Share* out, std::int32_t capacity) {
  const std::int32_t first_leaf = tree.LevelBegin(tree.lowest());
  std::int32_t size = 0;
  for (std::int32_t base = 0; base < shares.size; base += team.size()) {
    const std::int32_t i = base + team.rank();
    Share share;
    if (i < shares.size) share = shares[i];
    const bool keep = share.pods != 0 || share.leaders != 0;
    const ScanResult<std::int32_t> kept = team.exclusive_sum(keep ? 1 : 0);
    const std::int32_t position = size + kept.prefix;
    share.domain -= first_leaf;
    if (keep && position < capacity) out[position] = share;
    size += kept.total;
  }
  if (size > capacity) return kSharesDropped;
  team.sync();
  team.sort(out, size, ByDomain{});
  return size;
}

// A block decides one job after the other in its own workspace.
template <class Team>
ESPALIER_HD void RunBlock(Team& team, const DecideArgs& args, Grid block) {
  const Workspace& workspace = args.workspaces[block.x];
  for (std::int32_t i = block.x; i < args.job_count; i += args.workspace_count) {
    const DecideJob& job = args.jobs[i];
    CountsView counts = args.rows[job.row].counts;
    counts.affinity = job.affinity;
    const PlacementOutcome outcome = Place(team, args.tree, counts, job.query, workspace);
    const std::int32_t shares = StoreShares(team, args.tree, outcome.shares,
                                            args.shares + job.share_begin, job.share_capacity);
    if (team.rank() == 0) {
      JobOutcome& out = args.outcomes[i];
      out.status = outcome.status;
      out.level = outcome.level;
      out.fit = outcome.fit;
      out.total = outcome.total;
      for (std::int32_t l = 0; l < kMaxSliceLayers; ++l) out.layer_fits[l] = outcome.layer_fits[l];
      out.share_count = shares;
      if (outcome.status == PlacementStatus::kDoesNotFit) args.row_failed[job.row] = 1;
    }
    team.sync();
  }
}

// Counts what rules leaves out, for the rows some job failed on.
struct ExclusionsArgs {
  std::int32_t leaf_count = 0;
  const CountRow* rows = nullptr;
  std::int32_t row_count = 0;
  const std::int32_t* row_failed = nullptr;  // [row_count]
  bool operator==(const ExclusionsArgs&) const = default;
};

inline Grid GridOf(const ExclusionsArgs& args) { return {args.row_count, 1}; }

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const ExclusionsArgs& args, Grid block) {
  if (args.row_failed[block.x] == 0) return;
  const CountRow& row = args.rows[block.x];
  CountExclusions(team, row.counts.exclusion, args.leaf_count, row.exclusions);
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
