// The device answers random questions as the oracle and the CPU do. ESPALIER_SEEDS: how many, 500
// unless told.
#include <cstdlib>

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "tests/cuda/ask.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/differential/check.hpp"
#include "tests/differential/queue.hpp"

namespace espalier {
namespace {

using DeviceDifferential = DeviceTest;

long Seeds() {
  const char* wanted = std::getenv("ESPALIER_SEEDS");
  return wanted == nullptr ? 500 : std::atol(wanted);
}

TEST_F(DeviceDifferential, AgreesWithTheOracle) {
  for (long seed = 0; seed < Seeds(); ++seed) {
    const auto report = differential::CheckSeed(static_cast<std::uint64_t>(seed), backend_);
    ASSERT_EQ(report, std::nullopt) << *report;
  }
  EXPECT_EQ(backend_->status().faults, 0u);
}

// Requests in order are decided many at a time and answered as one after the other.
TEST_F(DeviceDifferential, InOrderAgreesWithTheCpu) {
  const auto cpu = MakeCpuBackend(1);
  for (long seed = 1; seed <= 4 * Seeds(); ++seed) {
    const auto queue = differential::GenerateQueue(static_cast<std::uint64_t>(seed), 16);
    const auto place = [&](const std::shared_ptr<Backend>& backend) {
      ClusterState state = Build(queue.instance.cluster);
      return Engine(backend, queue.instance.gates).PlaceInOrder(state, queue.requests);
    };
    ASSERT_EQ(place(backend_), place(cpu)) << "seed " << seed;
  }
  EXPECT_EQ(backend_->status().faults, 0u);
}

}  // namespace
}  // namespace espalier
