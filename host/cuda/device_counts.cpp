#include "host/cuda/device_counts.hpp"

#include <utility>

namespace espalier {
namespace {

// Lays out the arrays that the job needs.
CountsView LayOut(const PlacementJob& job, Packer& packer) {
  const FlavorSnapshot& snapshot = job.state->snapshot();
  CountsView counts = LayOutCounts(static_cast<std::size_t>(snapshot.domain_count()),
                                   !job.shape->slice.IsOnePod(snapshot.tree().lowest()),
                                   job.query.leaders > 0, packer);
  counts.exclusion = packer.Leave<std::int16_t>(static_cast<std::size_t>(snapshot.leaf_count()));
  return counts;
}

}  // namespace

CountsView LayOutCounts(std::size_t domains, bool slices, bool leader, Packer& packer) {
  CountsView counts;
  counts.pods = packer.Leave<StoredCount>(domains);
  counts.slices = slices ? packer.Leave<StoredCount>(domains) : counts.pods;
  counts.pods_with_leader = leader ? packer.Leave<StoredCount>(domains) : counts.pods;
  counts.slices_with_leader = !leader  ? counts.slices
                              : slices ? packer.Leave<StoredCount>(domains)
                                       : counts.pods_with_leader;
  counts.leaders = leader ? packer.Leave<std::uint8_t>(domains) : nullptr;
  return counts;
}

DeviceResult<void> DeviceCounts::Allocate(const PlacementJob& job) {
  return Arrange(memory, [&](Packer& packer) { view = LayOut(job, packer); });
}

bool SharesCounts(const PlacementJob& job) { return job.assumed.empty() && !IsPartial(job); }

DeviceResult<std::shared_ptr<DeviceCounts>> DeviceCountsCache::Get(const PlacementJob& job) {
  const CountsKey key = CountsKey::Of(job);
  const bool shared = SharesCounts(job);
  if (shared) {
    if (const Slot* slot = slots_.Find(key); slot != nullptr) return slot->counts;
    if (std::exchange(newest_state_, key.state) != key.state) {
      slots_.DropIf([](const auto& entry) { return entry.value.stamps->frozen(); });
    }
    Packer measure;
    LayOut(job, measure);
    slots_.MakeRoom(measure.size());
  }
  auto counts = std::make_shared<DeviceCounts>(*device_, job);
  if (auto done = counts->Allocate(job); !done) return tl::unexpected(done.error());
  if (shared) slots_.Put(key, {job.state->SharedStamps(), counts}, counts->memory.size());
  return counts;
}

}  // namespace espalier
