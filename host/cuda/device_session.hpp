// Jobs on one device: its mirrors, warm counts and workspaces. Gone with the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "host/cuda/counts_rows.hpp"
#include "host/cuda/device.hpp"
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

  // Answers jobs[i] in results[i] and waits for the device. Answers the indices of jobs the device
  // has no room to decide; their results are not set. After an error no result means anything and
  // the session is of no further use.
  DeviceResult<std::vector<std::size_t>> Evaluate(std::span<const PlacementJob> jobs,
                                                  std::span<PlacementResult> results);

 private:
  // The state's mirror, up to date.
  DeviceResult<StateMirror*> Mirror(const FlavorState& state);
  // jobs[i] for all `indices`, which are of one state.
  DeviceResult<void> EvaluateState(std::span<const PlacementJob> jobs,
                                   std::span<const std::size_t> indices,
                                   std::span<PlacementResult> results,
                                   std::vector<std::size_t>& declined);

  std::unique_ptr<Device> device_;
  std::size_t counts_bytes_;                         // a wave's and the warm ones', each
  std::list<std::unique_ptr<StateMirror>> mirrors_;  // most recently used first
  CountsRows rows_;
  Workspaces workspaces_;
  WaveMemory wave_memory_;
};

}  // namespace espalier
