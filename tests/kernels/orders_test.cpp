#include "kernels/decisions/orders.hpp"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/trees.hpp"

namespace espalier::orders_test {
namespace {

using ::testing::ElementsAre;

template <class Less>
std::vector<std::int32_t> Sorted(std::vector<Candidate> items, Less less) {
  std::ranges::sort(items, less);
  return Domains(ListOf(items));
}

TEST(OrdersTest, R9_2_LeaderOrderDecidesKeyByKey) {
  // domain: LD, UW, PW
  const std::vector<Candidate> items = {
      Plain(0, 9, 9),      // no leader: behind all that can hold one
      Led(1, 9, 9, 2, 4),  // UW 2
      Led(2, 9, 9, 3, 5),  // UW 3, PW 5
      Led(3, 9, 9, 3, 4),  // UW 3, PW 4
      Led(4, 9, 9, 3, 4),  // the same, later in path order
  };
  EXPECT_THAT(Sorted(items, LeaderOrder{}), ElementsAre(3, 4, 2, 1, 0));
  // Least-free-capacity turns the slices around and nothing else.
  EXPECT_THAT(Sorted(items, LeaderOrder{true}), ElementsAre(1, 3, 4, 2, 0));
}

TEST(OrdersTest, R9_2_AffinityComesBeforeCapacityAndAfterTheLeader) {
  std::vector<Candidate> items = {Led(0, 1, 1, 1, 1), Led(1, 9, 9, 9, 9), Plain(2, 9, 9, 100)};
  items[0].affinity = 10;
  EXPECT_THAT(Sorted(items, LeaderOrder{}), ElementsAre(0, 1, 2));
  EXPECT_THAT(Sorted(items, LeaderOrder{true}), ElementsAre(0, 1, 2));
}

TEST(OrdersTest, R9_3_PlainOrderDecidesKeyByKey) {
  const std::vector<Candidate> items = {Plain(0, 2, 8), Plain(1, 3, 7), Plain(2, 3, 6),
                                        Plain(3, 3, 6), Plain(4, 0, 1, 5)};
  EXPECT_THAT(Sorted(items, PlainOrder{}), ElementsAre(4, 2, 3, 1, 0));
  EXPECT_THAT(Sorted(items, PlainOrder{true}), ElementsAre(4, 0, 2, 3, 1));
}

TEST(OrdersTest, R9_7_BelowTheSliceLevelPodsAscend) {
  const std::vector<Candidate> hosts = {Plain(0, 0, 4), Plain(1, 0, 1), Plain(2, 0, 2)};
  EXPECT_THAT(Sorted(hosts, PlainOrder{}), ElementsAre(1, 2, 0));  // E5, rack r1
}

// A lane without a candidate of its own offers "none"; it must never win.
TEST(OrdersTest, NoneComesLast) {
  const Candidate none;
  const Candidate empty = Plain(7, 0, 0);
  for (const bool least_free : {false, true}) {
    EXPECT_TRUE(PlainOrder{least_free}(empty, none));
    EXPECT_FALSE(PlainOrder{least_free}(none, empty));
    EXPECT_FALSE(PlainOrder{least_free}(none, none));
    EXPECT_TRUE(LeaderOrder{least_free}(empty, none));
    EXPECT_FALSE(LeaderOrder{least_free}(none, empty));
    EXPECT_FALSE(LeaderOrder{least_free}(none, none));
  }
}

}  // namespace
}  // namespace espalier::orders_test
