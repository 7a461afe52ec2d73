// Repeats a measurement until it says something, and what the times say.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace espalier {

// Seconds since some fixed moment.
double Now();

// The smallest of the values that at least `percent` percent of them do not exceed; `sorted` is
// ascending and not empty, 0 < percent <= 100.
double Percentile(std::span<const double> sorted, double percent);

// Times of one part of the work, one per repeat.
struct Stage {
  std::string name;             // resolve, compute, parse, pack, serialise and so on
  std::vector<double> seconds;  // ascending once measured
};

struct RepeatOptions {
  int repeats = 0;      // exactly so many; 0: as many as the rules of Repeat ask for
  double seconds = 10;  // at most about so long, with repeats == 0
};

// The parts of one run, timed by its repeats.
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
  // Ascending times, stages in the order they were first timed.
  std::vector<Stage> Sorted() const;
  // Sum of all stages' last times.
  double last() const;
  std::size_t repeats() const { return stages_.empty() ? 0 : stages_.front().seconds.size(); }

 private:
  std::vector<Stage> stages_;
};

// Three runs that do not count, then at least 30 that do, or 1,000 when one takes less than a
// millisecond; what would take longer than `seconds` in all ends early, after three at least.
// `run` times its stages.
std::vector<Stage> Repeat(const RepeatOptions& options,
                          const std::function<void(StageTimes&)>& run);

}  // namespace espalier
