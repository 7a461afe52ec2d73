// Measures what this machine can do at best: the floors that figures are compared with.
#pragma once

#include <cstdint>
#include <string>

namespace espalier {

// Floors measured by the process that uses them, with its number of threads.
struct MachineFloors {
  int threads = 1;
  double bytes_per_second = 0;         // reading memory sequentially
  double cached_bytes_per_second = 0;  // reading the same kCachedBytes repeatedly
  double cells_per_second = 0;  // one multiplication and one minimum per cell, of cached data
  std::string counting_form;    // avx512, avx2 or plain
};

// Measures the floors in about half a second. `threads` >= 1.
MachineFloors MeasureFloors(int threads);

// Data of at most this many bytes is read at the speed of caches.
inline constexpr double kCachedBytes = 8 << 20;

// Returns the better of two measurements, floor by floor.
MachineFloors Better(const MachineFloors& a, const MachineFloors& b);

// The least work of one repeat of a scenario.
struct LeastWork {
  double cells = 0;  // comparisons of one shape with one resource of one node
  double bytes = 0;  // bytes that must be read or written at least once
};

// Returns the longer of the times for cells and bytes; 0 when there is no least work.
double FloorSeconds(const LeastWork& work, const MachineFloors& floors);

// Counts `nodes` nodes for eight requests of `resources` resources each, and adds the sum of the
// counts to sums[0..7]. `free` is resource-major, `inverse` is [resources * 8]. For MeasureFloors.
struct CountingLoop {
  void (*count)(const float* free, std::int64_t nodes, std::int64_t resources, const float* inverse,
                float* sums);
  const char* form;
};
CountingLoop BestCountingLoop();

}  // namespace espalier
