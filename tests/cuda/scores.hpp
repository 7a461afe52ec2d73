// Entropies as balanced placement compares them (R14.15): doubles that must have the same bits on
// every compiler, processor and device.
#pragma once

#include <cstdint>

#include "kernels/decisions/log2.hpp"
#include "kernels/macros.hpp"

namespace espalier {

struct ScoresArgs {
  std::int32_t size = 0;
  double* scores = nullptr;  // [size]
};

template <class Team>
ESPALIER_HD void RunScores(Team& team, const ScoresArgs& args) {
  for (std::int32_t i = team.rank(); i < args.size; i += team.size()) {
    const std::int32_t parts = 1 + i % 13;
    const double total = i + parts * (parts + 1) / 2;
    double sum = 0.0;
    for (std::int32_t pods = 1; pods <= parts; ++pods) {
      const double share = static_cast<double>(pods) / total;
      sum -= share * Log2(share);
    }
    args.scores[i] = sum;
  }
}

void ScoresOnHost(const ScoresArgs& args);

// Computes scores on the device, in one block, and waits. The array is in host memory. Returns a
// text that says what failed; null: nothing.
const char* ScoresOnDevice(const ScoresArgs& args);

}  // namespace espalier
