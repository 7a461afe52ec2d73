// Evaluates jobs of one state together on the device: counts what is stale, rolls it up, decides,
// and copies the answers back, in columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/cuda/device.hpp"
#include "host/cuda/device_counts.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/cuda/job_work.hpp"
#include "host/cuda/known_jobs.hpp"
#include "host/cuda/pinned_memory.hpp"
#include "host/cuda/state_mirror.hpp"
#include "host/cuda/wave_counts.hpp"
#include "host/cuda/workspaces.hpp"
#include "host/engine/backend.hpp"

namespace espalier {

// Memory that consecutive waves share.
struct WaveMemory {
  explicit WaveMemory(Device& device)
      : input(device), tables(device), shares(device), answers(device), blocks(device) {}

  Upload input;
  DeviceMemory tables;  // of what leaves of a class hold
  DeviceMemory shares;  // in the order of the decisions, with gaps; and scratch memory
  DeviceMemory answers;
  AnswerBlocks blocks;           // answers on the host
  std::int64_t last_shares = 0;  // of the wave before
};

// Evaluations that one launch decides, dealt in turn to its teams of lanes, each of which has a
// workspace.
class DecidedTogether {
 public:
  explicit DecidedTogether(const Workspaces& workspaces)
      : workspaces_(&workspaces), steps_(static_cast<std::size_t>(workspaces.size()), 0) {}

  void Reserve(std::size_t evaluations) { rows_.reserve(evaluations); }

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
  static constexpr std::size_t kMaxJobs = std::size_t{1} << 14;
  static constexpr std::int64_t kMaxShares = std::int64_t{1} << 22;

  // Makes an empty wave of evaluations of jobs on one state, which the mirror is up to date with.
  // The workspaces are those of thread blocks and of warps; where there are none no evaluation may
  // be added.
  Wave(Device& device, StateMirror& mirror, const FlavorState& state, DeviceCountsCache& cache,
       const Workspaces& blocks, const Workspaces& warps);

  bool empty() const { return members_.empty(); }

  // Makes room for so many evaluations, or as many as a wave takes.
  void Reserve(std::size_t evaluations);

  // Adds the shape of a job, of which evaluations are added then. Returns false when there is no
  // room for it; there is for the first. `known` stays where it is until the wave was run.
  DeviceResult<bool> AddShape(const PlacementJob& job, KnownJob& known);
  bool HasShape(const KnownJob& known) const { return known.wave == cache_->wave(); }

  // Adds the evaluation with this index, with so many pods, of a job whose shape was added. Returns
  // false when the wave is full, or the team that would decide the evaluation has enough to do; the
  // first one always has room.
  bool Add(const KnownJob& known, Count pods, std::size_t index, const BoundedWork& work) {
    const std::int32_t shares = MostShares(leaves_, pods, known.decide.leader);
    DecidedTogether& decided = work.small ? small_ : wide_;
    if (!members_.empty()) {
      if (members_.size() == kMaxJobs || share_capacity_ + shares > kMaxShares) return false;
      if (!decided.HasRoom(work.steps)) return false;
    }
    decided.Add(static_cast<std::int32_t>(members_.size()), work.steps);
    members_.push_back({pods, static_cast<std::int32_t>(share_capacity_), known.number});
    indices_.push_back(index);
    share_capacity_ += shares;
    return true;
  }

  // Makes all evaluations that were added and waits. Writes their answers, in the order in which
  // they were added, without those for which the device has too little memory: their indices are
  // appended to `declined`, those of the others, in the order of the rows, become `decided`. Called
  // once.
  DeviceResult<void> Run(WaveMemory& memory, PlacementColumns& answers,
                         std::vector<std::size_t>& decided, std::vector<std::size_t>& declined);

 private:
  // Addresses of the input on the device.
  struct Input {
    const DecideShape* shapes = nullptr;
    const DecideJob* jobs = nullptr;
    const std::int32_t* wide = nullptr;  // rows
    const std::int32_t* small = nullptr;
    std::int32_t* failed = nullptr;
  };
  // Addresses of the answers on the device.
  struct Answers {
    AnswerColumns columns;
    std::int64_t* exclusions = nullptr;  // as FailedShapes
    std::size_t head_bytes = 0;          // everything before the shares
    Share* shares = nullptr;             // compacted; last, so that one copy brings everything
  };

  // The answers on the host, in blocks.
  struct Received {
    std::shared_ptr<std::byte> head;    // and the first shares
    std::shared_ptr<std::byte> shares;  // all of them
    const LeafShare* first_share = nullptr;
  };

  Answers LayOutAnswers(Packer& packer) const;
  FailedShapes Failed() const;
  DeviceResult<void> Send(WaveMemory& memory);
  DeviceResult<void> Launch();
  DeviceResult<Received> Receive(WaveMemory& memory);
  // Returns what finds the arrays of the answers on the host.
  CopyOnHost HeadOf(const Received& received) const;
  void Read(const Received& received, bool lend, PlacementColumns& answers) const;
  void ReadFailure(const Received& received, FailedPlacement& failed) const;

  Device* device_;
  StateMirror* mirror_;
  DeviceCountsCache* cache_;
  std::int32_t leaves_;
  std::int64_t share_capacity_ = 0;
  std::int32_t layers_ = 0;     // the most that a shape has
  std::int32_t resources_ = 0;  // the same
  DecidedTogether wide_;        // by thread blocks
  DecidedTogether small_;       // by warps
  WaveCounts counts_;
  std::vector<DecideShape> shapes_;
  std::vector<const KnownJob*> job_of_shape_;
  std::vector<DecideJob> members_;
  std::vector<std::size_t> indices_;  // of the members
  Input input_;
  std::byte* answers_begin_ = nullptr;
  Share* shares_ = nullptr;  // in WaveMemory, like the scratch memory
  std::byte* scan_scratch_ = nullptr;
  Answers answers_;
};

}  // namespace espalier
