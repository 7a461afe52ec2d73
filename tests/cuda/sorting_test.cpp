// The sorts and searches a block uses, on teams of the host.
#include "kernels/team/sorting.hpp"

#include <algorithm>
#include <atomic>
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

// Counts how often items change places.
struct Moved {
  std::int32_t value = 0;
  static inline std::atomic<int> moves = 0;
  Moved() = default;
  explicit Moved(std::int32_t v) : value(v) {}
  Moved(const Moved& other) : value(other.value) { ++moves; }
  Moved& operator=(const Moved& other) {
    value = other.value;
    ++moves;
    return *this;
  }
};

TEST(SortingTest, NetworkLeavesItemsInOrderAlone) {
  RunOnTeams([](const TeamRunner& runner) {
    std::vector<Moved> items(300);
    for (std::size_t i = 0; i < items.size(); ++i)
      items[i].value = static_cast<std::int32_t>(i / 2);
    Moved::moves = 0;
    const auto less = [](const Moved& a, const Moved& b) { return a.value < b.value; };
    runner.Run([&](auto& team) { NetworkSort(team, items.data(), 300, less); });
    EXPECT_EQ(Moved::moves, 0);
    std::swap(items[298], items[297]);
    runner.Run([&](auto& team) { NetworkSort(team, items.data(), 300, less); });
    EXPECT_EQ(items[297].value, 148);
    EXPECT_EQ(items[298].value, 149);
  });
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
