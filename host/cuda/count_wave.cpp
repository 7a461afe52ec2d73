#include "host/cuda/count_wave.hpp"

#include <utility>

#include "host/packing/parallel_for.hpp"

namespace espalier {
namespace {

// Returns counts on the host, to which all were copied from `there`.
CountsView CopyOf(const CountsView& counts, const std::byte* there, std::byte* here) {
  const auto copied = [&]<class T>(T* array) -> T* {
    if (array == nullptr) return nullptr;
    return reinterpret_cast<T*>(here + (reinterpret_cast<const std::byte*>(array) - there));
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
  if (auto added = counts_.Add(job, *counts); !added) return tl::unexpected(added.error());
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
    for (const Member& member : members_) {  // stays there
      member.counts->LayOutDescription(jobs_[member.index], packer);
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
  if (!done) return done;
  const DeviceResult<std::shared_ptr<std::byte>> copies = memory.blocks.Take(size_.size());
  if (!copies) return tl::unexpected(copies.error());
  done = device_->CopyToHost(copies->get(), memory.answers.data(), size_.size());
  if (done) done = device_->Synchronize();
  if (!done) return done;
  ParallelFor(members_.size(), size_.size(), [&](std::size_t i) {
    const Member& member = members_[i];
    visit(member.index, CopyOf(member.counts->view, memory.answers.data(), copies->get()));
  });
  return {};
}

}  // namespace espalier
