#include "host/cuda/job_work.hpp"

#include <algorithm>
#include <bit>

namespace espalier {
namespace {

constexpr std::int64_t kLanes = 128;  // of a thread block that decides
// Passes over a level in search of the domains to take: two searches that halve a range of 32 bits,
// and a few scans.
constexpr std::int64_t kPasses = 80;
// Passes over a level in search of the first by affinity: 16, 8 and 8 digits of affinity, slices
// and pods, the spans of all three, and three to collect what was found; and sums, 15 a digit.
constexpr std::int64_t kSelectionPasses = 38;
constexpr std::int64_t kSelectionSums = 480;
constexpr std::int64_t kStepsPerParent = 64;  // collectives, where a domain hands pods down
constexpr std::int64_t kStepsPerSet = 128;    // collectives, where balanced placement tries a set

// Limits every factor, so that no product of three overflows.
std::int64_t Limited(std::int64_t value) {
  return std::clamp<std::int64_t>(value, 0, std::int64_t{1} << 20);
}

std::int64_t Trips(std::int64_t items) { return (items + kLanes - 1) / kLanes; }

// Sorting on all lanes: by rank as long as every lane has an item at most, else by a network.
std::int64_t SortSteps(std::int64_t items) {
  if (items <= kLanes) return items;
  const std::int64_t runs = std::bit_width(static_cast<std::uint64_t>(items - 1));
  return runs * (runs + 1) / 2 * Trips(items) * 2;
}

bool IsBalanced(const PlacementQuery& query) {
  return query.balanced && !query.required && !query.unconstrained;
}

}  // namespace

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
}

std::int64_t JobWork::Steps(const PlacementJob& job, Count pods) const {
  PlacementQuery query = job.query;
  query.pods = pods;
  const bool scored = ScoresOf(job) != nullptr;
  const std::int64_t leaves = levels_.empty() ? 0 : levels_.back().width;
  const std::int64_t shares = std::min(leaves, Limited(query.pods + query.leaders));
  std::int64_t steps = ChoosingSteps(query, scored) + DescentSteps(query) + SortSteps(shares);
  if (IsBalanced(query)) steps += BalancedSteps(query, scored);
  return std::min(steps, kManySteps);
}

// From the requested level up, each level is looked at; of the last one several domains may be
// taken, in order.
std::int64_t JobWork::ChoosingSteps(const PlacementQuery& query, bool scored) const {
  std::int64_t steps = 0;
  const bool climbs = !query.required && !query.unconstrained;
  for (std::int32_t level = climbs ? 0 : query.level; level <= query.level; ++level) {
    const std::int64_t width = levels_[static_cast<std::size_t>(level)].width;
    steps += kPasses * Trips(width);
    // Empty domains that may take the leader are looked for one after the other.
    if (query.leaders > 0 && (scored || query.least_free)) steps += width;
  }
  if (query.required) return steps;
  const std::int64_t width = levels_[climbs ? 0 : static_cast<std::size_t>(query.level)].width;
  if (scored) steps += kSelectionPasses * Trips(width) + kSelectionSums;
  return steps + SortSteps(std::min(width, Limited(query.slices())));
}

// Pods are handed down by each domain that has some, or by all of these together.
std::int64_t JobWork::DescentSteps(const PlacementQuery& query) const {
  std::int64_t steps = 0;
  const std::int64_t pods = Limited(query.pods + query.leaders);
  const bool climbs = !query.required && !query.unconstrained;
  for (std::size_t level = climbs ? 0 : static_cast<std::size_t>(query.level);
       level + 1 < levels_.size(); ++level) {
    const std::int64_t parents = std::min(levels_[level].width, pods);
    const std::int64_t children =
        std::min(levels_[level + 1].width, parents * levels_[level].children);
    steps += parents * (kStepsPerParent + SortSteps(levels_[level].children)) +
             kPasses * Trips(children) + SortSteps(children) + std::min(children, pods);
  }
  return steps;
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
