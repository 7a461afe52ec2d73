// Random lives of elastic workloads: every step by the rules (W5, R21.13).
#include "tests/oracle/elastic_life.hpp"

#include <gtest/gtest.h>

namespace espalier::elastic_life_test {
namespace {

TEST(ElasticLifeTest, TenThousandStepsByTheRules) {
  constexpr std::int64_t kLives = 120;
  constexpr std::int64_t kSteps = 100;
  std::map<std::string, std::int64_t> seen;
  for (std::uint64_t seed = 1; seed <= kLives; ++seed) {
    Random random(seed);
    oracle::ElasticLife life(random);
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const std::string problem = life.Step();
      ASSERT_EQ(problem, "") << "seed " << seed << ", step " << step << ": " << life.last_step();
    }
    for (const auto& [what, count] : life.seen()) seen[what] += count;
  }
  // Nothing of it is missing from the lives.
  for (const char* what : {"none", "in-place", "new-slice", "slices-per-replica", "refused",
                           "admitted-slice", "crash", "folded", "evicted", "ungated",
                           "cycle: assumed", "cycle: replaced", "slice admitted by a cycle"}) {
    EXPECT_GT(seen[what], 20) << what;
  }
}

}  // namespace
}  // namespace espalier::elastic_life_test
