#include "host/cuda/count_wave.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "host/packing/parallel_for.hpp"

namespace espalier {
namespace {

// What is copied back at once, at most: as much page-locked memory is held for it.
constexpr std::size_t kMostCopied = std::size_t{32} << 20;

// Returns counts that were copied.
CountsView CopyOf(const CountsView& counts, const CopyOnHost& copied) {
  CountsView copy;
  copy.pods = copied.Of(counts.pods);
  copy.slices = copied.Of(counts.slices);
  copy.pods_with_leader = copied.Of(counts.pods_with_leader);
  copy.slices_with_leader = copied.Of(counts.slices_with_leader);
  copy.leaders = copied.Of(counts.leaders);
  return copy;
}

// Marks the domains that have a bit.
void Mark(const std::uint32_t* bits, std::int32_t domains, std::int32_t mark, std::int32_t* marks) {
  const std::int32_t words = WordsFor(domains);
  for (std::int32_t begin = 0; begin < domains; begin += words) {
    const std::uint32_t bit = std::uint32_t{1} << (begin / words);
    const std::int32_t end = std::min(words, domains - begin);
    std::int32_t* const some = marks + begin;
    // Without branches, so that compilers make it a loop over vectors.
    for (std::int32_t w = 0; w < end; ++w) {
      const std::int32_t most =
          (bits[w] & bit) != 0 ? mark : std::numeric_limits<std::int32_t>::max();
      some[w] = most < some[w] ? most : some[w];
    }
  }
}

// Makes a reading of its answer on the host.
void Make(const DomainReading& reading, const TreeView& tree, const ReadingOfShape& answer,
          const CopyOnHost& copied) {
  const DomainQuestion& asked = reading.asked;
  const Count* held = copied.Of(answer.held);
  std::copy(held + asked.first_level, held + asked.last_level + 1,
            reading.held + asked.first_level);
  if (reading.slices != nullptr) *reading.slices = *copied.Of(answer.slices);
  if (reading.marks == nullptr) return;
  Mark(copied.Of(answer.bits), DomainsOf(tree, asked.last_level).size(), reading.mark,
       reading.marks);
}

}  // namespace

CountWave::CountWave(Device& device, StateMirror& mirror, const FlavorState& state,
                     std::span<const PlacementJob> jobs, std::span<const DomainReading> readings,
                     const CountsVisitor& visit, std::size_t max_bytes)
    : device_(&device),
      mirror_(&mirror),
      jobs_(jobs),
      readings_(readings),
      visit_(&visit),
      max_bytes_(max_bytes),
      counts_(mirror, state) {}

void CountWave::LayOutReadings(Member& member, Packer& packer) const {
  const TreeView tree = jobs_[member.index].state->snapshot().tree();
  member.answers.clear();
  for (const DomainReading& reading : member.readings) {
    ReadingOfShape& answer = member.answers.emplace_back();
    answer.asked = reading.asked;
    answer.held = packer.Leave<Count>(static_cast<std::size_t>(tree.level_count));
    if (reading.slices != nullptr) answer.slices = packer.Leave<Count>(1);
    if (reading.marks == nullptr) continue;
    const std::int32_t words = WordsFor(DomainsOf(tree, reading.asked.last_level).size());
    answer.bits = packer.Leave<std::uint32_t>(static_cast<std::size_t>(words));
  }
}

void CountWave::LayOutCounts(Member& member, Packer& packer) const {
  member.counts->LayOut(jobs_[member.index], /*indexed=*/false, packer);
}

DeviceResult<bool> CountWave::Add(std::size_t index) {
  const PlacementJob& job = jobs_[index];
  Member member{
      index, ReadingsOf(readings_, index), std::make_shared<DeviceCounts>(*device_, job), {}};
  Packer read_size = read_size_;
  Packer counts_size = counts_size_;
  LayOutReadings(member, read_size);
  LayOutCounts(member, counts_size);
  const std::size_t bytes = read_size.size() + counts_size.size();
  const std::size_t copied = *visit_ ? bytes : read_size.size();
  if (!members_.empty() && (bytes > max_bytes_ || copied > kMostCopied)) return false;
  if (auto added = counts_.Add(job, *member.counts); !added) return tl::unexpected(added.error());
  read_size_ = read_size;
  counts_size_ = counts_size;
  members_.push_back(std::move(member));
  return true;
}

const ReadingOfShape* CountWave::PackReadings(Packer& packer) const {
  std::vector<ReadingOfShape> all;
  for (const Member& member : members_) {
    for (ReadingOfShape reading : member.answers) {
      reading.shape = member.counts->resident;
      all.push_back(reading);
    }
  }
  return packer.Add(all);
}

ReadDomainsArgs CountWave::ReadingArgs(const ReadingOfShape* readings) const {
  ReadDomainsArgs args{mirror_->tree(), 0, readings, 0};
  for (const Member& member : members_) {
    for (const DomainReading& reading : member.readings) {
      args.level_end = std::max(args.level_end, reading.asked.last_level + 1);
    }
    args.reading_count += static_cast<std::int32_t>(member.readings.size());
  }
  return args;
}

DeviceResult<void> CountWave::Run(WaveMemory& memory) {
  const std::size_t had = memory.answers.size();
  DeviceResult<void> done = Arrange(memory.answers, [&](Packer& packer) {
    for (Member& member : members_) LayOutReadings(member, packer);
    for (Member& member : members_) LayOutCounts(member, packer);
    for (const Member& member : members_) {  // stays there
      member.counts->LayOutDescription(jobs_[member.index], packer);
    }
  });
  // Between arrays is padding, which is read back as well.
  if (done && memory.answers.size() != had) {
    done = device_->Clear(memory.answers.data(), memory.answers.size());
  }
  if (done) done = counts_.Prepare(memory.tables);
  const ReadingOfShape* readings = nullptr;
  if (done) {
    done = memory.input.Send([&](Packer& packer) {
      counts_.Pack(packer);
      readings = PackReadings(packer);
    });
  }
  if (!done) return done;
  std::vector<KernelCall> calls;
  counts_.AddCalls(calls);
  if (readings != nullptr) calls.emplace_back(ReadingArgs(readings));
  done = device_->Launch(calls);
  const std::size_t bytes = read_size_.size() + (*visit_ ? counts_size_.size() : 0);
  if (!done) return done;
  const DeviceResult<std::shared_ptr<std::byte>> here = memory.blocks.Take(bytes);
  if (!here) return tl::unexpected(here.error());
  done = device_->CopyToHost(here->get(), memory.answers.data(), bytes);
  if (done) done = device_->Synchronize();
  if (!done) return done;
  const CopyOnHost copied(memory.answers.data(), here->get());
  ParallelFor(members_.size(), bytes, [&](std::size_t i) {
    const Member& member = members_[i];
    const TreeView tree = jobs_[member.index].state->snapshot().tree();
    for (std::size_t r = 0; r < member.readings.size(); ++r) {
      Make(member.readings[r], tree, member.answers[r], copied);
    }
    if (*visit_) (*visit_)(member.index, CopyOf(member.counts->view, copied));
  });
  return {};
}

}  // namespace espalier
