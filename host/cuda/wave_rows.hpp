// The counts a wave decides on: one row for each shape on the wave's state, and the kernels that
// bring stale ones up to date.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "host/cuda/counts_rows.hpp"
#include "host/cuda/device.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/cuda/state_mirror.hpp"
#include "host/engine/backend.hpp"

namespace espalier {

class WaveRows {
 public:
  // The mirror is up to date with `state`.
  WaveRows(StateMirror& mirror, const FlavorState& state) : mirror_(&mirror), state_(&state) {}

  // The position of the row of this job, whose counts lie in `counts`.
  DeviceResult<std::int32_t> Add(const PlacementJob& job, std::shared_ptr<CountsRow> counts);

  std::int32_t size() const { return static_cast<std::int32_t>(rows_.size()); }
  std::size_t counts_bytes() const { return counts_bytes_; }
  // Scores by domain, on the device; null: none.
  const std::int64_t* Affinity(std::int32_t row) const { return At(row).filter.affinity; }

  // Exclusion counts of all rows lie in one array: of each row one per worker resource, then one
  // for leaves outside the replacement domain.
  std::size_t exclusions_size() const { return exclusions_size_; }
  std::size_t ExclusionsBegin(std::int32_t row) const { return At(row).exclusions_begin; }

  // Finds out what has to be counted; once all rows are added.
  void Prepare();
  // Sends the rows; `exclusions` is the array above on the device. Answers where they lie.
  const CountRow* Pack(std::int64_t* exclusions, Packer& packer);
  // Counts and rolls up what Pack sent.
  void AddCalls(std::vector<KernelCall>& calls) const;
  // The calls were made and waited for.
  void NoteCounted();

 private:
  struct Row {
    std::shared_ptr<CountsRow> counts;
    const PlacementJob* job = nullptr;  // one that uses it
    CapacityView capacity;
    FilterArrays filter;
    std::size_t exclusions_begin = 0;
    // Assumed usage, flat.
    std::vector<std::int32_t> assumed_leaves;
    std::vector<Amount> assumed_amounts;
  };
  // Stale rows of which the same leaves are counted; those that fit tiles come last.
  struct Group {
    std::vector<std::int32_t> rows;
    std::size_t first_tiled = 0;
    // Where they lie on the device.
    const CountRow* packed = nullptr;
    const CountTile* tiles = nullptr;
    std::int32_t tile_count = 0;
  };

  const Row& At(std::int32_t row) const { return rows_[static_cast<std::size_t>(row)]; }
  Stamp Latest(const Row& row) const;
  void FindChanges(Stamp since);
  CountRow PackRow(const Row& row, std::int64_t* exclusions, Packer& packer) const;
  void PackGroup(const std::vector<CountRow>& packed, Group& group, Packer& packer) const;
  void AddCalls(const Group& group, bool everywhere, std::vector<KernelCall>& calls) const;

  StateMirror* mirror_;
  const FlavorState* state_;
  std::vector<Row> rows_;
  std::unordered_map<const CountsRow*, std::int32_t> row_of_;
  std::size_t counts_bytes_ = 0;
  std::size_t exclusions_size_ = 0;

  Group whole_;    // every leaf
  Group changed_;  // leaves of blocks that changed, and their ancestors by level
  std::vector<std::int32_t> changed_leaves_;
  std::vector<std::vector<std::int32_t>> changed_domains_;
  // Where the two lie on the device.
  Items packed_leaves_;
  std::vector<Items> packed_domains_;
};

}  // namespace espalier
