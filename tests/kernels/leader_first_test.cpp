#include "kernels/decisions/leader_first.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/teams.hpp"
#include "tests/kernels/trees.hpp"

namespace espalier::leader_first_test {
namespace {

using ::testing::ElementsAreArray;

struct Need {
  Count units = 0;
  Count leaders = 1;
  Unit unit = Unit::kSlices;
};

void ExpectOrder(const std::vector<Candidate>& items, const Need& need,
                 const std::vector<std::int32_t>& domains) {
  RunOnTeams([&](const TeamRunner& runner) {
    std::vector<Candidate> list = items;
    const std::vector<std::int32_t> order = runner.Ask([&](auto& team) {
      LeaderFirst(team, ListOf(list), need.units, need.leaders, need.unit);
      return Domains(ListOf(list));
    });
    EXPECT_THAT(order, ElementsAreArray(domains));
  });
}

TEST(LeaderFirstTest, R11_1_NothingToDoWithoutALeaderOrAChoice) {
  const std::vector<Candidate> items = {Led(0, 4, 4, 0, 0), Led(1, 4, 4, 4, 4)};
  ExpectOrder(items, {.units = 8, .leaders = 0}, {0, 1});
  ExpectOrder({Led(0, 4, 4, 0, 0)}, {.units = 4}, {0});
  ExpectOrder({}, {.units = 4}, {});
}

TEST(LeaderFirstTest, R11_3_FirstDomainThatLeavesEnoughGoesFirst) {
  // E9: 7 units in all, 6 wanted; a would lose 2, b only 1.
  ExpectOrder({Led(0, 4, 4, 2, 2), Led(1, 3, 3, 2, 2)}, {.units = 6}, {1, 0});
  // E10: 7 of 7 wanted; r1 would lose 1, r2 nothing.
  ExpectOrder({Led(0, 4, 4, 3, 3), Led(1, 3, 3, 3, 3)}, {.units = 7}, {1, 0});
}

TEST(LeaderFirstTest, R11_3_TheOthersKeepTheirOrder) {
  ExpectOrder(
      {Led(3, 9, 9, 0, 0), Plain(1, 9, 9), Led(2, 9, 9, 9, 9), Plain(0, 9, 9), Led(4, 9, 9, 9, 9)},
      {.units = 45}, {2, 3, 1, 0, 4});
}

TEST(LeaderFirstTest, R11_3_UnchangedWhenTheFirstWillDoOrNobody) {
  const std::vector<Candidate> items = {Led(0, 4, 4, 3, 3), Led(1, 3, 3, 3, 3)};
  ExpectOrder(items, {.units = 6}, {0, 1});
  ExpectOrder(items, {.units = 8}, {0, 1});
  ExpectOrder({Plain(0, 4, 4), Plain(1, 3, 3)}, {.units = 1}, {0, 1});
}

TEST(LeaderFirstTest, R11_2_PenaltyInTheUnitThatIsTaken) {
  // The leader costs domain 0 a pod but no slice, domain 1 a slice but no pod.
  const std::vector<Candidate> items = {Led(0, 2, 5, 2, 4), Led(1, 2, 4, 1, 4)};
  ExpectOrder(items, {.units = 4, .unit = Unit::kSlices}, {0, 1});
  ExpectOrder(items, {.units = 9, .unit = Unit::kPods}, {1, 0});
}

TEST(LeaderFirstTest, R11_3_AwkwardSizes) {
  for (const std::int32_t n : kAwkwardSizes) {
    if (n < 2) continue;
    std::vector<Candidate> items;  // only the last one can take the leader
    std::vector<std::int32_t> promoted = {n - 1};
    for (std::int32_t i = 0; i < n; ++i) {
      items.push_back(i + 1 == n ? Led(i, 3, 3, 3, 3) : Led(i, 3, 3, 2, 2));
      if (i + 1 < n) promoted.push_back(i);
    }
    ExpectOrder(items, {.units = 3 * n}, promoted);
  }
}

}  // namespace
}  // namespace espalier::leader_first_test
