#include "host/cuda/wave.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/cuda/job_work.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMaxJobs = 4096;
constexpr std::int64_t kMaxShares = std::int64_t{1} << 22;
// Shares brought back together with the rest of the answers; more of them cost a second wait.
constexpr std::int64_t kEagerShares = std::int64_t{1} << 14;

// Returns the most shares a job can get: every share holds a pod or a leader, and no leaf has
// two.
std::int32_t ShareCapacity(const PlacementJob& job) {
  const std::int64_t leaves = job.state->snapshot().leaf_count();
  if (job.query.pods >= leaves) return static_cast<std::int32_t>(leaves);
  return static_cast<std::int32_t>(std::min(leaves, job.query.pods + job.query.leaders));
}

template <class T>
T ReadAt(const std::byte* memory, std::size_t offset) {
  T value;
  std::memcpy(&value, memory + offset, sizeof(T));
  return value;
}

std::size_t OffsetOf(const void* array, const DeviceMemory& memory) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(array) - memory.data());
}

}  // namespace

Wave::Wave(Device& device, StateMirror& mirror, const FlavorState& state,
           std::size_t max_counts_bytes, std::int32_t blocks)
    : device_(&device),
      mirror_(&mirror),
      state_(&state),
      max_counts_bytes_(max_counts_bytes),
      block_steps_(static_cast<std::size_t>(blocks), 0),
      counts_(mirror, state) {}

DeviceResult<bool> Wave::Add(const PlacementJob& job, std::size_t index, std::int64_t steps,
                             DeviceCountsCache& cache) {
  const std::int32_t shares = ShareCapacity(job);
  std::int64_t& block_steps = block_steps_[members_.size() % block_steps_.size()];
  if (!members_.empty()) {
    if (members_.size() == kMaxJobs || share_capacity_ + shares > kMaxShares) return false;
    if (block_steps + steps > kMaxBlockSteps) return false;
    if (counts_.counts_bytes() + DeviceCountsBytes(job) > max_counts_bytes_) return false;
  }
  DeviceResult<std::shared_ptr<DeviceCounts>> counts = cache.Get(job);
  if (!counts) return tl::unexpected(counts.error());
  const DeviceResult<std::int32_t> entry = counts_.Add(job, *std::move(counts));
  if (!entry) return tl::unexpected(entry.error());
  members_.push_back({&job, index, *entry, shares, share_capacity_});
  share_capacity_ += shares;
  block_steps += steps;
  return true;
}

DeviceResult<void> Wave::Run(const Workspaces& workspaces, WaveMemory& memory,
                             std::span<PlacementResult> results,
                             std::vector<std::size_t>& declined) {
  counts_.Prepare();
  if (auto done = Send(memory); !done) return done;
  if (auto done = Launch(workspaces, memory); !done) return done;
  if (auto done = Receive(memory); !done) return done;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto outcome =
        ReadAt<JobOutcome>(memory.received.data(), OffsetOf(answers_.outcomes + i, memory.answers));
    const bool decided =
        outcome.status != PlacementStatus::kOutOfStates && outcome.share_count != kSharesDropped;
    if (decided) {
      results[members_[i].index] = ResultOf(members_[i], outcome, memory);
    } else {
      declined.push_back(members_[i].index);
    }
  }
  counts_.NoteCounted();
  return {};
}

Wave::Answers Wave::LayOutAnswers(Packer& packer) const {
  Answers answers;
  answers.share_count = packer.Leave<std::int64_t>(1);
  answers.outcomes = packer.Leave<JobOutcome>(members_.size());
  answers.exclusions = packer.Leave<std::int64_t>(counts_.exclusions_size());
  answers.head_bytes = packer.size();
  answers.shares = packer.Leave<Share>(static_cast<std::size_t>(share_capacity_));
  return answers;
}

DeviceResult<void> Wave::Send(WaveMemory& memory) {
  const auto shares = static_cast<std::size_t>(share_capacity_);
  if (auto done = memory.shares.Reserve(shares * sizeof(Share)); !done) return done;
  const std::size_t had = memory.answers.size();
  const auto arranged =
      Arrange(memory.answers, [&](Packer& packer) { answers_ = LayOutAnswers(packer); });
  if (!arranged) return arranged;
  // Kernels leave gaps: what did not fail, padding, room for more shares. All of it is read back.
  if (memory.answers.size() != had) {
    const auto cleared = device_->Clear(memory.answers.data(), memory.answers.size());
    if (!cleared) return cleared;
  }
  std::vector<DecideJob> jobs(members_.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Member& member = members_[i];
    DecideJob& job = jobs[i];
    job.query = member.job->query;
    job.count_job = member.entry;
    job.share_capacity = member.share_capacity;
    job.share_begin = member.share_begin;
    job.affinity = member.job->affinity_scores ? counts_.Affinity(member.entry) : nullptr;
  }
  const std::vector<std::int32_t> failed(static_cast<std::size_t>(counts_.size()), 0);
  return memory.input.Send([&](Packer& packer) {
    input_.count_jobs = counts_.Pack(answers_.exclusions, packer);
    input_.decide_jobs = packer.Add(jobs);
    input_.count_job_failed = packer.Add(failed);
  });
}

DeviceResult<void> Wave::Launch(const Workspaces& workspaces, WaveMemory& memory) {
  const auto job_count = static_cast<std::int32_t>(members_.size());
  auto* shares = reinterpret_cast<Share*>(memory.shares.data());
  std::vector<KernelCall> calls;
  counts_.AddCalls(calls);
  DecideArgs decide;
  decide.tree = mirror_->tree();
  decide.count_jobs = input_.count_jobs;
  decide.jobs = input_.decide_jobs;
  decide.job_count = job_count;
  decide.workspaces = workspaces.data();
  decide.workspace_count = workspaces.size();
  decide.outcomes = answers_.outcomes;
  decide.shares = shares;
  decide.count_job_failed = input_.count_job_failed;
  calls.emplace_back(decide);
  calls.emplace_back(ExclusionsArgs{state_->snapshot().leaf_count(), input_.count_jobs,
                                    counts_.size(), input_.count_job_failed});
  calls.emplace_back(OffsetsArgs{answers_.outcomes, job_count, answers_.share_count});
  calls.emplace_back(
      CompactArgs{input_.decide_jobs, answers_.outcomes, job_count, shares, answers_.shares});
  return device_->Launch(calls);
}

// Reads the answers back with one copy and one wait, unless there are many shares.
DeviceResult<void> Wave::Receive(WaveMemory& memory) {
  const std::int64_t eager = std::min(share_capacity_, kEagerShares);
  const std::size_t bytes = answers_.head_bytes + static_cast<std::size_t>(eager) * sizeof(Share);
  if (auto done = memory.received.Reserve(bytes); !done) return done;
  DeviceResult<void> done =
      device_->CopyToHost(memory.received.data(), memory.answers.data(), bytes);
  if (done) done = device_->Synchronize();
  if (!done) return done;
  shares_ = memory.received.data() + answers_.head_bytes;
  const auto count = ReadAt<std::int64_t>(memory.received.data(), 0);
  if (count <= eager) return {};
  const std::size_t all = static_cast<std::size_t>(count) * sizeof(Share);
  if (done = memory.more.Reserve(all); !done) return done;
  done = device_->CopyToHost(memory.more.data(), answers_.shares, all);
  shares_ = memory.more.data();
  return done ? device_->Synchronize() : done;
}

PlacementResult Wave::ResultOf(const Member& member, const JobOutcome& outcome,
                               const WaveMemory& memory) const {
  PlacementResult result;
  result.Reset(outcome, *member.job);
  if (outcome.status == PlacementStatus::kDoesNotFit) {
    result.limited_by.resize(member.job->shape->workers.names.size());
    std::size_t offset =
        OffsetOf(answers_.exclusions + counts_.ExclusionsBegin(member.entry), memory.answers);
    for (std::int64_t& leaves : result.limited_by) {
      leaves = ReadAt<std::int64_t>(memory.received.data(), offset);
      offset += sizeof(std::int64_t);
    }
    result.outside_domain = ReadAt<std::int64_t>(memory.received.data(), offset);
  }
  for (std::int32_t i = 0; i < outcome.share_count; ++i) {
    const auto position = static_cast<std::size_t>(outcome.share_begin + i);
    const auto share = ReadAt<Share>(shares_, position * sizeof(Share));
    result.shares.push_back({LeafId(share.domain), share.leaders, share.pods});
  }
  return result;
}

}  // namespace espalier
