#include "host/cuda/crossover.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace espalier {
namespace {

// The estimate is as fine as the classes.
static_assert(std::has_single_bit(kCrossoverBatch));

constexpr std::uint64_t kLongest = std::uint64_t{1} << 36;  // ns: a minute, so that all else fits
constexpr int kFraction = 20;                               // bits
constexpr std::int64_t kMostAtHome = std::int64_t{1} << 62;

constexpr std::size_t ClassOf(std::size_t jobs) {
  return static_cast<std::size_t>(std::bit_width(jobs) - 1);
}

constexpr Crossover::Side Other(Crossover::Side side) {
  return side == Crossover::Side::kCpu ? Crossover::Side::kDevice : Crossover::Side::kCpu;
}

}  // namespace

void Crossover::Times::Add(std::int64_t time) {
  last[static_cast<std::size_t>(next)] = time;
  next = (next + 1) % kMostMeasured;
  count = std::min(count + 1, kMostMeasured);
  std::array<std::int64_t, kMostMeasured> sorted = last;
  const auto middle = sorted.begin() + (count - 1) / 2;
  std::nth_element(sorted.begin(), middle, sorted.begin() + count);
  median = *middle;
}

void Crossover::SizeClass::MoveTo(Side side) {
  home = side;
  time_at_home = 0;
  visits_left = 0;
}

Crossover::Crossover() {
  for (std::size_t i = ClassOf(kCrossoverBatch); i < classes_.size(); ++i) {
    classes_[i].home = Side::kDevice;
  }
}

Crossover::Side Crossover::Choose(std::size_t jobs) {
  if (jobs < 2) return Side::kCpu;
  SizeClass& sizes = classes_[ClassOf(jobs)];
  if (sizes.visits_left == 0) {
    const Times& away = sizes.at(Other(sizes.home));
    const bool due = away.count == 0 ? sizes.at(sizes.home).count == kMostMeasured
                                     : sizes.time_at_home / kVisit / kVisitShare >= away.median;
    if (!due) return sizes.home;
    sizes.visits_left = kVisit;
    sizes.time_at_home = 0;
  }
  --sizes.visits_left;
  return Other(sizes.home);
}

void Crossover::Learn(Side side, std::size_t jobs, std::chrono::nanoseconds time) {
  if (jobs < 2) return;
  SizeClass& sizes = classes_[ClassOf(jobs)];
  const auto whole = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 1));
  const auto a_job = static_cast<std::int64_t>((std::min(whole, kLongest) << kFraction) / jobs);
  sizes.at(side).Add(a_job);
  if (side == sizes.home) sizes.time_at_home = std::min(sizes.time_at_home + a_job, kMostAtHome);
  const Side away = Other(sizes.home);
  if (!sizes.measured() || sizes.at(away).median >= sizes.at(sizes.home).median) return;
  sizes.MoveTo(away);
  const bool to_device = away == Side::kDevice;
  const std::span all(classes_);
  for (SizeClass& other : to_device ? all.subspan(ClassOf(jobs)) : all.first(ClassOf(jobs))) {
    if (!other.measured()) other.MoveTo(away);
  }
}

std::size_t Crossover::smallest_batch() const {
  std::size_t i = classes_.size() - 1;  // no batch is as large
  while (i > 1 && classes_[i - 1].home == Side::kDevice) --i;
  return std::size_t{1} << i;
}

}  // namespace espalier
