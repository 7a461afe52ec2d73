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
#include "host/cuda/job_work.hpp"
#include "host/cuda/state_mirror.hpp"
#include "host/cuda/wave_counts.hpp"
#include "host/cuda/workspaces.hpp"
#include "host/engine/backend.hpp"

namespace espalier {

// Memory that consecutive waves share.
struct WaveMemory {
  explicit WaveMemory(Device& device)
      : input(device),
        tables(device),
        shares(device),
        answers(device),
        received(device),
        more(device) {}

  Upload input;
  DeviceMemory tables;  // of what leaves of a class hold
  DeviceMemory shares;  // in the order of the decisions, with gaps; and scratch memory
  DeviceMemory answers;
  PinnedMemory received;         // the answers and the first shares
  PinnedMemory more;             // all shares, when the first are not all
  std::int64_t last_shares = 0;  // of the wave before
};

// Evaluations that one launch decides, dealt in turn to its teams of lanes, each of which has a
// workspace.
class DecidedTogether {
 public:
  explicit DecidedTogether(const Workspaces& workspaces)
      : workspaces_(&workspaces), steps_(static_cast<std::size_t>(workspaces.size()), 0) {}

  // Returns whether the team whose turn it is may be given so many steps more.
  bool HasRoom(std::int64_t steps) const { return steps_[next_] + steps <= kMaxBlockSteps; }
  void Add(std::int32_t row, std::int64_t steps) {
    rows_.push_back(row);
    steps_[next_] += steps;
    if (++next_ == steps_.size()) next_ = 0;
  }

  const Workspaces& workspaces() const { return *workspaces_; }
  const std::vector<std::int32_t>& rows() const { return rows_; }

 private:
  const Workspaces* workspaces_;
  std::vector<std::int32_t> rows_;
  std::vector<std::int64_t> steps_;  // by team
  std::size_t next_ = 0;             // team, whose turn it is
};

class Wave {
 public:
  // Makes an empty wave of evaluations of a table of jobs. The mirror must be up to date with
  // `state`, that of each job which is evaluated. The workspaces are those of thread blocks and of
  // warps; where there are none no evaluation may be added.
  Wave(Device& device, StateMirror& mirror, const FlavorState& state,
       std::span<const PlacementJob> jobs, std::size_t max_counts_bytes, const Workspaces& blocks,
       const Workspaces& warps);

  bool empty() const { return members_.empty(); }

  // Makes room for so many evaluations, or as many as a wave takes.
  void Reserve(std::size_t evaluations);

  // Adds the evaluation with this index. Returns false when the wave is full, or the team that
  // would decide the evaluation has enough to do; the first one always has room.
  DeviceResult<bool> Add(const Evaluation& evaluation, std::size_t index, const BoundedWork& work,
                         DeviceCountsCache& cache);

  // Makes all evaluations that were added and waits. Writes their answers, in the order in which
  // they were added, without those for which the device has too little memory: their indices are
  // appended to `declined`, those of the others, in the order of the rows, to `decided`.
  DeviceResult<void> Run(WaveMemory& memory, PlacementColumns& answers,
                         std::vector<std::size_t>& decided, std::vector<std::size_t>& declined);

 private:
  // Addresses of the input on the device.
  struct Input {
    const DecideShape* shapes = nullptr;
    const DecideJob* jobs = nullptr;
    const std::int32_t* wide = nullptr;  // rows
    const std::int32_t* small = nullptr;
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
  void CompleteShapes();
  DeviceResult<void> Send(WaveMemory& memory);
  DeviceResult<void> Launch();
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
  std::int32_t layers_ = 0;  // the most that a shape has
  DecidedTogether wide_;     // by thread blocks
  DecidedTogether small_;    // by warps
  WaveCounts counts_;
  std::vector<std::int32_t> shape_of_job_;  // -1: none yet
  std::vector<DecideShape> shapes_;
  std::vector<const PlacementJob*> job_of_shape_;
  std::vector<std::int32_t> counts_of_shape_;     // entries of counts_
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
