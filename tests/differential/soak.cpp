// soak --minutes N [--seed S]: asks the engine and the oracle random questions for N minutes.
//
// Prints every difference with its seed and the shrunk instance as a line of the form of the
// recorded cases. Exit code 0: no difference; 1: some; 2: wrong arguments.
#include <chrono>
#include <cstdint>
#include <cstdio>

#include <fmt/format.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "tests/differential/check.hpp"
#include "tests/minutes_and_seed.hpp"

namespace espalier::differential {
namespace {

constexpr int kMostFailures = 20;

int Soak(const MinutesAndSeed& options) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::minutes(options.minutes);
  const auto backend = MakeCpuBackend(1);
  int failures = 0;
  std::uint64_t seed = options.seed;
  fmt::print("first seed {}\n", seed);
  for (; Clock::now() < end && failures < kMostFailures; ++seed) {
    const auto report = CheckSeed(seed, backend);
    if (!report) continue;
    ++failures;
    fmt::print("{}\n\n", *report);
    std::fflush(stdout);
  }
  fmt::print("{} instances, {} differences\n", seed - options.seed, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace espalier::differential

int main(int argc, char** argv) {
  const auto options = espalier::ParseMinutesAndSeed(argc, argv);
  if (!options) {
    fmt::print(stderr, "usage: soak --minutes N [--seed S]\n");
    return 2;
  }
  return espalier::differential::Soak(*options);
}
