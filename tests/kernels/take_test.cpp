#include "kernels/decisions/take.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/teams.hpp"
#include "tests/kernels/trees.hpp"

namespace espalier::take_test {
namespace {

using ::testing::ElementsAreArray;

// Takes from `items` behind the shares already there.
void ExpectTaken(const std::vector<Candidate>& items, const TakeOrder& order,
                 const std::vector<HandShare>& expected, const std::vector<Share>& before = {}) {
  RunOnTeams([&](const TeamRunner& runner) {
    std::vector<Candidate> list = items;
    std::vector<Share> memory = before;
    memory.resize(before.size() + items.size());
    const std::vector<HandShare> taken = runner.Ask([&](auto& team) {
      ShareList shares{memory.data(), static_cast<std::int32_t>(before.size())};
      Take(team, ListOf(list), order, shares);
      return Shares(shares);
    });
    EXPECT_THAT(taken, ElementsAreArray(expected));
  });
}

TEST(TakeTest, R12_2_LastDomainIsTheTightest) {
  // E1: x3 and x5 are used up, the last pod goes to the smallest that holds it.
  const std::vector<Candidate> hosts = {Plain(0, 3, 3), Plain(1, 3, 3), Plain(2, 2, 2),
                                        Plain(3, 1, 1)};
  ExpectTaken(hosts, {.pods = 7, .unit = Unit::kSlices}, {{0, 0, 3}, {1, 0, 3}, {3, 0, 1}});
}

TEST(TakeTest, R12_2_SlicesCarryTheirPods) {
  // E6a: six slices of two pods.
  const std::vector<Candidate> hosts = {Plain(4, 3, 6), Plain(2, 2, 4), Plain(3, 2, 5),
                                        Plain(0, 1, 2), Plain(1, 1, 3)};
  ExpectTaken(hosts, {.pods = 12, .size = 2, .unit = Unit::kSlices},
              {{4, 0, 6}, {2, 0, 4}, {0, 0, 2}});
}

TEST(TakeTest, R6_9_SurplusPodsAreNotTaken) {
  ExpectTaken({Plain(0, 3, 6), Plain(1, 2, 4)}, {.pods = 5, .size = 2, .unit = Unit::kSlices},
              {{1, 0, 4}});
}

TEST(TakeTest, R12_2_PodsIgnoreSlices) {
  ExpectTaken({Plain(0, 0, 1), Plain(1, 0, 2), Plain(2, 0, 4)},
              {.pods = 3, .size = 3, .unit = Unit::kPods}, {{0, 0, 1}, {1, 0, 2}});
}

TEST(TakeTest, R12_5_LeastFreeKeepsTheOrderOfTheList) {
  // E3a, and E6b with slices of two.
  ExpectTaken({Plain(2, 0, 0), Plain(0, 1, 1), Plain(1, 2, 2), Plain(3, 4, 4)},
              {.pods = 5, .unit = Unit::kSlices, .least_free = true},
              {{2, 0, 0}, {0, 0, 1}, {1, 0, 2}, {3, 0, 2}});
  ExpectTaken({Plain(0, 1, 2), Plain(1, 1, 3), Plain(2, 2, 4), Plain(3, 2, 5), Plain(4, 3, 6)},
              {.pods = 10, .size = 2, .unit = Unit::kSlices, .least_free = true},
              {{0, 0, 2}, {1, 0, 2}, {2, 0, 4}, {3, 0, 2}});
}

TEST(TakeTest, R12_1_LeaderIsPromotedFirst) {
  // E9, rack r1.
  ExpectTaken({Led(0, 4, 4, 2, 2), Led(1, 3, 3, 2, 2)},
              {.pods = 6, .leaders = 1, .unit = Unit::kSlices}, {{1, 1, 2}, {0, 0, 4}});
}

TEST(TakeTest, R12_2_LeaderAndWorkersInTheTightestDomainTogether) {
  ExpectTaken({Led(0, 8, 8, 7, 7), Led(1, 5, 5, 4, 4), Plain(2, 4, 4)},
              {.pods = 4, .leaders = 1, .unit = Unit::kSlices}, {{1, 1, 4}});
}

TEST(TakeTest, R12_2_LeaderAloneWhereNoWorkerFitsBesideIt) {
  ExpectTaken({Led(0, 2, 2, 0, 0), Plain(1, 3, 3)}, {.pods = 3, .leaders = 1, .unit = Unit::kPods},
              {{0, 1, 0}, {1, 0, 3}});
}

TEST(TakeTest, R12_6_NothingToPlaceVisitsTheSmallest) {
  const std::vector<Candidate> items = {Plain(0, 3, 3), Plain(1, 1, 1), Plain(2, 2, 2)};
  ExpectTaken(items, {.pods = 0, .unit = Unit::kSlices}, {{1, 0, 0}});
  ExpectTaken(items, {.pods = 0, .unit = Unit::kSlices, .least_free = true}, {{0, 0, 0}});
}

TEST(TakeTest, R12_4_ExhaustedListGivesNothing) {
  ExpectTaken({Plain(0, 2, 2), Plain(1, 1, 1)}, {.pods = 4, .unit = Unit::kSlices}, {});
  ExpectTaken({Plain(0, 2, 2)}, {.pods = 1, .leaders = 1, .unit = Unit::kSlices}, {});
  ExpectTaken({}, {.pods = 1}, {});
}

TEST(TakeTest, R13_3_AppendsToWhatOtherParentsGot) {
  ExpectTaken({Plain(5, 2, 2)}, {.pods = 2}, {{1, 0, 7}, {5, 0, 2}}, {{1, 0, 7}});
  ExpectTaken({Plain(5, 2, 2)}, {.pods = 3}, {{1, 0, 7}}, {{1, 0, 7}});  // R12.4
}

TEST(TakeTest, R9_4_TightFitStaysInTheAffinityTier) {
  // E16: two pods are left for the tier of affinity 10, although c could hold them more tightly.
  const std::vector<Candidate> hosts = {Plain(0, 2, 2, 15), Plain(1, 4, 4, 10), Plain(2, 1, 1, 10),
                                        Plain(3, 2, 2, 0)};
  ExpectTaken(hosts, {.pods = 4, .unit = Unit::kSlices, .affinity = true}, {{0, 0, 2}, {1, 0, 2}});
}

TEST(TakeTest, R12_2_AwkwardSizes) {
  for (const std::int32_t n : kAwkwardSizes) {
    if (n == 0) continue;
    std::vector<Candidate> items;
    std::vector<HandShare> all;
    for (std::int32_t i = 0; i < n; ++i) {
      items.push_back(Plain(i, 2, 2));
      all.emplace_back(i, 0, 2);
    }
    ExpectTaken(items, {.pods = 2 * n, .unit = Unit::kSlices}, all);
  }
}

}  // namespace
}  // namespace espalier::take_test
