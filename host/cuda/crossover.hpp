// From how many jobs on a batch is decided sooner on the device, learnt from what batches took.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace espalier {

// From this many jobs on the device is taken to be sooner before anything was measured: by
// arithmetic it costs a fixed 20 to 40 us a call, the CPU a few for a warm job.
inline constexpr std::size_t kCrossoverBatch = 32;

// Answers never depend on it, only when they come. Batches of 2^k to 2^(k+1) - 1 jobs are a class.
// A class runs on the side that kCrossoverBatch says until both sides were measured, then on the
// one whose median of the last few times is less: the first batches anywhere are slow and say
// little. When it moves, larger ones not yet measured on both sides move to the device with it, or
// smaller ones to the CPU. It visits the other side as soon as its own is known well, and then now
// and again so that visits take about one part in kVisitShare of its time: a few batches in a row,
// because the first ones find counts there out of date. Lone jobs, as requests in order are, always
// go to the CPU, which was told to prepare for them. Not thread-safe.
class Crossover {
 public:
  enum class Side { kCpu, kDevice };

  static constexpr int kVisit = 4;         // batches
  static constexpr int kVisitShare = 32;   // time at home for each part of it away
  static constexpr int kMostMeasured = 7;  // times that are kept of each side

  Crossover();

  // Where the next batch of `jobs` goes.
  Side Choose(std::size_t jobs);

  // A batch took `time` on `side`, waiting for the device excluded. More than a minute counts as a
  // minute.
  void Learn(Side side, std::size_t jobs, std::chrono::nanoseconds time);

  // Batches of at least this many jobs go to the device, visits aside; a power of two.
  std::size_t smallest_batch() const;

 private:
  // The last times a job took, in 2^-20 ns.
  struct Times {
    std::array<std::int64_t, kMostMeasured> last = {};
    int count = 0;            // of `last`
    int next = 0;             // to be overwritten
    std::int64_t median = 0;  // the lower of two

    void Add(std::int64_t time);
  };
  struct SizeClass {
    Times cpu;
    Times device;
    Side home = Side::kCpu;
    std::int64_t time_at_home = 0;  // since the last visit; as Times, a job of each batch
    int visits_left = 0;            // batches

    Times& at(Side side) { return side == Side::kCpu ? cpu : device; }
    bool measured() const { return cpu.count > 0 && device.count > 0; }
    void MoveTo(Side side);
  };

  std::array<SizeClass, std::numeric_limits<std::size_t>::digits> classes_;  // by log2 of jobs
};

}  // namespace espalier
