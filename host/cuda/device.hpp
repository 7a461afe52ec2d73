// The interface of a device, implemented by a GPU and by a device that the host emulates.
//
// A device is one ordered queue of work. Copies and launches are queued and return at once; their
// host memory must stay unchanged until Synchronize, the only call that waits. Only one thread may
// use a device at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <tl/expected.hpp>

#include "kernels/cuda/count_blocks.hpp"
#include "kernels/cuda/decide_blocks.hpp"
#include "kernels/cuda/group_blocks.hpp"
#include "kernels/cuda/in_order_blocks.hpp"
#include "kernels/cuda/reading_blocks.hpp"

namespace espalier {

enum class DeviceFault {
  kNotCompiled,   // this build has no CUDA
  kNoDevice,      // there is no usable device; one may appear later
  kWrongDriver,   // the driver is missing or too old for this build
  kOutOfMemory,   // device or pinned memory is exhausted
  kLaunchFailed,  // a kernel was not accepted
  kLost,          // the device or its context is lost with all its memory
};

std::string_view Name(DeviceFault fault);

struct DeviceError {
  DeviceFault fault = DeviceFault::kLost;
  std::string message;
};

template <class T>
using DeviceResult = tl::expected<T, DeviceError>;

// A kernel with its arguments.
using KernelCall =
    std::variant<ScatterArgs, MoveShapesArgs, CountLeavesArgs, CountShapeBatchesArgs,
                 CountGroupsArgs, CountGroupBatchesArgs, CountClassesArgs, SumClassesArgs,
                 RollUpArgs, IndexArgs, ReadDomainsArgs, DecideArgs, DecideSmallArgs,
                 DecideInOrderArgs, ExclusionsArgs, ScanArgs, CompactArgs>;

inline constexpr std::size_t kKernels = std::variant_size_v<KernelCall>;

// Returns the name of the kernel with this index in KernelCall.
std::string_view KernelName(std::size_t kernel);

// Times that the kernels of a device took, by index in KernelCall.
class KernelTimes {
 public:
  struct Times {
    std::int64_t launches = 0;
    double milliseconds = 0;  // of all launches
    double longest = 0;       // milliseconds of the longest launch
  };

  void Add(std::size_t kernel, double milliseconds);
  const Times& operator[](std::size_t kernel) const { return times_[kernel]; }

 private:
  std::array<Times, kKernels> times_ = {};
};

// Time after which a device that has not finished counts as lost.
inline constexpr std::chrono::seconds kLongestWait{10};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view name() const = 0;
  // Returns how many thread blocks of the decide kernel run at the same time, at least 1.
  virtual std::int32_t concurrent_blocks() const = 0;
  // Returns how many warps of the kernel that decides small jobs run at the same time, at least 1.
  virtual std::int32_t concurrent_warps() const = 0;
  // Returns how many thread blocks of the kernel that decides in order run together, 0 where it
  // cannot run, and the bytes of memory that the lanes of each may share.
  virtual std::int32_t blocks_in_order() const = 0;
  virtual std::size_t block_memory_bytes() const = 0;
  // Returns the bytes that were free when the device was opened.
  virtual std::size_t free_memory_bytes() const = 0;

  virtual DeviceResult<void*> Allocate(std::size_t bytes) = 0;  // aligned to 256
  virtual void Free(void* memory) noexcept = 0;
  // Page-locks host memory, from and to which the device then copies directly.
  virtual DeviceResult<void> Pin(void* memory, std::size_t bytes) = 0;
  // Ends that. Returns false where the device may still use the memory, which must never be freed
  // then.
  virtual bool Unpin(void* memory) noexcept = 0;

  // Queues writing zeros to device memory.
  virtual DeviceResult<void> Clear(void* memory, std::size_t bytes) = 0;
  virtual DeviceResult<void> CopyToDevice(void* to, const void* from, std::size_t bytes) = 0;
  virtual DeviceResult<void> CopyToHost(void* to, const void* from, std::size_t bytes) = 0;

  // Queues kernels in this order. A sequence that is repeated with equal arguments may be recorded
  // and launched as one; see RepeatedLaunches.
  virtual DeviceResult<void> Launch(std::span<const KernelCall> calls) = 0;

  // Waits until everything queued is done, and reports errors that occurred meanwhile. Error kLost:
  // a GPU has not finished after kLongestWait.
  virtual DeviceResult<void> Synchronize() = 0;
};

}  // namespace espalier
