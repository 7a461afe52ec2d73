// A device whose work takes no time, for measuring what the host does around a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/cuda/device.hpp"

namespace espalier {

// Counts what a device is asked for in one pass of work, and keeps what it copied to the host. It
// is shared by the device and by whoever measures, who says what it is to do next.
class ReplayedWork {
 public:
  enum class Mode {
    kDo,      // the device works
    kRecord,  // it works, and what it copies to the host is kept
    kReplay,  // it does nothing: copies to the host bring what was kept
  };

  // Begins a pass. One that records forgets the pass that was recorded before; one that replays has
  // to ask for the same in the same order.
  void Begin(Mode mode);

  Mode mode() const { return mode_; }
  // Work of the pass so far.
  std::int64_t launches = 0;
  std::int64_t copies = 0;       // both ways, and clears
  std::int64_t bytes_there = 0;  // to the device
  std::int64_t bytes_back = 0;
  std::int64_t allocations = 0;  // on the device, and pinned ones

  // Keeps what was copied to `at` on the host.
  void Keep(const void* at, std::size_t bytes);
  // Returns false where the recorded pass copied something else here. A GPU writes what it copies
  // without the host: nothing is written where the same bytes still are from the recorded pass,
  // which is so if the pass copied to no address twice.
  bool BringBack(void* to, std::size_t bytes);

 private:
  struct Kept {
    const void* at = nullptr;
    std::vector<std::byte> bytes;
  };

  Mode mode_ = Mode::kDo;
  std::vector<Kept> kept_;
  bool each_once_ = true;  // no address is in kept_ twice
  std::size_t next_ = 0;   // of kept_, in a replay
};

// Makes a device that is `device` but for passes that replay: then launches and copies to it are
// counted and dropped. `work` must outlive it. Error of Synchronize, kLost: a replay asked for
// something that was not recorded.
std::unique_ptr<Device> MakeReplayedDevice(std::unique_ptr<Device> device, ReplayedWork& work);

}  // namespace espalier
