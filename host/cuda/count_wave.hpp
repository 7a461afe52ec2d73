// Counts jobs of one state together on the device and copies the counts back, for questions about
// every domain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/cuda/device.hpp"
#include "host/cuda/device_counts.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/cuda/state_mirror.hpp"
#include "host/cuda/wave.hpp"
#include "host/cuda/wave_counts.hpp"
#include "host/engine/backend.hpp"

namespace espalier {

class CountWave {
 public:
  // Makes an empty wave of a table of jobs, whose counts take no more than so many bytes. The
  // mirror must be up to date with `state`, that of each job which is added.
  CountWave(Device& device, StateMirror& mirror, const FlavorState& state,
            std::span<const PlacementJob> jobs, std::size_t max_bytes);

  // Adds the job with this index. Returns false, and adds nothing, where there is no room for its
  // counts beside others.
  DeviceResult<bool> Add(std::size_t index);

  // Counts all jobs anew, waits for the device, and calls `visit` for each, several at a time.
  DeviceResult<void> Run(WaveMemory& memory, const CountsVisitor& visit);

 private:
  struct Member {
    std::size_t index = 0;
    std::shared_ptr<DeviceCounts> counts;  // in the memory of the wave's answers
  };

  Device* device_;
  std::span<const PlacementJob> jobs_;
  std::size_t max_bytes_;
  WaveCounts counts_;
  std::vector<Member> members_;
  Packer size_;  // of all counts
};

}  // namespace espalier
