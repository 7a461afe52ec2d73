#include "kernels/views.hpp"

#include <type_traits>

#include <gtest/gtest.h>

#include "tests/kernels/trees.hpp"

namespace espalier::views_test {
namespace {

static_assert(std::is_trivially_copyable_v<TreeView>);
static_assert(std::is_trivially_copyable_v<CountsView>);
static_assert(std::is_trivially_copyable_v<PlacementQuery>);
static_assert(!std::is_convertible_v<std::int32_t, LeafId>, "ids are made on purpose");
static_assert(!std::is_convertible_v<LeafId, DomainId>, "ids of two kinds never mix");

TEST(ViewsTest, DescendantsOfARunAreARun) {
  const HandTree tree({{2}, {2, 1}, {3, 1, 2}});  // domains: 0-1, 2-4, 5-10
  const TreeView view = tree.view();
  EXPECT_EQ(view.leaf_count(), 6);
  const auto run = [&](DomainRange range, std::int32_t from, std::int32_t to) {
    const DomainRange found = Descendants(view, range, from, to);
    return std::pair(found.begin, found.end);
  };
  EXPECT_EQ(run({0, 1}, 0, 0), std::pair(0, 1));
  EXPECT_EQ(run({0, 1}, 0, 1), std::pair(2, 4));
  EXPECT_EQ(run({0, 1}, 0, 2), std::pair(5, 9));
  EXPECT_EQ(run({1, 2}, 0, 2), std::pair(9, 11));
  EXPECT_EQ(run({3, 5}, 1, 2), std::pair(8, 11));
  EXPECT_EQ(run({3, 3}, 1, 2), std::pair(8, 8));
}

TEST(ViewsTest, CapacityByUnitAndLeader) {
  const Candidate c = Led(0, 4, 9, 3, 7);
  EXPECT_EQ(Capacity(c, Unit::kSlices, false), 4);
  EXPECT_EQ(Capacity(c, Unit::kSlices, true), 3);
  EXPECT_EQ(Capacity(c, Unit::kPods, false), 9);
  EXPECT_EQ(Capacity(c, Unit::kPods, true), 7);
}

TEST(ViewsTest, R6_9_SlicesRoundDown) {
  PlacementQuery query;
  query.pods = 11;
  query.slice.size = 4;
  EXPECT_EQ(query.slices(), 2);
}

}  // namespace
}  // namespace espalier::views_test
