// What this machine can do at best: the floors that figures are held against.
#pragma once

#include <cstdint>
#include <string>

namespace espalier {

// Measured by the process that uses them, with its number of threads.
struct MachineFloors {
  int threads = 1;
  double bytes_per_second = 0;         // reading memory in a row
  double cached_bytes_per_second = 0;  // the same of kCachedBytes in all, again and again
  double cells_per_second = 0;  // counting: one multiplication and one minimum a cell, data at hand
  std::string counting_form;    // avx512, avx2 or plain
};

// Takes about half a second. `threads` >= 1.
MachineFloors MeasureFloors(int threads);

// What is no larger than this is read at the speed of caches.
inline constexpr double kCachedBytes = 8 << 20;

// Keeps the better of two measurements.
MachineFloors Better(const MachineFloors& a, const MachineFloors& b);

// What must at least be done for one repeat of a scenario.
struct LeastWork {
  double cells = 0;  // amounts of one resource on one node that one shape has to be held against
  double bytes = 0;  // to be read or written at least once
};

// The longer of the two; 0 when there is no least work.
double FloorSeconds(const LeastWork& work, const MachineFloors& floors);

// Counts `nodes` nodes for eight requests of `resources` resources each: adds the sum of the counts
// to sums[0..7]. `free` is resource-major, `inverse` is [resources * 8]. For MeasureFloors.
struct CountingLoop {
  void (*count)(const float* free, std::int64_t nodes, std::int64_t resources, const float* inverse,
                float* sums);
  const char* form;
};
CountingLoop BestCountingLoop();

}  // namespace espalier
