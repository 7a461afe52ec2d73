// Rolled-up counts of one shape on one state, kept warm: after usage changed, only the blocks of
// leaves that changed and their ancestors are counted anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fallback_cpu/leaf_counter.hpp"
#include "fallback_cpu/scratch.hpp"
#include "host/engine/backend.hpp"

namespace espalier {

class ShapeCounts {
 public:
  // Brings the counts up to date with the job's state and applies the job's assumed usage. What was
  // counted before must have been for the same state and shape and the same kind of job.
  void Refresh(const PlacementJob& job);

  // The counts, with the affinity the job wants.
  CountsView View(const PlacementJob& job);

  // Leaves without room for one pod, per worker resource, and leaves outside the replacement domain
  // (R18.5). Counts the whole flavor once; from then on Refresh keeps the numbers per block.
  void CountExclusions(const PlacementJob& job, PlacementResult& result);

 private:
  void CountAll(const PlacementJob& job, const LeafCounter& counter);
  void CountBlocks(const PlacementJob& job, const LeafCounter& counter);
  void LimitBlock(const LeafCounter& counter, DomainRange leaves, std::int32_t block);

  CountsStorage storage_;
  bool counted_ = false;
  std::size_t log_position_ = 0;              // of FlavorState::changed_blocks
  std::vector<std::int32_t> assumed_blocks_;  // counted with usage assumed by the last job
  std::vector<std::int32_t> stale_;           // blocks, then their ancestors level by level
  std::vector<std::uint32_t> seen_;           // by inner domain: the refresh that met it last
  std::uint32_t refresh_ = 0;

  // Only after a first failure: leaves without room per block and resource, and their sums.
  bool limited_known_ = false;
  std::vector<std::int32_t> limited_of_block_;  // [block * resources + resource]
  std::vector<std::int64_t> limited_;           // [resource]
  std::int64_t outside_ = 0;
};

}  // namespace espalier
