// Learns from measured times how many jobs a batch must have to be decided sooner on the device.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace espalier {

// The smallest batch, in jobs, that goes to the device before anything was measured: by arithmetic
// a call costs a fixed 20 to 40 us there, and a few us per warm job on the CPU.
inline constexpr std::size_t kCrossoverBatch = 32;

// Chooses the side that decides a batch, which affects only the time and never the answer. Batches
// of 2^k to 2^(k+1) - 1 jobs are a class. A class runs on the side that kCrossoverBatch gives until
// both sides were measured, then on the one with the lower median of the last times, as the first
// batches anywhere are slow. When a class changes sides, larger ones not yet measured on both sides
// move to the device with it, or smaller ones to the CPU. A class visits the other side once its
// own is well measured, and then from time to time, so that visits take about one part in
// kVisitShare of its time: a few batches in a row, because the first ones find stale counts there.
// Single jobs, such as requests in order, always go to the CPU, which was told to prepare for them.
// Not thread-safe.
class Crossover {
 public:
  enum class Side { kCpu, kDevice };

  static constexpr int kVisit = 4;         // batches
  static constexpr int kVisitShare = 32;   // time on the own side for each part of a visit
  static constexpr int kMostMeasured = 7;  // times kept for each side

  Crossover();

  // Returns the side that decides the next batch of `jobs`.
  Side Choose(std::size_t jobs);

  // Records that a batch took `time` on `side`, without waiting for the device. More than a minute
  // counts as a minute.
  void Learn(Side side, std::size_t jobs, std::chrono::nanoseconds time);

  // Returns the smallest number of jobs, a power of two, from which on batches go to the device,
  // visits aside.
  std::size_t smallest_batch() const;

 private:
  // The last times a job took, in 2^-20 ns.
  struct Times {
    std::array<std::int64_t, kMostMeasured> last = {};
    int count = 0;            // of `last`
    int next = 0;             // index to be overwritten
    std::int64_t median = 0;  // the lower of two

    void Add(std::int64_t time);
  };
  struct SizeClass {
    Times cpu;
    Times device;
    Side home = Side::kCpu;
    std::int64_t time_at_home = 0;  // since the last visit, of one job per batch, as in Times
    int visits_left = 0;            // batches

    Times& at(Side side) { return side == Side::kCpu ? cpu : device; }
    bool measured() const { return cpu.count > 0 && device.count > 0; }
    void MoveTo(Side side);
  };

  std::array<SizeClass, std::numeric_limits<std::size_t>::digits> classes_;  // by log2 of jobs
};

}  // namespace espalier
