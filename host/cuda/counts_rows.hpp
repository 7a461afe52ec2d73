// Rolled-up counts on the device, one row for each shape on a state, kept warm within a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "host/cuda/device.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/engine/backend.hpp"
#include "kernels/views.hpp"

namespace espalier {

// What a row counts with; equal keys may share one.
struct CountsRowKey {
  std::uint64_t state = 0;
  const Shape* shape = nullptr;
  bool simulate_empty = false;
  bool operator==(const CountsRowKey&) const = default;
};

struct CountsRow {
  CountsRow(Device& device, const PlacementJob& job) : shape(job.shape), memory(device) {}

  // Room for all arrays of the job's kind.
  DeviceResult<void> Allocate(const PlacementJob& job);

  std::shared_ptr<const Shape> shape;  // keeps the address in the key taken
  DeviceMemory memory;
  CountsView counts;
  bool counted = false;
  Stamp made_at = 0;  // the latest stamp of the capacity that was counted
};

// Bytes a row for this job takes.
std::size_t CountsRowBytes(const PlacementJob& job);

// Whether counts made for the job may serve others: usage assumed by one job only, or a part of the
// leaves, is nobody else's.
bool SharesCounts(const PlacementJob& job);

class CountsRows {
 public:
  CountsRows(Device& device, std::size_t max_bytes) : device_(&device), max_bytes_(max_bytes) {}

  // The row for a job, made when new. The least recently used ones give way; whoever holds one
  // keeps its memory.
  DeviceResult<std::shared_ptr<CountsRow>> Get(const PlacementJob& job);

 private:
  struct KeyHash {
    std::size_t operator()(const CountsRowKey& key) const;
  };
  struct Slot {
    CountsRowKey key;
    std::shared_ptr<CountsRow> row;
  };

  void MakeRoom(std::size_t bytes);

  Device* device_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::list<Slot> slots_;  // most recently used first
  std::unordered_map<CountsRowKey, std::list<Slot>::iterator, KeyHash> by_key_;
};

}  // namespace espalier
