// Evaluates jobs of one state together on the device: counts what is stale, rolls it up, decides,
// and copies the answers back, in columns.
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
  DeviceMemory shares;  // in the order of the decisions, with gaps; and scratch memory
  DeviceMemory answers;
  PinnedMemory received;         // the answers and the first shares
  PinnedMemory more;             // all shares, when the first are not all
  std::int64_t last_shares = 0;  // of the wave before
};

class Wave {
 public:
  // Makes an empty wave of evaluations of a table of jobs, which `blocks` thread blocks decide.
  // The mirror must be up to date with `state`, that of each job which is evaluated.
  Wave(Device& device, StateMirror& mirror, const FlavorState& state,
       std::span<const PlacementJob> jobs, std::size_t max_counts_bytes, std::int32_t blocks);

  bool empty() const { return members_.empty(); }

  // Makes room for so many evaluations, or as many as a wave takes.
  void Reserve(std::size_t evaluations);

  // Adds the evaluation with this index, which takes a thread block so many steps (JobWork).
  // Returns false when the wave is full, or the block that would decide the evaluation has enough
  // to do; the first one always has room.
  DeviceResult<bool> Add(const Evaluation& evaluation, std::size_t index, std::int64_t steps,
                         DeviceCountsCache& cache);

  // Makes all evaluations that were added and waits. Writes their answers, in the order in which
  // they were added, without those for which the device has too little memory: their indices are
  // appended to `declined`, those of the others, in the order of the rows, to `decided`.
  DeviceResult<void> Run(const Workspaces& workspaces, WaveMemory& memory,
                         PlacementColumns& answers, std::vector<std::size_t>& decided,
                         std::vector<std::size_t>& declined);

 private:
  // Addresses of the input on the device.
  struct Input {
    const DecideShape* shapes = nullptr;
    const DecideJob* jobs = nullptr;
    std::int32_t* shape_failed = nullptr;
  };
  // Addresses of the answers on the device.
  struct Answers {
    AnswerColumns columns;
    // For each shape one per worker resource, then one for leaves outside the replacement domain.
    std::int64_t* exclusions = nullptr;
    std::size_t head_bytes = 0;  // everything before the shares
    Share* shares = nullptr;     // compacted; last, so that one copy brings everything
  };

  DeviceResult<std::int32_t> ShapeOf(std::int32_t job, DeviceCountsCache& cache);
  Answers LayOutAnswers(Packer& packer) const;
  void PlaceExclusions();
  DeviceResult<void> Send(WaveMemory& memory);
  DeviceResult<void> Launch(const Workspaces& workspaces);
  // Returns the compacted shares, on the host, after everything else is in `memory.received`.
  DeviceResult<const LeafShare*> Receive(WaveMemory& memory);
  void Read(const WaveMemory& memory, const LeafShare* shares, PlacementColumns& answers) const;
  void ReadFailure(const WaveMemory& memory, FailedPlacement& failed) const;

  Device* device_;
  StateMirror* mirror_;
  const FlavorState* state_;
  std::span<const PlacementJob> jobs_;
  std::size_t max_counts_bytes_;
  std::int64_t share_capacity_ = 0;
  std::int32_t layers_ = 0;                // the most that a shape has
  std::vector<std::int64_t> block_steps_;  // of the jobs that each block decides
  std::size_t next_block_ = 0;             // that decides the next job
  WaveCounts counts_;
  std::vector<std::int32_t> shape_of_job_;  // -1: none yet
  std::vector<DecideShape> shapes_;
  std::vector<const PlacementJob*> job_of_shape_;
  std::vector<std::size_t> exclusions_of_shape_;  // where they begin
  std::size_t exclusions_size_ = 0;
  std::vector<DecideJob> members_;
  std::vector<std::size_t> indices_;  // of the members
  Input input_;
  Share* shares_ = nullptr;  // in WaveMemory, like the scratch memory
  std::byte* scan_scratch_ = nullptr;
  Answers answers_;
};

}  // namespace espalier
