#include "kernels/decisions/exclusions.hpp"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/queries.hpp"

namespace espalier::exclusions_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ExclusionsTest, R18_7_EachLeafCountsAtMostOnce) {
  const std::vector<std::int16_t> exclusion = {0, kNotExcluded, 2, kOutsideDomain, 0, 2, 0};
  RunOnTeams([&](const TeamRunner& runner) {
    std::vector<std::int64_t> limited_by = {50, 50, 50};  // set, not added to
    std::int64_t outside = 50;
    runner.Run([&](auto& team) {
      CountExclusions(team, exclusion.data(), 7, {limited_by.data(), &outside, 3});
    });
    EXPECT_THAT(limited_by, ElementsAre(3, 0, 2));
    EXPECT_EQ(outside, 1);
  });
}

TEST(ExclusionsTest, R18_7_AwkwardSizes) {
  for (const std::int32_t n : kAwkwardSizes) {
    std::vector<std::int16_t> exclusion;
    for (std::int32_t i = 0; i < n; ++i) {
      exclusion.push_back(static_cast<std::int16_t>(i % 4 - 2));  // -2, -1, 0, 1
    }
    RunOnTeams([&](const TeamRunner& runner) {
      std::vector<std::int64_t> limited_by(2);
      std::int64_t outside = 0;
      runner.Run([&](auto& team) {
        CountExclusions(team, exclusion.data(), n, {limited_by.data(), &outside, 2});
      });
      EXPECT_EQ(outside, (n + 3) / 4);
      EXPECT_THAT(limited_by, ElementsAre((n + 1) / 4, n / 4));
    });
  }
}

// More kinds than are counted in a pass.
TEST(ExclusionsTest, R18_7_ManyResources) {
  constexpr std::int32_t kLeaves = 1000;
  for (const std::int32_t resources : {7, 8, 15, 30}) {
    std::vector<std::int16_t> exclusion;
    std::vector<std::int64_t> expected(static_cast<std::size_t>(resources), 0);
    for (std::int32_t i = 0; i < kLeaves; ++i) {
      const std::int32_t kind = i * i % (resources + 2) - 2;
      exclusion.push_back(static_cast<std::int16_t>(kind));
      if (kind >= 0) ++expected[static_cast<std::size_t>(kind)];
    }
    RunOnTeams([&](const TeamRunner& runner) {
      std::vector<std::int64_t> limited_by(expected.size(), 50);
      std::int64_t outside = 50;
      runner.Run([&](auto& team) {
        CountExclusions(team, exclusion.data(), kLeaves, {limited_by.data(), &outside, resources});
      });
      EXPECT_EQ(limited_by, expected);
      EXPECT_EQ(outside, std::ranges::count(exclusion, kOutsideDomain));
    });
  }
}

std::vector<Count> LayerFits(const TeamRunner& runner, const TreeView& tree, HandCounts& counts,
                             const SliceRule& slice, std::int32_t level) {
  return runner.Ask([&](auto& team) {
    std::vector<Count> fits(static_cast<std::size_t>(slice.layer_count));
    CountLayerFits(team, tree, counts.view(), StoredCounts{counts.view()}, slice, level,
                   fits.data());
    return fits;
  });
}

TEST(ExclusionsTest, R18_6_SlicesPerLayerUnderTheBestDomain) {
  const HandTree tree({{1}, {2}, {2, 2}, {2, 2, 1, 1}});  // E8
  const SliceRule slice = Slices(tree.view(), {{1, 8}, {2, 4}, {3, 2}});
  HandCounts counts(tree.view(), slice, {5, 3, 3, 1, 8, 0});
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(LayerFits(runner, tree.view(), counts, slice, 0), ElementsAre(1, 3, 8));
  });
}

TEST(ExclusionsTest, R18_6_BestIsMostSlicesThenSmallestPath) {
  const HandTree tree({{3}, {1, 1, 1}});
  const SliceRule slice = Slices(tree.view(), {{0, 4}, {1, 2}});
  HandCounts counts(tree.view(), slice, {3, 7, 5});  // rounded to pairs: 2, 6, 4
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(LayerFits(runner, tree.view(), counts, slice, 0), ElementsAre(1, 3));
  });
}

TEST(ExclusionsTest, R18_6_NothingToCountWithoutLayersOrDomains) {
  const HandTree tree({{1}, {1}});
  HandCounts counts(tree.view(), Slices(tree.view()), {3});
  const HandTree empty({{0}, {}});
  HandCounts no_counts(empty.view());
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(LayerFits(runner, tree.view(), counts, Slices(tree.view()), 0), IsEmpty());
    EXPECT_THAT(
        LayerFits(runner, empty.view(), no_counts, Slices(empty.view(), {{0, 4}, {1, 2}}), 0),
        ElementsAre(0, 0));
  });
}

}  // namespace
}  // namespace espalier::exclusions_test
