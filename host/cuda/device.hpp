// What the back end asks of a device. Two things implement it: a GPU, and the host playing one.
//
// A device is one ordered queue of work. Copies and launches are queued and return at once; their
// host memory must stay as it is until Synchronize, the only call that waits. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <tl/expected.hpp>

#include "kernels/cuda/decide_blocks.hpp"

namespace espalier {

enum class DeviceFault {
  kNotCompiled,   // this build has no CUDA
  kNoDevice,      // no usable device; it may appear later
  kWrongDriver,   // the driver is missing or too old for this build
  kOutOfMemory,   // device or pinned memory
  kLaunchFailed,  // a kernel was not accepted
  kLost,          // the device or its context is gone; all its memory with it
};

std::string_view Name(DeviceFault fault);

struct DeviceError {
  DeviceFault fault = DeviceFault::kLost;
  std::string message;
};

template <class T>
using DeviceResult = tl::expected<T, DeviceError>;

// One kernel with what it is given.
using KernelCall = std::variant<ScatterArgs, CountLeavesArgs, CountTilesArgs, RollUpArgs,
                                DecideArgs, ExclusionsArgs, OffsetsArgs, CompactArgs>;

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view name() const = 0;
  // Blocks of the decide kernel that run at the same time, at least 1.
  virtual std::int32_t concurrent_blocks() const = 0;
  virtual std::size_t memory_bytes() const = 0;  // in all

  virtual DeviceResult<void*> Allocate(std::size_t bytes) = 0;  // aligned to 256
  virtual void Free(void* memory) noexcept = 0;
  // Host memory that copies run from and to without a detour.
  virtual DeviceResult<void*> AllocatePinned(std::size_t bytes) = 0;
  virtual void FreePinned(void* memory) noexcept = 0;

  virtual DeviceResult<void> CopyToDevice(void* to, const void* from, std::size_t bytes) = 0;
  virtual DeviceResult<void> CopyToHost(void* to, const void* from, std::size_t bytes) = 0;

  // Queues kernels in this order. A sequence that comes again and again, equal to the last pointer,
  // may be kept and launched as one; see RepeatedLaunches.
  virtual DeviceResult<void> Launch(std::span<const KernelCall> calls) = 0;

  // Waits until everything queued is done; reports what went wrong meanwhile.
  virtual DeviceResult<void> Synchronize() = 0;
};

}  // namespace espalier
