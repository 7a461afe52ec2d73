#include "kernels/decisions/select_taken.hpp"

#include <iterator>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/generated/random.hpp"
#include "tests/kernels/teams.hpp"

namespace espalier::select_taken_test {
namespace {

// Position, how it is taken, how many are taken before and at the bound and last ones after it.
using TakenOne = std::tuple<std::int32_t, Taking, std::int32_t, std::int32_t, std::int32_t>;

std::vector<TakenOne> Expected(const std::vector<Taking>& takings, TakingState& state) {
  std::vector<TakenOne> taken;
  for (std::size_t i = 0; i < takings.size(); ++i) {
    if (takings[i] == Taking::kNot) continue;
    if (takings[i] == Taking::kAtBound && state.at_bound == 0) continue;
    if (takings[i] == Taking::kLast && state.last == 0) continue;
    if (takings[i] == Taking::kAtBound) --state.at_bound;
    if (takings[i] == Taking::kLast) --state.last;
    taken.emplace_back(i, takings[i], state.taken++, state.at_bound, state.last);
  }
  return taken;
}

TEST(SelectTakenTest, IsOneDomainAfterTheOther) {
  Random random(31);
  std::vector<std::int32_t> sizes(std::begin(kAwkwardSizes), std::end(kAwkwardSizes));
  // Around the steps of one lane and of seven.
  for (const std::int32_t size : {63, 64, 65, 128, 447, 448, 449, 1500}) sizes.push_back(size);
  for (const std::int32_t size : sizes) {
    for (int round = 0; round < 6; ++round) {
      std::vector<Taking> takings;
      for (std::int32_t i = 0; i < size; ++i) {
        takings.push_back(static_cast<Taking>(random.Below(round == 0 ? 1 : 4)));
      }
      const TakingState before{5, static_cast<std::int32_t>(random.Below(40)),
                               static_cast<std::int32_t>(random.Below(2))};
      TakingState after = before;
      const std::vector<TakenOne> expected = Expected(takings, after);
      // Skips steps in which nothing can be taken.
      const auto skip = [&](std::int32_t i) {
        for (; i < size; i += kTakingRun) {
          for (std::int32_t j = i; j < i + kTakingRun && j < size; ++j) {
            if (takings[static_cast<std::size_t>(j)] != Taking::kNot) return i;
          }
        }
        return i;
      };
      RunOnTeams([&](const TeamRunner& runner) {
        std::vector<TakenOne> taken(expected.size());
        runner.Run([&](auto& team) {
          TakingState state = before;
          SelectTaken(
              team, size, [&](std::int32_t i) { return takings[static_cast<std::size_t>(i)]; },
              skip, state,
              [&](std::int32_t i, Taking taking, const TakingState& now) {
                taken.at(static_cast<std::size_t>(now.taken - before.taken)) = {
                    i, taking, now.taken, now.at_bound, now.last};
              });
          EXPECT_EQ(state.taken, after.taken);
          EXPECT_EQ(state.at_bound, after.at_bound);
          EXPECT_EQ(state.last, after.last);
        });
        EXPECT_EQ(taken, expected) << size << " domains";
      });
    }
  }
}

}  // namespace
}  // namespace espalier::select_taken_test
