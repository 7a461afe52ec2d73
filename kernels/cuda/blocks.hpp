// What one block of each kernel does, on any Team: the device runs it on BlockTeam, the emulated
// device on the host. All pointers are to device memory. Arguments travel by value.
#pragma once

#include <cstdint>

#include "kernels/decisions/exclusions.hpp"
#include "kernels/decisions/leaf_counts.hpp"
#include "kernels/decisions/place.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/team/team.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Blocks in each direction; also the position of one block.
struct Grid {
  std::int32_t x = 1;
  std::int32_t y = 1;
};

inline constexpr std::int32_t kItemsPerBlock = 1024;
inline constexpr std::int32_t kRowsPerBlock = 8;

ESPALIER_HD inline std::int32_t BlocksFor(std::int32_t items, std::int32_t per_block) {
  return items / per_block + (items % per_block > 0 ? 1 : 0);
}

// The part of [0, items) that block `block` works on.
ESPALIER_HD inline DomainRange Portion(std::int32_t items, std::int32_t block) {
  const std::int32_t begin = block * kItemsPerBlock;
  const std::int32_t rest = items - begin;
  return {begin, begin + (rest < kItemsPerBlock ? rest : kItemsPerBlock)};
}

// Writes new amounts of a few leaves into a capacity matrix.
struct ScatterArgs {
  Amount* amounts = nullptr;  // [columns * stride], as CapacityView
  std::int64_t stride = 0;
  std::int32_t columns = 0;
  std::int32_t size = 0;                // leaves that change
  const std::int32_t* leaf = nullptr;   // [size] distinct
  const Amount* new_amounts = nullptr;  // [columns * size], column by column
};

inline Grid GridOf(const ScatterArgs& args) {
  return {BlocksFor(args.size, kItemsPerBlock), args.columns};
}

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const ScatterArgs& args, Grid block) {
  const DomainRange portion = Portion(args.size, block.x);
  Amount* column = args.amounts + block.y * args.stride;
  const Amount* values = args.new_amounts + static_cast<std::int64_t>(block.y) * args.size;
  for (std::int32_t i = portion.begin + team.rank(); i < portion.end; i += team.size()) {
    column[args.leaf[i]] = values[i];
  }
}

// One shape on one state: what is counted, and where the counts go.
struct CountRow {
  LeafInput input;
  SliceRule slice;
  CountsView counts;  // without affinity
  ExclusionView exclusions;
};

// Counts the leaves of rows [0, row_count).
struct CountLeavesArgs {
  TreeView tree;
  std::int32_t leaf_count = 0;
  const CountRow* rows = nullptr;
  std::int32_t row_count = 0;
};

inline Grid GridOf(const CountLeavesArgs& args) {
  return {BlocksFor(args.leaf_count, kItemsPerBlock), BlocksFor(args.row_count, kRowsPerBlock)};
}

// A block counts a run of leaves for a tile of rows: capacities are read from memory once and then
// come from the cache.
template <class Team>
ESPALIER_HD void RunBlock(Team& team, const CountLeavesArgs& args, Grid block) {
  const DomainRange leaves = Portion(args.leaf_count, block.x);
  const std::int32_t first = block.y * kRowsPerBlock;
  const std::int32_t rest = args.row_count - first;
  const std::int32_t end = first + (rest < kRowsPerBlock ? rest : kRowsPerBlock);
  for (std::int32_t leaf = leaves.begin + team.rank(); leaf < leaves.end; leaf += team.size()) {
    for (std::int32_t r = first; r < end; ++r) {
      const CountRow& row = args.rows[r];
      StoreLeaf(args.tree, row.slice, row.input, row.counts, leaf);
    }
  }
}

// Rolls up one level of rows [0, row_count); the level below is done.
struct RollUpArgs {
  TreeView tree;
  std::int32_t level = 0;
  DomainRange domains;  // of the level
  const CountRow* rows = nullptr;
  std::int32_t row_count = 0;
};

inline Grid GridOf(const RollUpArgs& args) {
  return {BlocksFor(args.domains.size(), kItemsPerBlock), args.row_count};
}

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const RollUpArgs& args, Grid block) {
  const CountRow& row = args.rows[block.y];
  const DomainRange portion = Portion(args.domains.size(), block.x);
  for (std::int32_t i = portion.begin + team.rank(); i < portion.end; i += team.size()) {
    RollUpDomain(args.tree, row.slice, row.counts, args.level, args.domains.begin + i);
  }
}

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
