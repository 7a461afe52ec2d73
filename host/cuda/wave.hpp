// Evaluates jobs of one state together on the device: counts what is stale, rolls it up, decides,
// and copies the answers back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/cuda/device.hpp"
#include "host/cuda/device_counts.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/cuda/state_mirror.hpp"
#include "host/cuda/wave_counts.hpp"
#include "host/cuda/workspaces.hpp"
#include "host/engine/backend.hpp"

namespace espalier {

// Memory that consecutive waves share.
struct WaveMemory {
  explicit WaveMemory(Device& device)
      : input(device), shares(device), answers(device), received(device), more(device) {}

  Upload input;
  DeviceMemory shares;  // in the order of the decisions, with gaps
  DeviceMemory answers;
  PinnedMemory received;  // the answers and the first shares
  PinnedMemory more;      // all shares, when the first are not all
};

class Wave {
 public:
  // Makes an empty wave, whose jobs `blocks` thread blocks decide. The mirror must be up to date
  // with `state`.
  Wave(Device& device, StateMirror& mirror, const FlavorState& state, std::size_t max_counts_bytes,
       std::int32_t blocks);

  bool empty() const { return members_.empty(); }

  // Adds the job with this index, which must be of the wave's state and takes a thread block so
  // many steps (JobWork). Returns false when the wave is full, or the block that would decide the
  // job has enough to do; the first job always has room.
  DeviceResult<bool> Add(const PlacementJob& job, std::size_t index, std::int64_t steps,
                         DeviceCountsCache& cache);

  // Runs all added jobs and waits. Appends the indices of jobs for which the device has too little
  // memory to `declined`.
  DeviceResult<void> Run(const Workspaces& workspaces, WaveMemory& memory,
                         std::span<PlacementResult> results, std::vector<std::size_t>& declined);

 private:
  struct Member {
    const PlacementJob* job = nullptr;
    std::size_t index = 0;
    std::int32_t entry = 0;  // of counts_
    std::int32_t share_capacity = 0;
    std::int64_t share_begin = 0;
  };
  // Addresses of the input on the device.
  struct Input {
    const CountJob* count_jobs = nullptr;
    const DecideJob* decide_jobs = nullptr;
    std::int32_t* count_job_failed = nullptr;
  };
  // Addresses of the answers on the device.
  struct Answers {
    std::int64_t* share_count = nullptr;  // [1]
    JobOutcome* outcomes = nullptr;       // [jobs]
    std::int64_t* exclusions = nullptr;   // see WaveCounts
    std::size_t head_bytes = 0;           // everything before the shares
    Share* shares = nullptr;              // compacted; last, so that one copy brings everything
  };

  Answers LayOutAnswers(Packer& packer) const;
  DeviceResult<void> Send(WaveMemory& memory);
  DeviceResult<void> Launch(const Workspaces& workspaces, WaveMemory& memory);
  DeviceResult<void> Receive(WaveMemory& memory);
  PlacementResult ResultOf(const Member& member, const JobOutcome& outcome,
                           const WaveMemory& memory) const;

  Device* device_;
  StateMirror* mirror_;
  const FlavorState* state_;
  std::size_t max_counts_bytes_;
  std::int64_t share_capacity_ = 0;
  std::vector<std::int64_t> block_steps_;  // of the jobs that each block decides
  WaveCounts counts_;
  std::vector<Member> members_;
  Input input_;
  Answers answers_;
  const std::byte* shares_ = nullptr;  // compacted, on the host
};

}  // namespace espalier
