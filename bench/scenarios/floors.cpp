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

double BytesPerSecond(int threads) {
  constexpr std::size_t kWords = (std::size_t{64} << 20) / sizeof(std::uint64_t);  // per thread
  std::vector<std::unique_ptr<std::uint64_t[]>> memory;
  for (int i = 0; i < threads; ++i) memory.push_back(std::make_unique<std::uint64_t[]>(kWords));
  std::atomic<std::uint64_t> kept{0};
  const double seconds = BestOf(threads, 5, [&](int thread) {
    const std::uint64_t* words = memory[static_cast<std::size_t>(thread)].get();
    std::uint64_t sums[8] = {};
    for (std::size_t i = 0; i < kWords; i += 8) {
      for (std::size_t lane = 0; lane < 8; ++lane) sums[lane] += words[i + lane];
    }
    for (const std::uint64_t sum : sums) kept += sum;
  });
  return static_cast<double>(threads) * kWords * sizeof(std::uint64_t) / seconds;
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
  return {threads, BytesPerSecond(threads), CellsPerSecond(threads, loop), loop.form};
}

double FloorSeconds(const LeastWork& work, const MachineFloors& floors) {
  return std::max(work.cells / floors.cells_per_second, work.bytes / floors.bytes_per_second);
}

}  // namespace espalier
