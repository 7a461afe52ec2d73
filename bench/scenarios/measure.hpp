// Repeats measurements until they are meaningful, and summarizes their times.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace espalier {

// Returns the seconds since some fixed moment.
double Now();

// Returns the smallest of the values that at least `percent` percent of them do not exceed;
// `sorted` is ascending and not empty, 0 < percent <= 100.
double Percentile(std::span<const double> sorted, double percent);

// Times of one part of the work, one per repeat.
struct Stage {
  std::string name;             // resolve, compute, parse, pack, serialise and so on
  std::vector<double> seconds;  // ascending once measured
};

struct RepeatOptions {
  int repeats = 0;      // exact number; 0: as many as the rules of Repeat say
  double seconds = 10;  // approximate maximum, when repeats == 0
};

// Times of the stages of a run, one per repeat.
class StageTimes {
 public:
  // Times `work` as the stage of that name.
  template <class Work>
  void Time(const char* stage, const Work& work) {
    const double start = Now();
    work();
    Add(stage, Now() - start);
  }
  void Add(const char* stage, double seconds);
  void Clear() { stages_.clear(); }
  // Returns ascending times; stages are in the order they were first timed.
  std::vector<Stage> Sorted() const;
  // Returns the sum of all stages' last times.
  double last() const;
  std::size_t repeats() const { return stages_.empty() ? 0 : stages_.front().seconds.size(); }

 private:
  std::vector<Stage> stages_;
};

// Runs three times without counting, then at least 30 times, or 1,000 when a run takes less than a
// millisecond; ends early, after three at least, when all would take longer than `seconds`. `run`
// times its stages.
std::vector<Stage> Repeat(const RepeatOptions& options,
                          const std::function<void(StageTimes&)>& run);

}  // namespace espalier
