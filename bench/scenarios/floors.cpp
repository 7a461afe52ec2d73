#include "bench/scenarios/floors.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "bench/scenarios/measure.hpp"

namespace espalier {
namespace {

// Seconds that `work(thread)` takes on all threads at once, the best of several rounds.
double BestOf(int threads, int rounds, const std::function<void(int)>& work) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> waiting{threads};
    std::vector<double> begun(static_cast<std::size_t>(threads));
    std::vector<double> ended(static_cast<std::size_t>(threads));
    const auto run = [&](int thread) {
      --waiting;
      while (waiting.load() > 0) std::this_thread::yield();
      begun[static_cast<std::size_t>(thread)] = Now();
      work(thread);
      ended[static_cast<std::size_t>(thread)] = Now();
    };
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
    run(0);
    others.clear();
    best = std::min(best, *std::ranges::max_element(ended) - *std::ranges::min_element(begun));
  }
  return best;
}

// Reads `bytes` in all, each thread its part, `passes` times.
double BytesPerSecond(int threads, std::size_t bytes, int passes) {
  const std::size_t words_each = bytes / sizeof(std::uint64_t) / static_cast<std::size_t>(threads);
  std::vector<std::unique_ptr<std::uint64_t[]>> memory;
  for (int i = 0; i < threads; ++i) memory.push_back(std::make_unique<std::uint64_t[]>(words_each));
  std::atomic<std::uint64_t> kept{0};
  const double seconds = BestOf(threads, 5, [&](int thread) {
    const std::uint64_t* words = memory[static_cast<std::size_t>(thread)].get();
    std::uint64_t sums[8] = {};
    for (int pass = 0; pass < passes; ++pass) {
      for (std::size_t i = 0; i + 8 <= words_each; i += 8) {
        for (std::size_t lane = 0; lane < 8; ++lane) sums[lane] += words[i + lane];
      }
    }
    for (const std::uint64_t sum : sums) kept += sum;
  });
  return static_cast<double>(bytes) * passes / seconds;
}

double CellsPerSecond(int threads, const CountingLoop& loop) {
  constexpr std::int64_t kNodes = 1024;
  constexpr std::int64_t kResources = 8;
  constexpr std::int64_t kShapes = 8;
  constexpr int kPasses = 4000;
  std::vector<float> free(kNodes * kResources);
  std::vector<float> inverse(kResources * kShapes);
  for (std::size_t i = 0; i < free.size(); ++i) free[i] = static_cast<float>(i % 97);
  for (std::size_t i = 0; i < inverse.size(); ++i) inverse[i] = 1.0F / static_cast<float>(1 + i);
  std::atomic<float> kept{0};
  const double seconds = BestOf(threads, 5, [&](int) {
    float sums[kShapes] = {};
    for (int pass = 0; pass < kPasses; ++pass) {
      loop.count(free.data(), kNodes, kResources, inverse.data(), sums);
    }
    kept = kept + sums[0];
  });
  return static_cast<double>(threads) * kPasses * kNodes * kResources * kShapes / seconds;
}

}  // namespace

MachineFloors MeasureFloors(int threads) {
  const CountingLoop loop = BestCountingLoop();
  return {threads, BytesPerSecond(threads, std::size_t{128} << 20, 1),
          BytesPerSecond(threads, static_cast<std::size_t>(kCachedBytes), 16),
          CellsPerSecond(threads, loop), loop.form};
}

MachineFloors Better(const MachineFloors& a, const MachineFloors& b) {
  return {a.threads, std::max(a.bytes_per_second, b.bytes_per_second),
          std::max(a.cached_bytes_per_second, b.cached_bytes_per_second),
          std::max(a.cells_per_second, b.cells_per_second), a.counting_form};
}

double FloorSeconds(const LeastWork& work, const MachineFloors& floors) {
  const double read =
      work.bytes > kCachedBytes ? floors.bytes_per_second : floors.cached_bytes_per_second;
  return std::max(work.cells / floors.cells_per_second, work.bytes / read);
}

}  // namespace espalier
