// Describes the machine that a figure was measured on.
#pragma once

#include <cstdint>
#include <string>

namespace espalier {

struct MachineFacts {
  std::string cpu;  // model name of the processor
  int cores = 0;    // cores that this process may use
  std::int64_t memory_bytes = 0;
  std::string kernel;
};
MachineFacts ReadMachineFacts();

// Resets the peak, and returns it: the most memory, in bytes, that this process has held since the
// last reset.
void ResetPeakMemory();
std::int64_t PeakMemoryBytes();

}  // namespace espalier
