// A device emulated by the host, so that the whole back end runs where there is no GPU: queued work
// is done at Synchronize, and each thread block of a kernel runs on a team of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "host/cuda/device.hpp"

namespace espalier {

struct EmulatedDeviceOptions {
  std::int32_t lanes = 1;              // threads of a thread block; 1 runs it on one that is there
  std::int32_t blocks_at_once = 1;     // threads that run the blocks of a kernel
  std::uint64_t block_order = 0;       // seed of the order that blocks begin in; 0: by position
  std::int32_t concurrent_blocks = 2;  // workspaces that the back end makes
  std::int32_t blocks_in_order = 2;    // threads, or teams of them, that run one kernel together
  std::size_t block_memory_bytes = std::size_t{16} << 20;  // of each of these
  std::size_t free_memory_bytes = std::size_t{2} << 30;    // as the back end is told
  bool guard_memory = false;     // makes host code that touches device memory crash
  bool poison_memory = false;    // fills new device memory with bytes that no array begins with
  int* replays = nullptr;        // counts sequences that ran from a recording
  KernelTimes* times = nullptr;  // gets the time of each kernel
};

std::unique_ptr<Device> MakeEmulatedDevice(const EmulatedDeviceOptions& options = {});

}  // namespace espalier
