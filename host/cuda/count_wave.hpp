// Counts jobs of one state together on the device, for questions about every domain, and copies
// back what is read of the counts, or all of them.
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
  // Makes an empty wave of a table of jobs with readings, as Backend::CountEach, whose counts take
  // no more than so many bytes. The mirror must be up to date with `state`, that of each job which
  // is added. What is given stays until the wave was run.
  CountWave(Device& device, StateMirror& mirror, const FlavorState& state,
            std::span<const PlacementJob> jobs, std::span<const DomainReading> readings,
            const CountsVisitor& visit, std::size_t max_bytes);

  // Adds the job with this index. Returns false, and adds nothing, where there is no room for its
  // counts, or for what is copied back, beside that of others.
  DeviceResult<bool> Add(std::size_t index);

  // Counts all jobs anew, waits for the device, makes the readings, and calls `visit` for each job
  // unless it is empty, several at a time.
  DeviceResult<void> Run(WaveMemory& memory);

 private:
  struct Member {
    std::size_t index = 0;
    std::span<const DomainReading> readings;
    std::shared_ptr<DeviceCounts> counts;  // in the memory of the wave's answers
    std::vector<ReadingOfShape> answers;   // as the device writes them, in the same memory
  };

  // Lay out the answers to the readings of a job, and its counts.
  void LayOutReadings(Member& member, Packer& packer) const;
  void LayOutCounts(Member& member, Packer& packer) const;
  // Packs the readings of all jobs; returns their address on the device.
  const ReadingOfShape* PackReadings(Packer& packer) const;
  ReadDomainsArgs ReadingArgs(const ReadingOfShape* readings) const;

  Device* device_;
  StateMirror* mirror_;
  std::span<const PlacementJob> jobs_;
  std::span<const DomainReading> readings_;
  const CountsVisitor* visit_;
  std::size_t max_bytes_;
  WaveCounts counts_;
  std::vector<Member> members_;
  Packer read_size_;    // of all answers to readings
  Packer counts_size_;  // of all counts
};

}  // namespace espalier
