// attack --minutes N [--seed S]: attacks servers with random content for N minutes.
//
// Prints every problem with the seed of its round, which `--seed` runs first. Exit code 0: no
// problem; 1: some; 2: wrong arguments.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "tests/attack/rounds.hpp"
#include "tests/minutes_and_seed.hpp"

namespace espalier::attack {
namespace {

constexpr int kMutatedCalls = 2000;
constexpr int kKills = 10;
constexpr int kMemoryBatches = 5;
constexpr int kMostFailures = 20;

// A round that cannot go on has a problem too.
Problems Try(Problems (*round)(std::uint64_t, int), std::uint64_t seed, int size) {
  try {
    return round(seed, size);
  } catch (const std::exception& error) {
    return {error.what()};
  }
}

int Attack(const MinutesAndSeed& options) {
  using Clock = std::chrono::steady_clock;
  struct Kind {
    const char* name;
    Problems (*round)(std::uint64_t, int);
    int size;
  };
  constexpr Kind kKinds[] = {{"mutated calls", MutationRound, kMutatedCalls},
                             {"kills", KillRound, kKills},
                             {"batches for memory", MemoryRound, kMemoryBatches}};
  const auto end = Clock::now() + std::chrono::minutes(options.minutes);
  int failures = 0;
  std::uint64_t seed = options.seed;
  fmt::print("first seed {}\n", seed);
  for (; Clock::now() < end && failures < kMostFailures; ++seed) {
    fmt::print("seed {}:", seed);
    for (const Kind& kind : kKinds) {
      const Problems problems = Try(kind.round, seed, kind.size);
      fmt::print(" {} {},", kind.size, kind.name);
      for (const std::string& problem : problems) fmt::print("\n  {}: {}\n", kind.name, problem);
      failures += problems.empty() ? 0 : 1;
      std::fflush(stdout);
    }
    fmt::print(" {} failed so far\n", failures);
  }
  fmt::print("{} rounds, {} failed\n", seed - options.seed, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace espalier::attack

int main(int argc, char** argv) {
  const auto options = espalier::ParseMinutesAndSeed(argc, argv);
  if (!options) {
    fmt::print(stderr, "usage: attack --minutes N [--seed S]\n");
    return 2;
  }
  return espalier::attack::Attack(*options);
}
