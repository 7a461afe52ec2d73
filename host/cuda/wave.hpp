// Jobs of one state that go through the device together: count what is stale, roll it up, decide,
// bring the answers back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/cuda/counts_rows.hpp"
#include "host/cuda/device.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/cuda/state_mirror.hpp"
#include "host/cuda/workspaces.hpp"
#include "host/engine/backend.hpp"

namespace espalier {

// Memory that one wave after the other uses.
struct WaveMemory {
  explicit WaveMemory(Device& device)
      : input(device), shares(device), answers(device), heads(device), compacted(device) {}

  Upload input;
  DeviceMemory shares;  // as decided
  DeviceMemory answers;
  PinnedMemory heads;      // answers without shares
  PinnedMemory compacted;  // shares
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
  struct Row {
    std::shared_ptr<CountsRow> counts;
    const PlacementJob* job = nullptr;  // one that uses it
    CapacityView capacity;
    FilterArrays filter;
    bool stale = true;
    // Assumed usage, flat.
    std::vector<std::int32_t> assumed_leaves;
    std::vector<Amount> assumed_amounts;
  };
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
    const CountRow* stale = nullptr;
    const DecideJob* jobs = nullptr;
    std::int32_t stale_count = 0;
    std::int32_t* row_failed = nullptr;
  };
  // Where the answers lie on the device.
  struct Answers {
    std::int64_t* share_count = nullptr;  // [1]
    JobOutcome* outcomes = nullptr;       // [jobs]
    std::int64_t* exclusions = nullptr;   // see exclusions_begin_
    Share* shares = nullptr;              // compacted
    std::size_t head_bytes = 0;           // everything before the shares
  };

  DeviceResult<std::int32_t> AddRow(const PlacementJob& job, std::shared_ptr<CountsRow> counts);
  std::size_t CurrentLog(const PlacementJob& job) const;
  CountRow Pack(const Row& row, std::size_t r, Packer& packer) const;
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
  std::size_t counts_bytes_ = 0;
  std::int64_t share_capacity_ = 0;
  std::vector<Row> rows_;
  std::unordered_map<const CountsRow*, std::int32_t> row_of_;
  std::vector<std::size_t> exclusions_begin_;  // by row: resources, then one for outside the domain
  std::size_t exclusions_size_ = 0;
  std::vector<Member> members_;
  Input input_;
  Answers answers_;
};

}  // namespace espalier
