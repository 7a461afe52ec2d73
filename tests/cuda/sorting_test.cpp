// The sorts and searches a block uses, on teams of the host.
#include "kernels/team/sorting.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/teams.hpp"

namespace espalier::sorting_test {
namespace {

struct Smaller {
  bool operator()(std::int32_t a, std::int32_t b) const { return a < b; }
};

std::vector<std::int32_t> Shuffled(std::int32_t n) {
  std::vector<std::int32_t> items;
  for (std::int64_t i = 0; i < n; ++i) items.push_back(static_cast<std::int32_t>(i * 7919 % 10007));
  return items;
}

TEST(SortingTest, NetworkSortsAnyLength) {
  std::vector<std::int32_t> sizes(std::begin(kAwkwardSizes), std::end(kAwkwardSizes));
  for (std::int32_t n = 1; n <= 70; ++n) sizes.push_back(n);
  for (const std::int32_t n : sizes) {
    RunOnTeams([n](const TeamRunner& runner) {
      std::vector<std::int32_t> items = Shuffled(n);
      std::vector<std::int32_t> sorted = items;
      std::ranges::sort(sorted);
      runner.Run([&](auto& team) { NetworkSort(team, items.data(), n, Smaller{}); });
      EXPECT_EQ(items, sorted) << n;
    });
  }
}

TEST(SortingTest, NetworkSortsLongArrays) {
  std::vector<std::int32_t> items = Shuffled(5000);
  std::vector<std::int32_t> sorted = items;
  std::ranges::sort(sorted);
  ThreadTeam::Run(4, [&](auto& team) { NetworkSort(team, items.data(), 5000, Smaller{}); });
  EXPECT_EQ(items, sorted);
}

TEST(SortingTest, RankSortsUpToOneItemALane) {
  RunOnTeams([](const TeamRunner& runner) {
    for (std::int32_t n = 0; n <= runner.lanes(); ++n) {
      std::vector<std::int32_t> items = Shuffled(n);
      std::vector<std::int32_t> sorted = items;
      std::ranges::sort(sorted);
      runner.Run([&](auto& team) { RankSort(team, items.data(), n, Smaller{}); });
      EXPECT_EQ(items, sorted) << n;
    }
  });
}

}  // namespace
}  // namespace espalier::sorting_test
