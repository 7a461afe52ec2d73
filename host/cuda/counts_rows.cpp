#include "host/cuda/counts_rows.hpp"

#include <functional>
#include <utility>

namespace espalier {
namespace {

CountsRowKey KeyOf(const PlacementJob& job) {
  return {job.state->identity(), job.shape.get(), job.simulate_empty};
}

// Slices and pods are the same number everywhere when a slice is one pod on one leaf.
bool HasSlices(const PlacementJob& job) {
  const SliceRule& slice = job.shape->slice;
  return slice.size != 1 || slice.level != job.state->snapshot().tree().lowest() ||
         slice.layer_count > 1;
}

// Lays out the arrays of the job's kind of row.
CountsView LayOut(const PlacementJob& job, Packer& packer) {
  const auto domains = static_cast<std::size_t>(job.state->snapshot().domain_count());
  const auto leaves = static_cast<std::size_t>(job.state->snapshot().leaf_count());
  CountsView counts;
  counts.pods = packer.Leave<StoredCount>(domains);
  const bool slices = HasSlices(job);
  counts.slices = slices ? packer.Leave<StoredCount>(domains) : counts.pods;
  counts.exclusion = packer.Leave<std::int16_t>(leaves);
  if (job.query.leaders > 0) {
    counts.pods_with_leader = packer.Leave<StoredCount>(domains);
    counts.slices_with_leader =
        slices ? packer.Leave<StoredCount>(domains) : counts.pods_with_leader;
    counts.leaders = packer.Leave<std::uint8_t>(domains);
  } else {
    counts.pods_with_leader = counts.pods;
    counts.slices_with_leader = counts.slices;
  }
  return counts;
}

}  // namespace

DeviceResult<void> CountsRow::Allocate(const PlacementJob& job) {
  return Arrange(memory, [&](Packer& packer) { counts = LayOut(job, packer); });
}

std::size_t CountsRowBytes(const PlacementJob& job) {
  Packer measure;
  LayOut(job, measure);
  return measure.size();
}

bool SharesCounts(const PlacementJob& job) {
  return job.assumed.empty() && job.replacement_domain.begin == 0 &&
         job.replacement_domain.end == job.state->snapshot().leaf_count();
}

std::size_t CountsRows::KeyHash::operator()(const CountsRowKey& key) const {
  const std::size_t shape = std::hash<const void*>{}(key.shape);
  return shape ^ (std::hash<std::uint64_t>{}(key.state) * 0x9e3779b97f4a7c15ULL) ^
         static_cast<std::size_t>(key.simulate_empty);
}

DeviceResult<std::shared_ptr<CountsRow>> CountsRows::Get(const PlacementJob& job) {
  const CountsRowKey key = KeyOf(job);
  const bool shared = SharesCounts(job);
  if (shared) {
    if (const auto it = by_key_.find(key); it != by_key_.end()) {
      slots_.splice(slots_.begin(), slots_, it->second);
      return it->second->row;
    }
    MakeRoom(CountsRowBytes(job));
  }
  auto row = std::make_shared<CountsRow>(*device_, job);
  if (auto done = row->Allocate(job); !done) return tl::unexpected(done.error());
  if (shared) {
    bytes_ += row->memory.size();
    slots_.push_front({key, row});
    by_key_.emplace(key, slots_.begin());
  }
  return row;
}

void CountsRows::MakeRoom(std::size_t bytes) {
  while (!slots_.empty() && bytes_ + bytes > max_bytes_) {
    bytes_ -= slots_.back().row->memory.size();
    by_key_.erase(slots_.back().key);
    slots_.pop_back();
  }
}

}  // namespace espalier
