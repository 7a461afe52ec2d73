// The work of one block of the deciding kernel and of those behind it; see count_blocks.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/atomics.hpp"
#include "kernels/cuda/count_blocks.hpp"
#include "kernels/cuda/grid.hpp"
#include "kernels/cuda/index_blocks.hpp"
#include "kernels/decisions/counts_source.hpp"
#include "kernels/decisions/exclusions.hpp"
#include "kernels/decisions/leaf_counts.hpp"
#include "kernels/decisions/place.hpp"
#include "kernels/decisions/store_shares.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/team/team.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Describes what evaluations of one request have in common.
struct DecideShape {
  const ResidentShape* shape = nullptr;  // that they are made on
  // As in PlacementQuery.
  std::int32_t level = 0;
  bool leader = false;
  bool required = false;
  bool unconstrained = false;
  bool least_free = false;
  bool balanced = false;
  bool affinity = false;
  bool scored = false;  // the scores of the node filter count, where it has any
  bool operator==(const DecideShape&) const = default;
};

// One evaluation that a block of the deciding kernel makes.
struct DecideJob {
  Count pods = 0;
  std::int32_t share_begin = 0;  // where in DecideArgs::shares
  std::int32_t shape = 0;        // index into DecideArgs::shapes
};

// Returns the most shares an evaluation can get: every share holds a pod or the leader, and no leaf
// has two.
ESPALIER_HD inline std::int32_t MostShares(std::int32_t leaves, Count pods, bool leader) {
  if (pods >= leaves) return leaves;
  const auto most = static_cast<std::int32_t>(pods) + (leader ? 1 : 0);
  return most < leaves ? most : leaves;
}

// The answers of evaluations in columns, one row each.
struct AnswerColumns {
  PlacementStatus* status = nullptr;  // kOutOfStates also where there are more shares than room
  std::int8_t* level = nullptr;
  std::int32_t* share_count = nullptr;  // none where there is no room for all
  std::uint32_t* share_end = nullptr;   // among the compacted shares
  Count* fit = nullptr;
  Count* total = nullptr;
  Count* layer_fits = nullptr;  // [rows * layers]
  std::int32_t layers = 0;
  bool operator==(const AnswerColumns&) const = default;
};

// Says of which shapes a job failed, and why.
struct FailedShapes {
  std::int32_t* failed = nullptr;      // [shapes] set to 1 where a job does not fit; zero before
  std::int64_t* exclusions = nullptr;  // [shapes * stride] what excludes leaves then: one for each
                                       // worker resource, then one outside the replacement domain
  std::int32_t stride = 0;             // the most that a shape has

  ESPALIER_HD ExclusionView Of(std::int32_t index, const ResidentShape& shape) const {
    std::int64_t* first = exclusions + std::int64_t{stride} * index;
    return {first, first + shape.input.workers.size, shape.input.workers.size};
  }
  bool operator==(const FailedShapes&) const = default;
};

struct DecideArgs {
  TreeView tree;
  const DecideShape* shapes = nullptr;
  const DecideJob* jobs = nullptr;     // [rows]
  const std::int32_t* rows = nullptr;  // [job_count] of those that this launch decides
  std::int32_t job_count = 0;
  const Workspace* workspaces = nullptr;
  PlacementQuery* queries = nullptr;  // [workspace_count] of the job that each team decides
  std::int32_t workspace_count = 0;
  AnswerColumns answers;
  Share* shares =
      nullptr;  // each job's at its share_begin, by leaf, ascending; room for MostShares
  FailedShapes failed;
  bool operator==(const DecideArgs&) const = default;
};

// The same for jobs that a warp decides (JobWork::SmallOf).
struct DecideSmallArgs : DecideArgs {
  bool operator==(const DecideSmallArgs&) const = default;
};

ESPALIER_HD inline Grid GridOf(const DecideArgs& args) {
  return {args.job_count < args.workspace_count ? args.job_count : args.workspace_count, 1};
}

// Copies an object on all lanes, which must come together before it is read.
template <class Team, class T>
ESPALIER_HD void CopyWords(Team& team, const T& from, T* to) {
  constexpr std::size_t kWord = sizeof(std::int64_t);
  static_assert(sizeof(T) % kWord == 0);
  const auto* source = reinterpret_cast<const unsigned char*>(&from);
  auto* target = reinterpret_cast<unsigned char*>(to);
  for (std::size_t at = team.rank() * kWord; at < sizeof(T); at += team.size() * kWord) {
    memcpy(target + at, source + at, kWord);
  }
}

// Writes the query of a shape with so many pods, on all lanes.
template <class Team>
ESPALIER_HD void MakeQuery(Team& team, const DecideShape& from, Count pods, PlacementQuery* to) {
  CopyWords(team, from.shape->slice, &to->slice);
  if (team.rank() == 0) {
    to->level = from.level;
    to->pods = pods;
    to->leaders = from.leader ? 1 : 0;
    to->required = from.required;
    to->unconstrained = from.unconstrained;
    to->least_free = from.least_free;
    to->balanced = from.balanced;
    to->affinity = from.affinity;
  }
  team.sync();
}

// Writes row `row`, but for where its shares end.
ESPALIER_HD inline void WriteRow(const PlacementOutcome& outcome, std::int32_t shares,
                                 const AnswerColumns& answers, std::int32_t row) {
  const bool dropped = shares == kSharesDropped;
  answers.status[row] = dropped ? PlacementStatus::kOutOfStates : outcome.status;
  answers.level[row] = static_cast<std::int8_t>(outcome.level);
  answers.share_count[row] = dropped ? 0 : shares;
  answers.fit[row] = outcome.fit;
  answers.total[row] = outcome.total;
  for (std::int32_t layer = 0; layer < answers.layers; ++layer) {
    answers.layer_fits[static_cast<std::int64_t>(row) * answers.layers + layer] =
        outcome.layer_fits[layer];
  }
}

// Decides one job after the other in the team's own workspace. With `kSmall` none of them is
// balanced or has scores, whose code takes most of the registers.
template <bool kSmall, class Team>
ESPALIER_HD void DecideJobs(Team& team, const DecideArgs& args, Grid block) {
  const Workspace& workspace = args.workspaces[block.x];
  PlacementQuery& query = args.queries[block.x];
  for (std::int32_t i = block.x; i < args.job_count; i += args.workspace_count) {
    const std::int32_t row = args.rows[i];
    const DecideJob& job = args.jobs[row];
    const DecideShape& shape = args.shapes[job.shape];
    const ResidentShape& resident = *shape.shape;
    MakeQuery(team, shape, job.pods, &query);
    CountsView counts = resident.counts;
    if (kSmall || !shape.scored) counts.affinity = nullptr;
    const ReachedLeaves source{args.tree, query.slice,
                               resident.leaves_stored ? nullptr : &resident.input, counts,
                               CloneView(workspace.leaves, counts)};
    const PlacementWithShares outcome = [&] {
      if constexpr (kSmall) {
        return PlaceUnbalanced(team, args.tree, counts, source, query, workspace);
      } else {
        return Place(team, args.tree, counts, source, query, workspace);
      }
    }();
    const std::int32_t shares =
        StoreShares(team, args.tree, outcome.shares, args.shares + job.share_begin,
                    MostShares(args.tree.leaf_count(), job.pods, shape.leader));
    if (team.rank() == 0) {
      WriteRow(outcome, shares, args.answers, row);
      if (outcome.status == PlacementStatus::kDoesNotFit && Raise(args.failed.failed[job.shape])) {
        Clear(args.failed.Of(job.shape, resident));
      }
    }
    team.sync();
  }
}

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const DecideArgs& args, Grid block) {
  DecideJobs<false>(team, args, block);
}

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const DecideSmallArgs& args, Grid block) {
  DecideJobs<true>(team, args, block);
}

// Adds up what excludes leaves, for the shapes that some job failed of.
struct ExclusionsArgs {
  std::int32_t leaf_count = 0;
  const DecideShape* shapes = nullptr;
  std::int32_t shape_count = 0;
  FailedShapes failed;
  bool operator==(const ExclusionsArgs&) const = default;
};

// Shapes that one block looks at: few of them have failed.
inline constexpr std::int32_t kShapesPerLook = 64;

inline Grid GridOf(const ExclusionsArgs& args) {
  return {BlocksFor(args.leaf_count, kItemsPerBlock), BlocksFor(args.shape_count, kShapesPerLook)};
}

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const ExclusionsArgs& args, Grid block) {
  const std::int32_t begin = block.y * kShapesPerLook;
  const std::int32_t rest = args.shape_count - begin;
  const std::int32_t end = begin + (rest < kShapesPerLook ? rest : kShapesPerLook);
  bool failed = false;
  for (std::int32_t s = begin + team.rank(); s < end; s += team.size()) {
    failed = failed || args.failed.failed[s] != 0;
  }
  if (!team.any(failed)) return;
  for (std::int32_t s = begin; s < end; ++s) {
    if (args.failed.failed[s] == 0) continue;
    const ResidentShape& shape = *args.shapes[s].shape;
    CountExclusions(team, shape.input, Portion(args.leaf_count, block.x), args.failed.Of(s, shape));
  }
}

// Sums up the counts before each and itself: ends[i] = counts[0] + ... + counts[i]. No kernel of
// the project, but a call of Thrust on a GPU, and of the standard library on the emulated device.
struct ScanArgs {
  // Scratch memory for as many counts as a wave has jobs, with much to spare.
  static constexpr std::size_t kScratchBytes = std::size_t{1} << 14;

  const std::int32_t* counts = nullptr;  // [size]
  std::uint32_t* ends = nullptr;         // [size]
  std::int32_t size = 0;
  std::byte* scratch = nullptr;  // [kScratchBytes]
  bool operator==(const ScanArgs&) const = default;
};

// Moves the shares of all jobs together.
struct CompactArgs {
  const DecideJob* jobs = nullptr;
  AnswerColumns answers;
  std::int32_t job_count = 0;
  const Share* shares = nullptr;
  Share* compacted = nullptr;
  bool operator==(const CompactArgs&) const = default;
};

// Jobs whose shares one block moves: one by each of its warps.
inline constexpr std::int32_t kJobsPerBlock = 8;

inline Grid GridOf(const CompactArgs& args) {
  return {BlocksFor(args.job_count, kJobsPerBlock), 1};
}

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const CompactArgs& args, Grid block) {
  const std::int32_t lanes = team.size() < kJobsPerBlock ? 1 : team.size() / kJobsPerBlock;
  const std::int32_t first = block.x * kJobsPerBlock;
  const std::int32_t rest = args.job_count - first;
  const std::int32_t end = first + (rest < kJobsPerBlock ? rest : kJobsPerBlock);
  for (std::int32_t job = first + team.rank() / lanes; job < end; job += team.size() / lanes) {
    const std::int32_t count = args.answers.share_count[job];
    const Share* from = args.shares + args.jobs[job].share_begin;
    Share* to = args.compacted + args.answers.share_end[job] - count;
    for (std::int32_t i = team.rank() % lanes; i < count; i += lanes) to[i] = from[i];
  }
}

}  // namespace espalier
