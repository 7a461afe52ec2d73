// chaos --minutes N [--seed S]: kills and stops servers for N minutes under controllers that race
// each other, and holds them to what the controllers know.
//
// Prints what happened so far after each round, and every problem with the seed of its round, which
// `--seed` runs first. Exit code 0: no problem; 1: some; 2: wrong arguments.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "tests/chaos/round.hpp"
#include "tests/minutes_and_seed.hpp"

namespace espalier::chaos {
namespace {

constexpr int kEpisodes = 4;
constexpr int kKills = 5;
constexpr std::int64_t kMostProblems = 50;

int Run(const MinutesAndSeed& options) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::minutes(options.minutes);
  Counts all;
  std::int64_t problems = 0;
  fmt::print("first seed {}\n", options.seed);
  for (std::uint64_t seed = options.seed; Clock::now() < end && problems < kMostProblems; ++seed) {
    RoundResult result;
    try {
      result = ChaosRound(seed, kEpisodes, kKills);
    } catch (const std::exception& error) {
      result.problems.push_back(error.what());
    }
    all += result.counts;
    problems += static_cast<std::int64_t>(result.problems.size());
    fmt::print("seed {}: {}\n", seed, all.Text());
    for (const std::string& problem : result.problems) fmt::print("  {}\n", problem);
    std::fflush(stdout);
  }
  return problems == 0 && all.clean() ? 0 : 1;
}

}  // namespace
}  // namespace espalier::chaos

int main(int argc, char** argv) {
  const auto options = espalier::ParseMinutesAndSeed(argc, argv);
  if (!options) {
    fmt::print(stderr, "usage: chaos --minutes N [--seed S]\n");
    return 2;
  }
  return espalier::chaos::Run(*options);
}
