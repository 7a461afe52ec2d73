#include "host/cuda/job_work.hpp"

#include <algorithm>
#include <bit>

#include "kernels/decisions/level_index.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kLanes = 128;     // of a thread block that decides
constexpr std::int64_t kWarpLanes = 32;  // of a warp
// Passes over a level in search of the domains to take: two searches that halve a range of 32 bits,
// and a few scans.
constexpr std::int64_t kPasses = 80;
constexpr std::int64_t kStepsOfIndex = 8;  // to find a level's tightest domain
// Passes over a level in search of the first by affinity: 16, 8 and 8 digits of affinity, slices
// and pods, the spans of all three, and three to collect what was found; and sums, 15 a digit.
constexpr std::int64_t kSelectionPasses = 38;
constexpr std::int64_t kSelectionSums = 480;
constexpr std::int64_t kStepsPerParent = 64;  // collectives, where a domain hands pods down
constexpr std::int64_t kStepsPerSet = 128;    // collectives, where balanced placement tries a set
constexpr std::int64_t kSmallLeafSteps = 32;  // to count a leaf of a small job, at most

// Limits every factor, so that no product of three overflows.
std::int64_t Limited(std::int64_t value) {
  return std::clamp<std::int64_t>(value, 0, std::int64_t{1} << 20);
}

std::int64_t Trips(std::int64_t items, std::int64_t lanes = kLanes) {
  return (items + lanes - 1) / lanes;
}

// Sorting on all lanes: by rank as long as every lane has an item at most, else by a network.
std::int64_t SortSteps(std::int64_t items, std::int64_t lanes = kLanes) {
  if (items <= lanes) return items;
  const std::int64_t runs = std::bit_width(static_cast<std::uint64_t>(items - 1));
  return runs * (runs + 1) / 2 * Trips(items, lanes) * 2;
}

// Loads of one lane that counts a leaf: whether it is admitted, what is assumed, and an amount for
// each entry of a request, of the workers' once more beside a leader.
std::int64_t LeafSteps(const PlacementJob& job) {
  const auto workers = static_cast<std::int64_t>(job.shape->workers.amounts.size());
  const auto leader = static_cast<std::int64_t>(job.shape->leader.amounts.size());
  const auto assumed = static_cast<std::int64_t>(std::bit_width(job.assumed.size()));
  return 2 + assumed + workers + (leader > 0 ? leader + workers : 0);
}

bool Climbs(const PlacementQuery& query) { return !query.required && !query.unconstrained; }

bool IsBalanced(const PlacementQuery& query) { return query.balanced && Climbs(query); }

}  // namespace

std::int32_t MostShares(const PlacementJob& job, Count pods) {
  const std::int64_t leaves = job.state->snapshot().leaf_count();
  if (pods >= leaves) return static_cast<std::int32_t>(leaves);
  return static_cast<std::int32_t>(std::min(leaves, pods + job.query.leaders));
}

JobWork::JobWork(const TreeView& tree) {
  for (std::int32_t level = 0; level < tree.level_count; ++level) {
    Level& here = levels_.emplace_back();
    here.width = tree.LevelEnd(level) - tree.LevelBegin(level);
    if (level == tree.lowest()) break;
    for (std::int32_t d = tree.LevelBegin(level); d < tree.LevelEnd(level); ++d) {
      here.children =
          std::max<std::int64_t>(here.children, tree.child_begin[d + 1] - tree.child_begin[d]);
    }
  }
  for (std::int32_t level = 0; level < tree.level_count; ++level) {
    for (const bool required : {false, true}) small_[required].push_back(SmallAt(level, required));
  }
}

std::int64_t JobWork::Steps(const PlacementJob& job, Count pods) const {
  PlacementQuery query = job.query;
  query.pods = pods;
  const bool scored = ScoresOf(job) != nullptr;
  const std::int64_t leaves = levels_.empty() ? 0 : levels_.back().width;
  const std::int64_t shares = std::min(leaves, Limited(query.pods + query.leaders));
  // Leaves that are counted when they are reached.
  const auto lowest = static_cast<std::int32_t>(levels_.size()) - 1;
  const std::int64_t leaf_steps = NeedsLeaves(query, lowest) ? 0 : LeafSteps(job);
  std::int64_t steps = ChoosingSteps(query, scored) + DescentFrom(query, kLanes, leaf_steps).steps +
                       SortSteps(shares);
  if (query.slice.layer_count > 0) steps += Trips(leaves) * leaf_steps;  // when it does not fit
  if (IsBalanced(query)) steps += BalancedSteps(query, scored);
  return std::min(steps, kManySteps);
}

// From the requested level up, each level is looked at; of the last one several domains may be
// taken, in order.
std::int64_t JobWork::ChoosingSteps(const PlacementQuery& query, bool scored) const {
  std::int64_t steps = 0;
  for (std::int32_t level = Climbs(query) ? 0 : query.level; level <= query.level; ++level) {
    const std::int64_t width = levels_[static_cast<std::size_t>(level)].width;
    steps += kPasses * Trips(width);
    // Empty domains that may take the leader are looked for one after the other.
    if (query.leaders > 0 && (scored || query.least_free)) steps += width;
  }
  if (query.required) return steps;
  const std::int64_t width =
      levels_[Climbs(query) ? 0 : static_cast<std::size_t>(query.level)].width;
  if (scored) steps += kSelectionPasses * Trips(width) + kSelectionSums;
  return steps + SortSteps(std::min(width, Limited(query.slices())));
}

// Pods are handed down by each domain that has some, or by all of these together. A required level
// gives them to one domain; where several levels are looked at, the coarsest one gives them to the
// most.
JobWork::Descent JobWork::DescentFrom(const PlacementQuery& query, std::int64_t lanes,
                                      std::int64_t leaf_steps) const {
  Descent down;
  const std::int64_t pods = std::max<std::int64_t>(Limited(query.pods + query.leaders), 1);
  std::size_t level = Climbs(query) ? 0 : static_cast<std::size_t>(query.level);
  std::int64_t parents = query.required ? 1 : std::min(levels_[level].width, pods);
  down.longest = parents;
  for (; level + 1 < levels_.size(); ++level) {
    const std::int64_t children =
        std::min(levels_[level + 1].width, parents * levels_[level].children);
    down.steps += parents * (kStepsPerParent + SortSteps(levels_[level].children, lanes)) +
                  kPasses * Trips(children, lanes) + SortSteps(children, lanes) +
                  std::min(children, pods);
    if (level + 2 == levels_.size()) down.steps += Trips(children, lanes) * leaf_steps;
    down.longest = std::max(down.longest, children);
    // The domains with least capacity come first, be it none.
    parents = query.least_free ? children : std::min(children, pods);
  }
  return down;
}

// Looks for the most pods with which a job is small, on one level.
JobWork::Small JobWork::SmallAt(std::int32_t level, bool required) const {
  PlacementQuery query;
  query.level = level;
  query.required = required;
  const auto at = static_cast<std::size_t>(level);
  if (at + 1 == levels_.size()) return {};  // leaves have no index
  for (query.pods = kSmallList; query.pods > 0; query.pods /= 2) {
    const Descent down = DescentFrom(query, kWarpLanes, kSmallLeafSteps);
    // Where no domain suffices, one pass looks for the best and some look at the coarsest level.
    const std::int64_t steps = (level + 1) * kStepsOfIndex + Trips(levels_[at].width, kWarpLanes) +
                               (required ? 0 : kPasses * Trips(levels_[0].width, kWarpLanes)) +
                               down.steps + SortSteps(query.pods, kWarpLanes);
    if (down.longest > kSmallList || steps > kSmallSteps) continue;
    return {query.pods, steps};
  }
  return {};
}

JobWork::Small JobWork::SmallOf(const PlacementJob& job) const {
  const PlacementQuery& query = job.query;
  // Layers are looked for among all leaves where a job does not fit.
  if (query.unconstrained || query.least_free || query.leaders > 0 || IsBalanced(query) ||
      query.slice.layer_count > 0 || ScoresOf(job) != nullptr || LeafSteps(job) > kSmallLeafSteps) {
    return {};
  }
  Small small = small_[query.required][static_cast<std::size_t>(query.level)];
  const Count told = LevelIndex::kNeeds * Limited(query.slice.size) - 1;
  small.pods = std::min(small.pods, told);
  return small;
}

// Each set of siblings is cloned and pruned up to three times; from the best one domains are
// selected exactly, on one lane.
std::int64_t JobWork::BalancedSteps(const PlacementQuery& query, bool scored) const {
  const auto at = static_cast<std::size_t>(query.level);
  const std::int64_t sets = at == 0 ? 1 : levels_[at - 1].width;
  const std::int64_t members = at == 0 ? levels_[0].width : levels_[at - 1].children;
  const bool below = query.level < query.slice.level;
  const std::int64_t lower =
      below ? std::min(levels_[at + 1].width, members * levels_[at].children) : members;
  std::int64_t below_sets = 0;  // domains in and below all sets
  for (std::size_t level = at; level < levels_.size(); ++level) below_sets += levels_[level].width;
  std::int64_t steps = sets * kStepsPerSet + 3 * kPasses * (sets + Trips(below_sets));
  if (query.leaders > 0 || scored) steps += sets * 4 * (SortSteps(members) + SortSteps(lower));
  if (below) steps += members * (kStepsPerParent + SortSteps(levels_[at].children));
  const std::int64_t used = Limited(std::min(lower, query.slices())) + 1;
  const std::int64_t ways =
      std::min<std::int64_t>(kDeviceStates, 2 * used * (Limited(query.pods) + 1));
  return steps + (below ? 2 : 1) * 2 * Limited(lower) * ways;
}

}  // namespace espalier
