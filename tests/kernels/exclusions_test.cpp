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

// Leaves that are ruled out by these, one after the other.
class RuledOut {
 public:
  RuledOut(const std::vector<std::int16_t>& exclusion, std::int32_t resources)
      : leaves_(exclusion.size()), resources_(static_cast<std::size_t>(resources)) {
    amounts_.assign(leaves_ * resources_, 1);
    matches_.assign(leaves_ / 64 + 1, ~std::uint64_t{0});
    inside_ = std::ranges::count_if(exclusion, [](auto e) { return e != kOutsideDomain; });
    // Those inside the domain come first, which changes no number.
    std::vector<std::int16_t> in_order = exclusion;
    std::stable_partition(in_order.begin(), in_order.end(),
                          [](auto e) { return e != kOutsideDomain; });
    for (std::size_t leaf = 0; leaf < leaves_; ++leaf) {
      const std::int16_t excluded = in_order[leaf];
      if (excluded >= 0) amounts_[static_cast<std::size_t>(excluded) * leaves_ + leaf] = 0;
      // Some that fail the filter as well.
      if (excluded == kNotExcluded && leaf % 2 == 0) {
        matches_[leaf / 64] &= ~(std::uint64_t{1} << (leaf % 64));
        if (resources_ > 0) amounts_[leaf] = 0;
      }
    }
    for (std::int32_t i = 0; i < resources; ++i) {
      columns_.push_back(i);
      requests_.push_back(1);
    }
  }

  // Returns by resource, and last for the domain, what several teams count of some leaves each.
  std::vector<std::int64_t> Count(const TeamRunner& runner) const {
    LeafInput input;
    input.capacity = {amounts_.data(), static_cast<std::int64_t>(leaves_)};
    input.workers = {static_cast<std::int32_t>(resources_), columns_.data(), requests_.data()};
    input.matches = matches_.data();
    input.domain = {0, static_cast<std::int32_t>(inside_)};
    std::vector<std::int64_t> counted(resources_ + 1, 50);  // of before
    const ExclusionView view{counted.data(), &counted.back(),
                             static_cast<std::int32_t>(resources_)};
    Clear(view);
    const auto end = static_cast<std::int32_t>(leaves_);
    for (const DomainRange part : {DomainRange{0, end / 3}, DomainRange{end / 3, end}}) {
      runner.Run([&](auto& team) { CountExclusions(team, input, part, view); });
    }
    return counted;
  }

 private:
  std::size_t leaves_;
  std::size_t resources_;
  std::ptrdiff_t inside_ = 0;
  std::vector<Amount> amounts_;
  std::vector<std::uint64_t> matches_;
  std::vector<std::int32_t> columns_;
  std::vector<Amount> requests_;
};

TEST(ExclusionsTest, R18_7_EachLeafCountsAtMostOnce) {
  const RuledOut leaves({0, kNotExcluded, 2, kOutsideDomain, 0, 2, 0}, 3);
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(leaves.Count(runner), ElementsAre(3, 0, 2, 1));
  });
}

TEST(ExclusionsTest, R18_7_AwkwardSizes) {
  for (const std::int32_t n : kAwkwardSizes) {
    std::vector<std::int16_t> exclusion;
    for (std::int32_t i = 0; i < n; ++i) {
      exclusion.push_back(static_cast<std::int16_t>(i % 4 - 2));  // -2, -1, 0, 1
    }
    const RuledOut leaves(exclusion, 2);
    RunOnTeams([&](const TeamRunner& runner) {
      EXPECT_THAT(leaves.Count(runner), ElementsAre((n + 1) / 4, n / 4, (n + 3) / 4));
    });
  }
}

// More kinds than each lane sums up.
TEST(ExclusionsTest, R18_7_ManyResources) {
  constexpr std::int32_t kLeaves = 1000;
  for (const std::int32_t resources : {7, 8, 15, 16, 30, 40}) {
    std::vector<std::int16_t> exclusion;
    std::vector<std::int64_t> expected(static_cast<std::size_t>(resources) + 1, 0);
    for (std::int32_t i = 0; i < kLeaves; ++i) {
      const std::int32_t kind = i * i % (resources + 2) - 2;
      exclusion.push_back(static_cast<std::int16_t>(kind));
      if (kind >= 0) ++expected[static_cast<std::size_t>(kind)];
      if (kind == kOutsideDomain) ++expected.back();
    }
    const RuledOut leaves(exclusion, resources);
    RunOnTeams([&](const TeamRunner& runner) { EXPECT_EQ(leaves.Count(runner), expected); });
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
