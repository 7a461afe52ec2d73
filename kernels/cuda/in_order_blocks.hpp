// The work of one block of the kernel that decides evaluations in order, each on the capacity that
// those before it leave; see count_blocks.hpp.
//
// All blocks run at the same time. Each has a piece of the tree in shared memory and books there
// what its leaves give away. A few evaluations at a time are counted, and all blocks are told the
// tightest domain of each among those that are within a piece. The block that has it decides on it,
// books that, and looks whether another domain is the tightest now for one behind: from an
// evaluation on for which that is not known everything is taken back and done again. What is too
// wide for pieces, the first block decides alone on the counts of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/decide_blocks.hpp"
#include "kernels/cuda/grid.hpp"
#include "kernels/cuda/grid_exchange.hpp"
#include "kernels/decisions/choose_level.hpp"
#include "kernels/decisions/descend.hpp"
#include "kernels/decisions/exclusions.hpp"
#include "kernels/decisions/level_index.hpp"
#include "kernels/decisions/place.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/team/team.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Evaluations that are counted together at most, and levels within pieces.
inline constexpr std::int32_t kInOrderTogether = kShapesPerBlock;
inline constexpr std::int32_t kPieceLevels = 4;
static_assert(kInOrderTogether <= GridExchange::kMostValues);

// Describes what evaluations in order of one request have in common. They have no leader, no scores
// and no assumed usage, read all leaves, are not balanced, and have numbers that fit shape batches.
struct InOrderShape {
  PlacementQuery query;             // without pods
  LeafInput input;                  // its capacity is not read
  const double* inverse = nullptr;  // [columns] reciprocal of the request; 0: none
  double slice_inverse = 0;         // of pods per slice; 0: no slices on leaves
};

// The most that a block has a part of.
struct InOrderExtent {
  std::int32_t columns = 0;
  std::int32_t leaves = 0;
  std::int32_t domains = 0;  // leaves and above, up to the units
  std::int32_t list = 0;     // domains of one level in one unit
  bool operator==(const InOrderExtent&) const = default;
};

struct DecideInOrderArgs {
  TreeView tree;
  const Amount* amounts = nullptr;  // [columns * stride], as CapacityView; not changed
  std::int64_t stride = 0;
  std::int32_t unit_level = 0;               // above the leaves, by kPieceLevels - 1 at most
  const std::int32_t* unit_begin = nullptr;  // [block_count + 1] the first unit of each block,
                                             // units being the domains of that level, from 0
  std::int32_t block_count = 0;
  InOrderExtent extent;
  const InOrderShape* shapes = nullptr;
  const DecideJob* jobs = nullptr;  // [job_count]
  std::int32_t job_count = 0;
  StoredCount* pods = nullptr;           // [domains] for the first block
  StoredCount* slices = nullptr;         // [domains] the same
  const Workspace* workspace = nullptr;  // its
  PlacementQuery* query = nullptr;       // its
  std::uint64_t* words = nullptr;        // [GridExchange::Words(block_count)]
  AnswerColumns answers;                 // without share_end
  Share* shares = nullptr;               // each job's at its share_begin, by leaf, ascending
  std::int64_t* exclusions = nullptr;    // [job_count * kinds] zero before: leaves outside the
  std::int32_t kinds = 0;                // domain, then those without room by worker resource
  bool operator==(const DecideInOrderArgs&) const = default;
};

inline Grid GridOf(const DecideInOrderArgs& args) {
  return {args.job_count > 0 ? args.block_count : 0, 1};
}

// An evaluation that is about to be decided.
struct InOrderStaged {
  Count pods = 0;
  std::int32_t shape = 0;
  // Levels of the pieces on which one domain is looked for; the finest is -1 where none is.
  std::int32_t finest = -1;
  std::int32_t coarsest = 0;
};

// Shared memory of a block.
struct InOrderMemory {
  Amount* amounts = nullptr;         // [columns * leaves]
  double* inverse = nullptr;         // [columns * kInOrderTogether]
  std::uint64_t* told = nullptr;     // [kInOrderTogether] the key of the tightest domain of all
  std::uint64_t* changed = nullptr;  // [kInOrderTogether] and of a unit that has changed
  PlacementQuery* query = nullptr;
  InOrderStaged* staged = nullptr;  // [kInOrderTogether]
  Workspace lists;
  std::int32_t* column = nullptr;  // [columns] 0, 1, ...
  DomainRange* part = nullptr;     // [kPieceLevels] domains of the piece, from the units down
  std::int32_t* offset = nullptr;  // [kPieceLevels] from their ids to their counts
  StoredCount* pods = nullptr;     // [kInOrderTogether * domains] level after level
  StoredCount* slices = nullptr;   // [domains] of the first evaluation
  std::size_t bytes = 0;           // of all

  // Lays the arrays out; without memory it only measures.
  ESPALIER_HD InOrderMemory(const InOrderExtent& extent, std::byte* memory) {
    constexpr std::size_t kAlignment = 8;
    const auto take = [&](auto*& array, std::size_t count) {
      using Item = std::remove_reference_t<decltype(*array)>;
      static_assert(alignof(Item) <= kAlignment);
      if (memory != nullptr) array = reinterpret_cast<Item*>(memory + bytes);
      bytes += (count * sizeof(Item) + kAlignment - 1) / kAlignment * kAlignment;
    };
    const auto columns = static_cast<std::size_t>(extent.columns);
    const auto domains = static_cast<std::size_t>(extent.domains);
    const auto list = static_cast<std::size_t>(extent.list);
    take(amounts, columns * static_cast<std::size_t>(extent.leaves));
    take(inverse, columns * kInOrderTogether);
    take(told, std::size_t{kInOrderTogether});
    take(changed, std::size_t{kInOrderTogether});
    take(query, 1);
    take(staged, std::size_t{kInOrderTogether});
    take(lists.level, list);
    take(lists.chosen, 1);
    take(lists.current, list);
    take(lists.next, list);
    take(column, columns);
    take(part, std::size_t{kPieceLevels});
    take(offset, std::size_t{kPieceLevels});
    take(pods, domains * kInOrderTogether);
    take(slices, domains);
  }
};

// Writes a query with so many pods, on all lanes.
template <class Team>
ESPALIER_HD void CopyQuery(Team& team, const PlacementQuery& from, Count pods, PlacementQuery* to) {
  CopyWords(team, from, to);
  team.sync();
  if (team.rank() == 0) to->pods = pods;
  team.sync();
}

template <class Team>
class InOrderBlock {
 public:
  ESPALIER_HD InOrderBlock(Team& team, const DecideInOrderArgs& args, std::int32_t block,
                           std::byte* memory)
      : team_(team),
        args_(args),
        block_(block),
        memory_(args.extent, memory),
        lowest_(args.tree.lowest()),
        first_leaf_(args.tree.LevelBegin(lowest_)),
        exchange_(args.words, args.block_count, block) {}

  ESPALIER_HD void Run() {
    Load();
    for (std::int32_t next = 0; next < args_.job_count;) {
      const std::int32_t count = Stage(next);
      bool no_domain = false;  // of the levels told holds the next one alone
      if (count > 0) next += DecideTold(next, count, no_domain);
      if (count == 0 || no_domain) DecideWide(next++, no_domain);
    }
  }

 private:
  struct Domain {
    std::int32_t level = 0;
    std::int32_t id = 0;
  };

  // Where the counts of a staged evaluation lie, for what decides below one of the piece's domains.
  struct OfStaged {
    const InOrderBlock& block;
    std::int32_t staged;

    ESPALIER_HD CountsView OfChildren(Team& /*team*/, const TreeView& /*tree*/, std::int32_t level,
                                      const ShareList& /*parents*/) const {
      return block.CountsOf(staged, level + 1);
    }
  };

  ESPALIER_HD DomainRange& Part(std::int32_t level) const {
    return memory_.part[level - args_.unit_level];
  }
  ESPALIER_HD bool Has(const Domain& domain) const {
    return domain.id >= Part(domain.level).begin && domain.id < Part(domain.level).end;
  }
  ESPALIER_HD DomainRange Leaves() const {
    return {Part(lowest_).begin - first_leaf_, Part(lowest_).end - first_leaf_};
  }
  ESPALIER_HD const InOrderShape& ShapeOf(std::int32_t staged) const {
    return args_.shapes[memory_.staged[staged].shape];
  }
  ESPALIER_HD bool IsOnePod(const InOrderShape& shape) const {
    return shape.query.slice.IsOnePod(lowest_);
  }
  ESPALIER_HD bool Climbs(const PlacementQuery& query) const {
    return !query.required && !query.unconstrained;
  }

  // The piece's capacity, by leaves of the tree. The address before the piece is not read.
  ESPALIER_HD CapacityView Capacity() const {
    return {memory_.amounts - Leaves().begin, args_.extent.leaves};
  }

  // The counts of the piece's domains of one level, by their ids, like the capacity.
  ESPALIER_HD CountsView CountsOf(std::int32_t staged, std::int32_t level) const {
    const std::int32_t offset = memory_.offset[level - args_.unit_level];
    CountsView counts;
    counts.pods = memory_.pods + staged * args_.extent.domains + offset;
    counts.slices = IsOnePod(ShapeOf(staged)) ? counts.pods : memory_.slices + offset;
    counts.pods_with_leader = counts.pods;
    counts.slices_with_leader = counts.slices;
    return counts;
  }

  ESPALIER_HD void Load() {
    const std::int32_t first_unit = args_.tree.LevelBegin(args_.unit_level);
    const DomainRange units{first_unit + args_.unit_begin[block_],
                            first_unit + args_.unit_begin[block_ + 1]};
    if (team_.rank() == 0) {
      std::int32_t counted = 0;
      for (std::int32_t level = args_.unit_level; level <= lowest_; ++level) {
        Part(level) = Descendants(args_.tree, units, args_.unit_level, level);
        memory_.offset[level - args_.unit_level] = counted - Part(level).begin;
        counted += Part(level).size();
      }
    }
    for (std::int32_t c = team_.rank(); c < args_.extent.columns; c += team_.size()) {
      memory_.column[c] = c;
    }
    team_.sync();
    const DomainRange leaves = Leaves();
    for (std::int32_t c = 0; c < args_.extent.columns; ++c) {
      const Amount* const from = args_.amounts + c * args_.stride + leaves.begin;
      Amount* const to = memory_.amounts + std::int64_t{c} * args_.extent.leaves;
      for (std::int32_t i = team_.rank(); i < leaves.size(); i += team_.size()) to[i] = from[i];
    }
    team_.sync();
  }

  // Stages the evaluations from `first` on. Returns how many of the first of them are told, which
  // is 0 where the first one is not.
  ESPALIER_HD std::int32_t Stage(std::int32_t first) {
    const std::int32_t rest = args_.job_count - first;
    const std::int32_t count = rest < kInOrderTogether ? rest : kInOrderTogether;
    team_.sync();
    for (std::int32_t i = team_.rank(); i < count; i += team_.size()) {
      const DecideJob& job = args_.jobs[first + i];
      const InOrderShape& shape = args_.shapes[job.shape];
      const PlacementQuery& query = shape.query;
      const bool told = query.level >= args_.unit_level && IsOnePod(shape);
      memory_.staged[i] = {job.pods, job.shape, told ? query.level : -1,
                           Climbs(query) ? args_.unit_level : query.level};
    }
    team_.sync();
    for (std::int32_t i = team_.rank(); i < count * args_.extent.columns; i += team_.size()) {
      const std::int32_t staged = i % count;
      const std::int32_t column = i / count;
      memory_.inverse[column * kInOrderTogether + staged] = ShapeOf(staged).inverse[column];
    }
    team_.sync();
    std::int32_t told = 0;
    while (told < count && memory_.staged[told].finest >= 0) ++told;
    return told;
  }

  // Offers a domain as the tightest for a staged evaluation.
  ESPALIER_HD void Offer(std::uint64_t* keys, std::int32_t staged, std::int32_t level,
                         std::int32_t domain, StoredCount held) const {
    const InOrderStaged& evaluation = memory_.staged[staged];
    if (level > evaluation.finest || level < evaluation.coarsest || held < evaluation.pods) return;
    LowerTo(keys[staged], TightestKey::Of(held, domain, lowest_ - level));
  }

  // Counts the domains of a run of the piece's units for the staged evaluations [first, end), and
  // puts the keys of the tightest into `keys`.
  ESPALIER_HD void CountUnits(DomainRange units, std::int32_t first, std::int32_t end,
                              std::uint64_t* keys) {
    team_.sync();
    for (std::int32_t i = first + team_.rank(); i < end; i += team_.size()) {
      keys[i] = TightestKey::kNone;
    }
    team_.sync();
    ShapeBatch batch;
    batch.capacity = Capacity();
    batch.column_count = args_.extent.columns;
    batch.column = memory_.column;
    batch.inverse = memory_.inverse;
    const DomainRange leaves = Descendants(args_.tree, units, args_.unit_level, lowest_);
    for (std::int32_t d = leaves.begin + team_.rank(); d < leaves.end; d += team_.size()) {
      const BatchPods held(batch, d - first_leaf_);
      for (std::int32_t s = 0; s < kInOrderTogether; ++s) {
        if (s < first || s >= end) continue;
        const InOrderShape& shape = ShapeOf(s);
        const CountsView counts = CountsOf(s, lowest_);
        const StoredCount pods = Matches(shape.input, d - first_leaf_) ? held.Of(s) : 0;
        counts.pods[d] = pods;
        counts.slices[d] = static_cast<StoredCount>(pods * shape.slice_inverse);
        Offer(keys, s, lowest_, d, pods);
      }
    }
    team_.sync();
    for (std::int32_t level = lowest_ - 1; level >= args_.unit_level; --level) {
      const DomainRange domains = Descendants(args_.tree, units, args_.unit_level, level);
      const std::int32_t all = domains.size() * (end - first);
      for (std::int32_t i = team_.rank(); i < all; i += team_.size()) {
        const std::int32_t s = first + i / domains.size();
        const std::int32_t d = domains.begin + i % domains.size();
        const CountsView counts = CountsOf(s, level);
        RollUpDomain(args_.tree, ShapeOf(s).query.slice, CountsOf(s, level + 1), counts, level, d);
        Offer(keys, s, level, d, counts.pods[d]);
      }
      team_.sync();
    }
  }

  // Returns the domain that a staged evaluation was told, which there must be.
  ESPALIER_HD Domain ToldTo(std::int32_t staged) const {
    const std::uint64_t key = memory_.told[staged];
    return {lowest_ - TightestKey::CoarsenessOf(key), TightestKey::DomainOf(key)};
  }

  // Decides as many of the staged evaluations [0, count) as are decided as one after the other
  // would be, at least one where there is a domain for the first. Returns how many; sets
  // `no_domain` where there is none for the one behind them.
  ESPALIER_HD std::int32_t DecideTold(std::int32_t first, std::int32_t count, bool& no_domain) {
    CountUnits(Part(args_.unit_level), 0, count, memory_.told);
    exchange_.Least(team_, memory_.told, count);
    std::int32_t fit = 0;
    while (fit < count && memory_.told[fit] != TightestKey::kNone) ++fit;
    std::int32_t tried = 0;
    std::int32_t valid = fit;
    for (; tried < valid; ++tried) {
      const Domain domain = ToldTo(tried);
      if (!Has(domain)) continue;
      DecideOn(first + tried, tried, domain);
      Book(first + tried, -1);
      if (tried + 1 < valid) valid = StillKnown(UnitOf(domain), tried + 1, valid);
    }
    if (fit > 1) valid = LeastOfGrid(valid);
    for (std::int32_t i = valid; i < tried; ++i) {
      if (Has(ToldTo(i))) Book(first + i, 1);
    }
    no_domain = valid == fit && fit < count;
    return valid;
  }

  ESPALIER_HD std::int32_t LeastOfGrid(std::int32_t value) {
    team_.sync();
    if (team_.rank() == 0) memory_.changed[0] = static_cast<std::uint64_t>(value);
    exchange_.Least(team_, memory_.changed, 1);
    return static_cast<std::int32_t>(memory_.changed[0]);
  }

  // Returns the unit that a domain of the piece, or of any other, is in.
  ESPALIER_HD std::int32_t UnitOf(Domain domain) const {
    for (; domain.level > args_.unit_level; --domain.level) {
      domain.id = args_.tree.parent[domain.id];
    }
    return domain.id;
  }

  // Returns the first of the staged evaluations [first, end) whose tightest domain is not known,
  // now that leaves of one of the piece's units have less; `end`: none. Brings those before it up
  // to date. Nothing elsewhere has changed, and nothing has grown: what is tighter in the unit now
  // is the tightest of all. It must be the piece's already, as other blocks do not learn of it.
  ESPALIER_HD std::int32_t StillKnown(std::int32_t unit, std::int32_t first, std::int32_t end) {
    CountUnits({unit, unit + 1}, first, end, memory_.changed);
    std::int32_t known = first;
    for (; known < end; ++known) {
      const Domain told = ToldTo(known);
      const std::uint64_t before = memory_.told[known];
      const std::uint64_t now = memory_.changed[known];
      if (now < before ? !Has(told) : now > before && UnitOf(told) == unit) break;
    }
    team_.sync();
    for (std::int32_t i = first + team_.rank(); i < known; i += team_.size()) {
      if (memory_.changed[i] < memory_.told[i]) memory_.told[i] = memory_.changed[i];
    }
    team_.sync();
    return known;
  }

  // Decides a staged evaluation on one domain of the piece, as Place does on the tightest.
  ESPALIER_HD void DecideOn(std::int32_t row, std::int32_t staged, const Domain& domain) {
    PlacementQuery& query = *memory_.query;
    CopyQuery(team_, ShapeOf(staged).query, memory_.staged[staged].pods, &query);
    Choice choice;
    choice.level = domain.level;
    choice.total = query.slices();
    choice = ChooseOne(team_, MakeCandidate(CountsOf(staged, domain.level), domain.id), choice,
                       memory_.lists);
    PlacementWithShares outcome;
    outcome.status = choice.status;
    outcome.level = choice.level;
    outcome.total = choice.total;
    outcome.shares = Descend(team_, args_.tree, OfStaged{*this, staged}, query, choice.level,
                             choice.domains, false, memory_.lists);
    Store(row, outcome);
  }

  ESPALIER_HD void Store(std::int32_t row, const PlacementWithShares& outcome) {
    const DecideJob& job = args_.jobs[row];
    const std::int32_t shares =
        StoreShares(team_, args_.tree, outcome.shares, args_.shares + job.share_begin,
                    MostShares(args_.tree.leaf_count(), job.pods, /*leader=*/false));
    if (team_.rank() == 0) WriteRow(outcome, shares, args_.answers, row);
    team_.sync();
  }

  // Takes what the piece's leaves give to an evaluation from their capacity (`sign` -1), or gives
  // it back (1).
  ESPALIER_HD void Book(std::int32_t row, Amount sign) {
    const DecideJob& job = args_.jobs[row];
    const RequestView& request = args_.shapes[job.shape].input.workers;
    const Share* const shares = args_.shares + job.share_begin;
    const std::int32_t count = args_.answers.share_count[row];
    const DomainRange leaves = Leaves();
    for (std::int32_t i = team_.rank(); i < count; i += team_.size()) {
      const Share share = shares[i];
      if (share.domain < leaves.begin || share.domain >= leaves.end) continue;
      Amount* const of_leaf = memory_.amounts + (share.domain - leaves.begin);
      for (std::int32_t r = 0; r < request.size; ++r) {
        of_leaf[std::int64_t{request.column[r]} * args_.extent.leaves] +=
            sign * share.pods * request.amount[r];
      }
    }
    team_.sync();
  }

  // Lets the first block decide an evaluation. `no_domain`: no domain of the pieces, from its level
  // up, holds it alone.
  ESPALIER_HD void DecideWide(std::int32_t row, bool no_domain) {
    Stage(row);
    CountUnits(Part(args_.unit_level), 0, 1, memory_.told);
    const InOrderShape& shape = ShapeOf(0);
    for (std::int32_t level = args_.unit_level; level <= lowest_; ++level) {
      const CountsView counts = CountsOf(0, level);
      const DomainRange part = Part(level);
      for (std::int32_t d = part.begin + team_.rank(); d < part.end; d += team_.size()) {
        args_.pods[d] = counts.pods[d];
        if (!IsOnePod(shape)) args_.slices[d] = counts.slices[d];
      }
    }
    LeastOfGrid(0);
    if (block_ == 0) DecideAlone(row, shape, no_domain);
    LeastOfGrid(0);
    if (args_.answers.status[row] == PlacementStatus::kPlaced) {
      Book(row, -1);
    } else if (args_.answers.status[row] == PlacementStatus::kDoesNotFit) {
      LeafInput input = shape.input;
      input.capacity = Capacity();
      std::int64_t* const exclusions = args_.exclusions + std::int64_t{row} * args_.kinds;
      CountExclusions(team_, input, Leaves(), {exclusions + 1, exclusions, input.workers.size});
      team_.sync();
    }
  }

  ESPALIER_HD void DecideAlone(std::int32_t row, const InOrderShape& shape, bool no_domain) {
    CountsView counts;
    counts.pods = counts.pods_with_leader = args_.pods;
    counts.slices = counts.slices_with_leader = IsOnePod(shape) ? args_.pods : args_.slices;
    for (std::int32_t level = args_.unit_level - 1; level >= 0; --level) {
      const DomainRange domains = DomainsOf(args_.tree, level);
      for (std::int32_t d = domains.begin + team_.rank(); d < domains.end; d += team_.size()) {
        RollUpDomain(args_.tree, shape.query.slice, counts, level, d);
      }
      team_.sync();
    }
    CopyQuery(team_, shape.query, memory_.staged[0].pods, args_.query);
    if (no_domain && Climbs(shape.query) && args_.unit_level > 0) {
      if (team_.rank() == 0) args_.query->level = args_.unit_level - 1;  // where it climbs to
      team_.sync();
    }
    Store(row, PlaceUnbalanced(team_, args_.tree, counts, StoredCounts{counts}, *args_.query,
                               *args_.workspace));
  }

  Team& team_;
  const DecideInOrderArgs& args_;
  std::int32_t block_;
  InOrderMemory memory_;
  std::int32_t lowest_;
  std::int32_t first_leaf_;
  GridExchange exchange_;
};

// `memory` is shared by the block's lanes: InOrderMemory(args.extent, null).bytes, aligned to 8.
template <class Team>
ESPALIER_HD void RunBlock(Team& team, const DecideInOrderArgs& args, Grid block,
                          std::byte* memory) {
  InOrderBlock<Team>(team, args, block.x, memory).Run();
}

}  // namespace espalier
