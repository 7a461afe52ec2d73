// Remembers of the jobs of a batch what the next one needs of them: a queue that is nominated again
// has the same jobs at the same positions of its table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/cuda/device_counts.hpp"
#include "host/cuda/job_work.hpp"
#include "host/engine/backend.hpp"
#include "kernels/cuda/decide_blocks.hpp"

namespace espalier {

// Describes a job. Every evaluation reads the first 64 bytes, and only these.
struct alignas(64) KnownJob {
  // Returns whether all below is that of the job.
  bool IsOf(const PlacementJob& job) const;

  // In the batch and the wave that it was used in last.
  std::uint64_t batch = 0;
  std::uint64_t wave = 0;         // DeviceCountsCache::wave
  std::int32_t number = 0;        // among the shapes of the wave
  std::int32_t state_number = 0;  // in the order in which states come

  JobWork::Small small;  // once it is bounded
  DecideShape decide;    // on the counts

  bool bounded = false;
  Count bounded_pods = -1;  // with so many pods or fewer it takes at most
  std::int64_t steps = 0;   // so many steps of a thread block, which are few

  std::int32_t resources = 0;  // that its workers request
  std::int32_t layers = 0;     // of its slices

  std::weak_ptr<DeviceCounts> kept;  // those below, while the cache keeps them; for no other job
  DeviceCounts* counts = nullptr;

  // What tells jobs apart, with `decide`.
  std::uint64_t state = 0;          // FlavorState::identity; 0: no job
  const PodShape* shape = nullptr;  // whose address is not reused while the counts are kept
  std::shared_ptr<const NodeFilter> filter;
  bool simulate_empty = false;
};

// Not thread-safe.
class KnownJobs {
 public:
  // Begins a batch of evaluations of these jobs, which must not change until the next begins.
  void Begin(std::span<const PlacementJob> jobs);

  // Returns what is known of a job of the batch; the place is the same until the batch ends.
  KnownJob& Of(std::int32_t job) {
    KnownJob& known = known_[static_cast<std::size_t>(job)];
    if (known.batch != batch_) Open(jobs_[static_cast<std::size_t>(job)], known);
    return known;
  }

  // What holds for the jobs on one state that were asked for so far.
  struct OfState {
    bool balanced = false;   // some are
    bool unbounded = false;  // the work of some is not bounded yet
  };
  // Returns that by the number of the state.
  const std::vector<OfState>& states() const { return states_; }

 private:
  // Jobs that are remembered until the next batch.
  static constexpr std::size_t kMostKept = std::size_t{1} << 16;

  void Open(const PlacementJob& job, KnownJob& known);

  std::uint64_t batch_ = 0;
  std::span<const PlacementJob> jobs_;
  std::vector<KnownJob> known_;  // by position in the table
  std::vector<OfState> states_;
  std::unordered_map<std::uint64_t, std::int32_t> number_of_state_;  // by identity
};

}  // namespace espalier
