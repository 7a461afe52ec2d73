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

  // Makes evaluations in order, each on the state with the placements before it booked, and waits
  // for the device: as many of the first ones as one launch may, none where the first is not for
  // this. The state stays as it is. Errors are as above.
  DeviceResult<PlacementColumns> EvaluateInOrder(std::span<const PlacementJob> jobs,
                                                 std::span<const Evaluation> asked);

 private:
  // Returns the state's mirror, brought up to date.
  DeviceResult<StateMirror*> Mirror(const FlavorState& state);
  // Makes asked[i] for all `indices`, which are of jobs on one state.
  DeviceResult<void> EvaluateState(std::span<const PlacementJob> jobs,
                                   std::span<const Evaluation> asked,
                                   std::span<const std::size_t> indices, DeviceAnswers& answers);

  std::unique_ptr<Device> device_;
  std::size_t counts_bytes_;  // limit of a wave's counts, and of the cached ones
  std::list<std::unique_ptr<StateMirror>> mirrors_;  // most recently used first
  DeviceCountsCache counts_cache_;
  Workspaces workspaces_;        // of thread blocks
  Workspaces small_workspaces_;  // of warps
  WaveMemory wave_memory_;
  InOrderBuffers in_order_;
};

}  // namespace espalier
