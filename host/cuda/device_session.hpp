// Evaluates jobs on one device. Holds its mirrors, cached counts and workspaces, and is destroyed
// with the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "host/cuda/device.hpp"
#include "host/cuda/device_counts.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/cuda/in_order.hpp"
#include "host/cuda/job_work.hpp"
#include "host/cuda/known_jobs.hpp"
#include "host/cuda/state_mirror.hpp"
#include "host/cuda/wave.hpp"
#include "host/cuda/workspaces.hpp"
#include "host/engine/backend.hpp"

namespace espalier {

// The answers of a device in one or more columns, and what it left out.
struct DeviceAnswers {
  std::vector<PlacementColumns> parts;
  std::vector<std::vector<std::size_t>> decided;  // by part and row, the index of the evaluation
  // Indices of evaluations for which the device has too little memory or that are too much work.
  std::vector<std::size_t> declined;
};

class DeviceSession {
 public:
  explicit DeviceSession(std::unique_ptr<Device> device);
  ~DeviceSession();  // waits for the device
  DeviceSession(const DeviceSession&) = delete;
  DeviceSession& operator=(const DeviceSession&) = delete;

  const Device& device() const { return *device_; }

  // Makes evaluations of a table of jobs and waits for the device. After an error all answers are
  // meaningless and the session must not be used again.
  DeviceResult<DeviceAnswers> Evaluate(std::span<const PlacementJob> jobs,
                                       std::span<const Evaluation> asked);

  // Counts as Backend::CountEach and notes in `counted` the indices of the jobs that this was done
  // for, also before an error, after which the session must not be used again.
  DeviceResult<void> CountEach(std::span<const PlacementJob> jobs,
                               std::span<const DomainReading> readings, const CountsVisitor& visit,
                               std::vector<std::size_t>& counted);
  // Makes evaluations in order, each on the state with the placements before it booked, and waits
  // for the device: as many of the first ones as one launch may, none where the first is not for
  // this. The state stays as it is. Errors are as above.
  DeviceResult<PlacementColumns> EvaluateInOrder(std::span<const PlacementJob> jobs,
                                                 std::span<const Evaluation> asked);

 private:
  // Returns the state's mirror, brought up to date: what is queued for that must have been waited
  // for before the next call.
  DeviceResult<StateMirror*> Mirror(const FlavorState& state);
  // The evaluations of jobs on one state.
  struct OfState {
    std::vector<std::size_t> indices;  // of what is asked
    std::size_t small = 0;             // of these, as far as the work of their jobs is bounded
    KnownJobs::OfState jobs;
  };
  // Parts what is asked by states, in the order in which these come.
  std::vector<OfState> ByState(std::span<const Evaluation> asked);
  // Bounds the work of all jobs on a state.
  void Bound(const JobWork& work, std::span<const PlacementJob> jobs,
             std::span<const Evaluation> asked, OfState& of_state);
  // Makes the evaluations of a state.
  DeviceResult<void> EvaluateState(std::span<const PlacementJob> jobs,
                                   std::span<const Evaluation> asked, OfState& of_state,
                                   DeviceAnswers& answers);
  // Counts jobs[i] for all `indices`, which are on one state.
  DeviceResult<void> CountState(std::span<const PlacementJob> jobs,
                                std::span<const std::size_t> indices,
                                std::span<const DomainReading> readings, const CountsVisitor& visit,
                                std::vector<std::size_t>& counted);

  std::unique_ptr<Device> device_;
  std::list<std::unique_ptr<StateMirror>> mirrors_;  // most recently used first
  DeviceCountsCache counts_cache_;
  KnownJobs known_;
  Workspaces workspaces_;        // of thread blocks
  Workspaces small_workspaces_;  // of warps
  WaveMemory wave_memory_;
  InOrderBuffers in_order_;
};

}  // namespace espalier
