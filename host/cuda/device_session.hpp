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
#include "host/cuda/state_mirror.hpp"
#include "host/cuda/wave.hpp"
#include "host/cuda/workspaces.hpp"
#include "host/engine/backend.hpp"

namespace espalier {

class DeviceSession {
 public:
  explicit DeviceSession(std::unique_ptr<Device> device);
  ~DeviceSession();  // waits for the device
  DeviceSession(const DeviceSession&) = delete;
  DeviceSession& operator=(const DeviceSession&) = delete;

  const Device& device() const { return *device_; }

  // Writes the answer of jobs[i] to results[i] and waits for the device. Returns the indices of
  // jobs for which the device has too little memory or that are too much work; their results are
  // not set. After an error all results are meaningless and the session must not be used again.
  DeviceResult<std::vector<std::size_t>> Evaluate(std::span<const PlacementJob> jobs,
                                                  std::span<PlacementResult> results);

 private:
  // Returns the state's mirror, brought up to date.
  DeviceResult<StateMirror*> Mirror(const FlavorState& state);
  // Evaluates jobs[i] for all `indices`, which are of one state.
  DeviceResult<void> EvaluateState(std::span<const PlacementJob> jobs,
                                   std::span<const std::size_t> indices,
                                   std::span<PlacementResult> results,
                                   std::vector<std::size_t>& declined);

  std::unique_ptr<Device> device_;
  std::size_t counts_bytes_;  // limit of a wave's counts, and of the cached ones
  std::list<std::unique_ptr<StateMirror>> mirrors_;  // most recently used first
  DeviceCountsCache counts_cache_;
  Workspaces workspaces_;
  WaveMemory wave_memory_;
};

}  // namespace espalier
