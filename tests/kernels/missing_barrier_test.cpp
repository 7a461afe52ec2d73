// Positive controls: decision text that breaks the Team contract is caught, so that the silence of
// the other tests means something.
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/team/thread_team.hpp"

namespace espalier::missing_barrier_test {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kThreadSanitizer = false;
#endif

// A collective under a condition that differs between lanes.
void DivergeAtACollective() {
  ThreadTeam::Run(3, [](ThreadTeam& team) {
    if (team.rank() == 1) {
      team.any(true);
    } else {
      team.sync();
    }
  });
}

// A lane that leaves before a collective of the others.
void LeaveEarly() {
  ThreadTeam::Run(3, [](ThreadTeam& team) {
    if (team.rank() == 2) return;
    team.sync();
  });
}

// Adds up a shared array right after filling it.
std::int64_t SumOfSquares(bool with_barrier) {
  constexpr std::int32_t kSize = 100;
  std::vector<std::int64_t> squares(kSize);
  std::vector<std::int64_t> sums(3);
  ThreadTeam::Run(3, [&](ThreadTeam& team) {
    for (std::int32_t i = team.rank(); i < kSize; i += team.size()) squares[i] = i * i;
    if (with_barrier) team.sync();
    for (std::int32_t i = 0; i < kSize; ++i) sums[team.rank()] += squares[i];
  });
  return sums[0];
}

TEST(MissingBarrierDeathTest, DivergingCollectivesAbort) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(DivergeAtACollective(), "diverging collectives: lines [0-9]+ and [0-9]+");
}

TEST(MissingBarrierDeathTest, LaneThatLeavesEarlyAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(LeaveEarly(), "diverging collectives");
}

TEST(MissingBarrierDeathTest, MissingSyncIsADataRace) {
  EXPECT_EQ(SumOfSquares(true), 328350);
  if (!kThreadSanitizer) GTEST_SKIP() << "only ThreadSanitizer sees it: cmake --preset tsan";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto failed = [](int status) { return !::testing::ExitedWithCode(0)(status); };
  EXPECT_EXIT({ std::exit(SumOfSquares(false) < 0); }, failed, "ThreadSanitizer: data race");
}

}  // namespace
}  // namespace espalier::missing_barrier_test
