#include "host/cuda/count_wave.hpp"

#include <utility>

#include "host/packing/parallel_for.hpp"

namespace espalier {
namespace {

// Returns the counts on the host, to which all memory of the answers was copied.
CountsView CopyOf(const CountsView& counts, const WaveMemory& memory) {
  const auto copied = [&]<class T>(T* array) -> T* {
    if (array == nullptr) return nullptr;
    const auto offset = reinterpret_cast<std::byte*>(array) - memory.answers.data();
    return reinterpret_cast<T*>(memory.received.data() + offset);
  };
  CountsView copy;
  copy.pods = copied(counts.pods);
  copy.slices = copied(counts.slices);
  copy.pods_with_leader = copied(counts.pods_with_leader);
  copy.slices_with_leader = copied(counts.slices_with_leader);
  copy.leaders = copied(counts.leaders);
  return copy;
}

}  // namespace

CountWave::CountWave(Device& device, StateMirror& mirror, const FlavorState& state,
                     std::span<const PlacementJob> jobs, std::size_t max_bytes)
    : device_(&device), jobs_(jobs), max_bytes_(max_bytes), counts_(mirror, state) {}

DeviceResult<bool> CountWave::Add(std::size_t index) {
  const PlacementJob& job = jobs_[index];
  auto counts = std::make_shared<DeviceCounts>(*device_, job);
  Packer with_these = size_;
  counts->LayOut(job, /*indexed=*/false, with_these);
  if (!members_.empty() && with_these.size() > max_bytes_) return false;
  const DeviceResult<std::int32_t> entry = counts_.Add(job, counts);
  if (!entry) return tl::unexpected(entry.error());
  size_ = with_these;
  members_.push_back({index, std::move(counts)});
  return true;
}

DeviceResult<void> CountWave::Run(WaveMemory& memory, const CountsVisitor& visit) {
  const std::size_t had = memory.answers.size();
  DeviceResult<void> done = Arrange(memory.answers, [&](Packer& packer) {
    for (const Member& member : members_) {
      member.counts->LayOut(jobs_[member.index], /*indexed=*/false, packer);
    }
  });
  // Between arrays is padding, which is read back as well.
  if (done && memory.answers.size() != had) {
    done = device_->Clear(memory.answers.data(), memory.answers.size());
  }
  if (done) done = counts_.Prepare(memory.tables);
  if (done) done = memory.input.Send([&](Packer& packer) { counts_.Pack(packer); });
  if (!done) return done;
  std::vector<KernelCall> calls;
  counts_.AddCalls(calls);
  done = device_->Launch(calls);
  if (done) done = memory.received.Reserve(size_.size());
  if (done) {
    done = device_->CopyToHost(memory.received.data(), memory.answers.data(), size_.size());
  }
  if (done) done = device_->Synchronize();
  if (!done) return done;
  ParallelFor(members_.size(), size_.size(), [&](std::size_t i) {
    visit(members_[i].index, CopyOf(members_[i].counts->view, memory));
  });
  return {};
}

}  // namespace espalier
