// Tests whose removal lets a request fit: the engine answers as one who tries all from scratch.
#include "tests/differential/victims.hpp"

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"

namespace espalier::differential::victims_test {
namespace {

constexpr std::uint64_t kSeedsPerTest = 1000;
constexpr std::uint64_t kTests = 24;

class VictimsSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(VictimsSeeds, EngineAgreesWithOracle_R29_3) {
  const auto backend = MakeCpuBackend(1);
  const std::uint64_t first = GetParam() * kSeedsPerTest;
  for (std::uint64_t seed = first; seed < first + kSeedsPerTest; ++seed) {
    const auto report = CheckVictims(seed, backend);
    ASSERT_EQ(report, std::nullopt) << *report;
  }
}

INSTANTIATE_TEST_SUITE_P(Thousands, VictimsSeeds, testing::Range(std::uint64_t{0}, kTests));

// Instances are of use only where some fit at once, some later and some never.
TEST(GenerateVictims, MakesAllKindsOfAnswers) {
  const auto backend = MakeCpuBackend(1);
  int at_once = 0;
  int later = 0;
  int with_fewer = 0;
  int never = 0;
  for (std::uint64_t seed = 0; seed < kSeedsPerTest; ++seed) {
    const VictimsInstance made = GenerateVictims(seed);
    const auto state = ClusterState::Build(made.instance.cluster);
    ASSERT_TRUE(state);
    const auto found = FindPrefix(Engine(backend, made.instance.gates), *state,
                                  made.instance.request, made.victims);
    ASSERT_TRUE(found) << found.error().message;
    if (!found->fits) {
      ++never;
    } else if (found->prefix == 0) {
      ++at_once;
    } else {
      ++later;
      with_fewer += static_cast<int>(found->targets.size() < found->prefix);
    }
  }
  EXPECT_GT(at_once, 100);
  EXPECT_GT(later, 150);
  EXPECT_GT(with_fewer, 50);
  EXPECT_GT(never, 100);
}

}  // namespace
}  // namespace espalier::differential::victims_test
