// Runs thousands of schedules against the model; a seed that fails is shown with the fewest steps
// that fail.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sanitizers.hpp"
#include "tests/simulation/schedule.hpp"

namespace espalier::simulation::simulation_test {
namespace {

#if defined(ESPALIER_SANITIZED)
constexpr std::uint64_t kSchedules = 500;
#else
constexpr std::uint64_t kSchedules = 2500;
#endif

class SimulationTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SimulationTest, AStoreIsAsItsModelSays) {
  Outcome all;
  for (std::uint64_t seed = GetParam() * kSchedules; seed < (GetParam() + 1) * kSchedules; ++seed) {
    const Schedule schedule = MakeSchedule(seed);
    const Outcome outcome = Simulate(schedule);
    if (!outcome.problem.empty()) {
      const Schedule least =
          Shrink(schedule, [](const Schedule& rest) { return !Simulate(rest).problem.empty(); });
      FAIL() << fmt::format("seed {}: {}\n{}", seed, Simulate(least).problem, ToText(least));
    }
    all.changed += outcome.changed;
    all.ended += outcome.ended;
    all.refused += outcome.refused;
    all.faults += outcome.faults;
  }
  // The schedules come to all of it.
  const auto often = static_cast<std::int64_t>(kSchedules);
  EXPECT_GT(all.changed, 4 * often);
  EXPECT_GT(all.ended, often / 4);
  EXPECT_GT(all.refused, often);
  EXPECT_GT(all.faults, often / 10);
}

INSTANTIATE_TEST_SUITE_P(Shards, SimulationTest, testing::Range<std::uint64_t>(0, 4));

// A failure is shown with the steps that it needs.
TEST(ShrinkTest, LeavesOutWhatIsNotNeeded) {
  const Schedule schedule = MakeSchedule(7);
  const auto has = [](const Schedule& steps, StepKind kind) {
    return std::ranges::count(steps, kind, &Step::kind) >= 2;
  };
  const Schedule least =
      Shrink(schedule, [&](const Schedule& rest) { return has(rest, StepKind::kDecide); });
  EXPECT_EQ(least.size(), 2U) << ToText(least);
  EXPECT_TRUE(has(least, StepKind::kDecide));
}

TEST(ScheduleTest, IsThatOfItsSeed) {
  EXPECT_EQ(MakeSchedule(3), MakeSchedule(3));
  EXPECT_NE(MakeSchedule(3), MakeSchedule(4));
}

}  // namespace
}  // namespace espalier::simulation::simulation_test
