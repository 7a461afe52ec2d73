// An index of a level tells what going through its domains tells.
#include "kernels/decisions/level_index.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/decisions/scans.hpp"
#include "tests/kernels/random_values.hpp"
#include "tests/kernels/teams.hpp"

namespace espalier::level_index_test {
namespace {

using Values = std::vector<StoredCount>;

// Holds the index against a search, for every need that may be told and some above. The level
// begins behind other domains; null pods: slices are pods.
void ExpectTellsTheTightest(const Values& slices, const Values* pods) {
  constexpr std::int32_t kBefore = 3;
  const auto behind_others = [](const Values& values) {
    Values all(kBefore, 1);
    all.insert(all.end(), values.begin(), values.end());
    return all;
  };
  Values of_slices = behind_others(slices);
  Values of_pods = pods == nullptr ? Values() : behind_others(*pods);
  CountsView counts;
  counts.slices = of_slices.data();
  counts.pods = pods == nullptr ? counts.slices : of_pods.data();
  const auto size = static_cast<std::int32_t>(slices.size());
  const StoredCount most = slices.empty() ? 0 : *std::ranges::max_element(slices);
  RunOnTeams([&](const TeamRunner& runner) {
    LevelIndex index;
    runner.Run([&](auto& team) { IndexLevel(team, counts, {kBefore, kBefore + size}, index); });
    EXPECT_EQ(index.most, most);
    SerialTeam one;
    for (Count need = 0; need < LevelIndex::kNeeds + 3; ++need) {
      EXPECT_EQ(index.Tells(need), need < LevelIndex::kNeeds || need > most);
      if (!index.Tells(need)) continue;
      const std::int32_t first =
          FirstTightest(one, slices.data(), pods == nullptr ? nullptr : pods->data(), size, need);
      EXPECT_EQ(index.Tightest(need), first < 0 ? -1 : kBefore + first) << "need " << need;
    }
    EXPECT_TRUE(index.Tells(Count{most} + 1));
    EXPECT_EQ(index.Tightest(Count{1} << 40), -1);
  });
}

TEST(LevelIndexTest, ALevelWithoutDomains) { ExpectTellsTheTightest({}, nullptr); }

TEST(LevelIndexTest, TheFirstOfTheTightest) {
  ExpectTellsTheTightest({0}, nullptr);
  ExpectTellsTheTightest({5, 9, 7, 5, 0}, nullptr);
  ExpectTellsTheTightest({8, 8, 8, 8}, nullptr);
}

TEST(LevelIndexTest, FewerPodsBreakTiesOfSlices) {
  const Values pods = {9, 8, 8, 20, 19};
  ExpectTellsTheTightest({2, 2, 2, 4, 4}, &pods);
}

TEST(LevelIndexTest, WhatHoldsMoreThanTheLastNeed) {
  const Values pods = {kMaxStored, 700, 600, 600, 3};
  for (const StoredCount more : {253, 254, 255, 256, 257, 300}) {
    ExpectTellsTheTightest({more + 9, more, more, more, 3}, nullptr);
    ExpectTellsTheTightest({more + 9, more, more, more, 3}, &pods);
  }
  ExpectTellsTheTightest({kMaxStored, kMaxStored}, nullptr);
}

TEST(LevelIndexTest, AnyValues) {
  Random random(1);
  for (const std::uint32_t most : {12, 300, 5000}) {
    const Values slices = RandomValues(random, 400, most);
    Values pods = RandomValues(random, 400, 3);
    for (std::size_t i = 0; i < pods.size(); ++i) pods[i] += slices[i] * 4;
    ExpectTellsTheTightest(slices, nullptr);
    ExpectTellsTheTightest(slices, &pods);
  }
}

}  // namespace
}  // namespace espalier::level_index_test
