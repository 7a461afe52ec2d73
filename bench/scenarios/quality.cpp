#include "bench/scenarios/quality.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace espalier {
namespace {

// Amounts of one resource by leaf, summed over domains.
class Column {
 public:
  Column(const FlavorState& state, std::int32_t column) : snapshot_(state.snapshot()) {
    const auto begin = static_cast<std::size_t>(column * snapshot_.stride());
    const auto leaves = static_cast<std::size_t>(snapshot_.leaf_count());
    free_ = std::span(snapshot_.free()).subspan(begin, leaves);
    remaining_ = std::span(state.remaining()).subspan(begin, leaves);
  }

  std::int64_t UsedPerMille() const {
    double free = 0;
    double remaining = 0;
    for (const Amount amount : free_) free += static_cast<double>(amount);
    for (const Amount amount : remaining_) remaining += static_cast<double>(amount);
    return free <= 0 ? 0 : static_cast<std::int64_t>(1000 * (free - remaining) / free);
  }
  Amount LargestRemaining(std::int32_t level) const { return LargestSum(remaining_, level); }
  Amount LargestCapacity(std::int32_t level) const { return LargestSum(free_, level); }

 private:
  Amount LargestSum(std::span<const Amount> amounts, std::int32_t level) const {
    std::map<std::int32_t, Amount> sums;
    for (std::int32_t leaf = 0; leaf < snapshot_.leaf_count(); ++leaf) {
      Amount& sum = sums[snapshot_.Ancestor(LeafId(leaf), level).value];
      sum = SaturatingAdd(sum, amounts[static_cast<std::size_t>(leaf)]);
    }
    Amount largest = 0;
    for (const auto& [domain, sum] : sums) largest = std::max(largest, sum);
    return largest;
  }

  const FlavorSnapshot& snapshot_;
  std::span<const Amount> free_;
  std::span<const Amount> remaining_;
};

// Domains of one level that the placed gangs use, and how few would do on an empty cluster.
struct Spread {
  std::int64_t used = 0;
  std::int64_t at_least = 0;
};

Spread SpreadOf(const LoadedScenario& loaded, const GangAnswers& answers, std::string_view resource,
                std::int32_t level, Amount largest) {
  const FlavorSnapshot& snapshot = loaded.flavor().snapshot();
  Spread spread;
  for (std::size_t gang = 0; gang < loaded.mix.gangs.size(); ++gang) {
    std::int32_t last = -1;  // shares are in path order
    for (const LeafShare& share : answers.SharesOf(gang)) {
      const std::int32_t domain = snapshot.Ancestor(share.leaf, level).value;
      if (domain != last) ++spread.used;
      last = domain;
    }
    if (last < 0) continue;
    const GangRow& asked = loaded.mix.gangs[gang];
    const Resources& requests =
        loaded.mix.shapes[static_cast<std::size_t>(asked.shape)].workers.requests;
    const Amount* request = requests.Find(resource);
    const Amount total = SaturatingMultiply(request != nullptr ? *request : 0, asked.pods);
    spread.at_least += largest > 0 ? std::max<Amount>((total + largest - 1) / largest, 1) : 1;
  }
  return spread;
}

}  // namespace

std::vector<QualityFigure> QualityOf(const LoadedScenario& loaded, const GangAnswers& answers,
                                     const FlavorState* after) {
  std::vector<QualityFigure> figures;
  std::int64_t pods = 0;
  for (const LeafShare& share : answers.shares) pods += share.pods;
  figures.push_back({"placed", std::ranges::count(answers.status, PlacementStatus::kPlaced)});
  figures.push_back({"placedPods", pods});

  const FlavorState& before = loaded.flavor();
  const FlavorSnapshot& snapshot = before.snapshot();
  const bool gpus = snapshot.FindResource(kGpuResource) >= 0;
  const std::string_view resource = gpus ? kGpuResource : "cpu";
  const std::int32_t column = snapshot.FindResource(resource);
  const auto levels = static_cast<std::int32_t>(snapshot.levels().size());
  if (column < 0 || levels < 2) return figures;
  const Column then(before, column);
  const Column now(after != nullptr ? *after : before, column);
  figures.push_back({"usedBeforePerMille", then.UsedPerMille()});
  figures.push_back({"usedAfterPerMille", now.UsedPerMille()});
  const std::int32_t rack = levels - 2;
  const Spread racks = SpreadOf(loaded, answers, resource, rack, then.LargestCapacity(rack));
  figures.push_back({"racksUsed", racks.used});
  figures.push_back({"racksAtLeast", racks.at_least});
  const Spread tops = SpreadOf(loaded, answers, resource, 0, then.LargestCapacity(0));
  figures.push_back({"topDomainsUsed", tops.used});
  figures.push_back({"topDomainsAtLeast", tops.at_least});
  figures.push_back({"largestFreeRack", now.LargestRemaining(rack)});
  figures.push_back({"largestFreeTopDomain", now.LargestRemaining(0)});
  return figures;
}

}  // namespace espalier
