#include "bench/scenarios/measure.hpp"

#include <algorithm>
#include <cmath>

namespace espalier {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Percentile(std::span<const double> sorted, double percent) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

void StageTimes::Add(const char* stage, double seconds) {
  auto it = std::ranges::find(stages_, stage, &Stage::name);
  if (it == stages_.end()) it = stages_.insert(it, Stage{stage, {}});
  it->seconds.push_back(seconds);
}

std::vector<Stage> StageTimes::Sorted() const {
  std::vector<Stage> sorted = stages_;
  for (Stage& stage : sorted) std::ranges::sort(stage.seconds);
  return sorted;
}

double StageTimes::last() const {
  double sum = 0;
  for (const Stage& stage : stages_) sum += stage.seconds.back();
  return sum;
}

std::vector<Stage> Repeat(const RepeatOptions& options,
                          const std::function<void(StageTimes&)>& run) {
  constexpr int kWarmUp = 3;
  constexpr std::size_t kRepeats = 30;
  constexpr std::size_t kShortRepeats = 1000;
  constexpr std::size_t kLeast = 3;
  constexpr double kShort = 1e-3;
  const double start = Now();
  const bool fixed = options.repeats > 0;
  StageTimes times;
  for (int i = 0; i < (fixed ? std::min(kWarmUp, options.repeats - 1) : kWarmUp); ++i) {
    run(times);
    if (!fixed && Now() - start > options.seconds / 4) break;
  }
  times.Clear();
  double measured = 0;
  for (;;) {
    run(times);
    measured += times.last();
    const std::size_t done = times.repeats();
    if (fixed) {
      if (done >= static_cast<std::size_t>(options.repeats)) break;
      continue;
    }
    const bool short_run = measured / static_cast<double>(done) < kShort;
    if (done >= (short_run ? kShortRepeats : kRepeats)) break;
    if (done >= kLeast && Now() - start > options.seconds) break;
  }
  return times.Sorted();
}

}  // namespace espalier
