#include "kernels/decisions/tight_fit.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/teams.hpp"
#include "tests/kernels/trees.hpp"

namespace espalier::tight_fit_test {
namespace {

struct Question {
  Count need = 0;
  Count leaders = 0;
  Unit unit = Unit::kSlices;
  bool affinity = false;
};

void ExpectTightFit(std::vector<Candidate> items, const Question& q, std::int32_t position) {
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(runner.Ask([&](auto& team) {
      return TightFit(team, ListOf(items), q.need, q.leaders, q.unit, q.affinity);
    }),
              position);
  });
}

TEST(TightFitTest, R9_5_SmallestThatStillFits) {
  const std::vector<Candidate> items = {Plain(0, 9, 9), Plain(1, 7, 7), Plain(2, 5, 5),
                                        Plain(3, 2, 2)};
  ExpectTightFit(items, {.need = 6}, 1);
  ExpectTightFit(items, {.need = 5}, 2);
  ExpectTightFit(items, {.need = 0}, 3);
}

TEST(TightFitTest, R9_5_FirstOfEqualsWins) {
  ExpectTightFit({Plain(0, 9, 9), Plain(1, 5, 5), Plain(2, 5, 5), Plain(3, 5, 5)}, {.need = 4}, 1);
}

TEST(TightFitTest, R9_5_FirstElementWhenNothingQualifies) {
  ExpectTightFit({Plain(0, 3, 3), Plain(1, 2, 2)}, {.need = 4}, 0);
}

TEST(TightFitTest, R9_5_CountsPodsOrSlices) {
  const std::vector<Candidate> items = {Plain(0, 3, 12), Plain(1, 2, 13)};
  ExpectTightFit(items, {.need = 2, .unit = Unit::kSlices}, 1);
  ExpectTightFit(items, {.need = 2, .unit = Unit::kPods}, 0);
}

TEST(TightFitTest, R9_5_WithALeaderOnlyLeaderCapacityCounts) {
  const std::vector<Candidate> items = {Led(0, 9, 9, 8, 8), Plain(1, 4, 4), Led(2, 6, 6, 3, 3),
                                        Led(3, 7, 7, 5, 5)};
  ExpectTightFit(items, {.need = 4, .leaders = 1}, 3);
  ExpectTightFit(items, {.need = 4, .leaders = 0}, 1);
}

TEST(TightFitTest, R9_4_AffinityTierEndsAtTheFirstDifference) {
  const std::vector<Candidate> items = {Plain(0, 5, 5, 10), Plain(1, 4, 4, 10), Plain(2, 1, 1, 3),
                                        Plain(3, 1, 1, 10)};
  ExpectTightFit(items, {.need = 1, .affinity = true}, 1);
  ExpectTightFit(items, {.need = 1, .affinity = false}, 2);
}

TEST(TightFitTest, R9_4_TierLengthForAwkwardSizes) {
  for (const std::int32_t n : kAwkwardSizes) {
    for (const std::int32_t tier : {1, n / 2, n}) {
      if (tier < 1 || tier > n) continue;
      std::vector<Candidate> items;
      for (std::int32_t i = 0; i < n; ++i) items.push_back(Plain(i, 1, 1, i < tier ? 7 : 0));
      RunOnTeams([&](const TeamRunner& runner) {
        const auto length = [&](bool affinity) {
          return runner.Ask(
              [&](auto& team) { return AffinityTier(team, ListOf(items), affinity); });
        };
        EXPECT_EQ(length(true), tier);
        EXPECT_EQ(length(false), n);
      });
    }
  }
}

TEST(TightFitTest, R9_5_AwkwardSizes) {
  for (const std::int32_t n : kAwkwardSizes) {
    if (n == 0) continue;
    std::vector<Candidate> items;
    for (std::int32_t i = 0; i < n; ++i) items.push_back(Plain(i, n - i, n - i));
    ExpectTightFit(items, {.need = 1}, n - 1);
    ExpectTightFit(items, {.need = n}, 0);
    ExpectTightFit(items, {.need = (n + 1) / 2}, n - (n + 1) / 2);
  }
}

}  // namespace
}  // namespace espalier::tight_fit_test
