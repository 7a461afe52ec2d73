// The device and the oracle answer random questions alike. ESPALIER_SEEDS: how many, 500 unless
// told.
#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/cuda/device_under_test.hpp"
#include "tests/differential/check.hpp"

namespace espalier {
namespace {

using DeviceDifferential = DeviceTest;

TEST_F(DeviceDifferential, AgreesWithTheOracle) {
  const char* wanted = std::getenv("ESPALIER_SEEDS");
  const long seeds = wanted == nullptr ? 500 : std::atol(wanted);
  for (long seed = 0; seed < seeds; ++seed) {
    const auto report = differential::CheckSeed(static_cast<std::uint64_t>(seed), backend_);
    ASSERT_EQ(report, std::nullopt) << *report;
  }
  EXPECT_EQ(backend_->status().faults, 0u);
}

}  // namespace
}  // namespace espalier
