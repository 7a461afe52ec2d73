// soak --minutes N [--seed S]: asks the engine and the oracle random questions for N minutes.
//
// Prints every difference with its seed and the shrunk instance as a line of the form of the
// recorded cases. Exit code 0: no difference; 1: some; 2: wrong arguments.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <random>
#include <string_view>

#include <fmt/format.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "tests/differential/check.hpp"

namespace espalier::differential {
namespace {

constexpr int kMostFailures = 20;

struct Options {
  std::uint64_t minutes = 0;
  std::uint64_t seed = 0;
};

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Options> ParseArguments(int argc, char** argv) {
  Options options;
  options.seed = std::uint64_t{std::random_device{}()} << 32;
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto value = ParseNumber(argv[i + 1]);
    const std::string_view name = argv[i];
    if (!value) return std::nullopt;
    if (name == "--minutes") {
      options.minutes = *value;
    } else if (name == "--seed") {
      options.seed = *value;
    } else {
      return std::nullopt;
    }
  }
  if (argc % 2 == 0 || options.minutes == 0) return std::nullopt;
  return options;
}

int Soak(const Options& options) {
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
  const auto options = espalier::differential::ParseArguments(argc, argv);
  if (!options) {
    fmt::print(stderr, "usage: soak --minutes N [--seed S]\n");
    return 2;
  }
  return espalier::differential::Soak(*options);
}
