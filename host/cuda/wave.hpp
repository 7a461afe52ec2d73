// Jobs of one state that go through the device together: count what is stale, roll it up, decide,
// bring the answers back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/cuda/counts_rows.hpp"
#include "host/cuda/device.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/cuda/state_mirror.hpp"
#include "host/cuda/wave_rows.hpp"
#include "host/cuda/workspaces.hpp"
#include "host/engine/backend.hpp"

namespace espalier {

// Memory that one wave after the other uses.
struct WaveMemory {
  explicit WaveMemory(Device& device)
      : input(device), shares(device), answers(device), received(device), more(device) {}

  Upload input;
  DeviceMemory shares;  // as decided
  DeviceMemory answers;
  PinnedMemory received;  // answers, with the first shares
  PinnedMemory more;      // all shares, where those are not all
};

class Wave {
 public:
  // The mirror is up to date with `state`.
  Wave(Device& device, StateMirror& mirror, const FlavorState& state, std::size_t max_counts_bytes);

  // Adds jobs[index] of the state given, unless the wave is full; the first one always has room.
  DeviceResult<bool> Add(const PlacementJob& job, std::size_t index, CountsRows& rows);

  // Runs all jobs added and waits. Jobs the device has no room to decide end up in `declined`.
  DeviceResult<void> Run(const Workspaces& workspaces, WaveMemory& memory,
                         std::span<PlacementResult> results, std::vector<std::size_t>& declined);

 private:
  struct Member {
    const PlacementJob* job = nullptr;
    std::size_t index = 0;
    std::int32_t row = 0;
    std::int32_t share_capacity = 0;
    std::int64_t share_begin = 0;
  };
  // Where the input lies on the device.
  struct Input {
    const CountRow* rows = nullptr;
    const DecideJob* jobs = nullptr;
    std::int32_t* row_failed = nullptr;
  };
  // Where the answers lie on the device.
  struct Answers {
    std::int64_t* share_count = nullptr;  // [1]
    JobOutcome* outcomes = nullptr;       // [jobs]
    std::int64_t* exclusions = nullptr;   // see WaveRows
    std::size_t head_bytes = 0;           // everything before the shares
    Share* shares = nullptr;              // compacted; last, so that one copy brings all
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
  WaveRows rows_;
  std::vector<Member> members_;
  Input input_;
  Answers answers_;
  const std::byte* shares_ = nullptr;  // compacted, on the host
};

}  // namespace espalier
