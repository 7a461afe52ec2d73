// What a figure was measured on.
#pragma once

#include <cstdint>
#include <string>

namespace espalier {

struct MachineFacts {
  std::string cpu;  // the model the processor names
  int cores = 0;    // this process may use
  std::int64_t memory_bytes = 0;
  std::string kernel;
};
MachineFacts ReadMachineFacts();

// The most memory this process has held since the last reset, in bytes.
void ResetPeakMemory();
std::int64_t PeakMemoryBytes();

}  // namespace espalier
