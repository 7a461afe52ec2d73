#include "host/cuda/wave.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace espalier {
namespace {

constexpr std::size_t kMaxJobs = 4096;
constexpr std::int64_t kMaxShares = std::int64_t{1} << 22;
// Shares brought back together with the rest of the answers; more of them cost a second wait.
constexpr std::int64_t kEagerShares = std::int64_t{1} << 14;

RequestView AddRequest(const RequestVector& request, Packer& packer) {
  return {static_cast<std::int32_t>(request.names.size()), packer.Add(request.columns),
          packer.Add(request.amounts)};
}

// Every share holds a pod or a leader, and no leaf has two.
std::int32_t ShareCapacity(const PlacementJob& job) {
  const std::int64_t leaves = job.state->snapshot().leaf_count();
  if (job.query.pods >= leaves) return static_cast<std::int32_t>(leaves);
  return static_cast<std::int32_t>(std::min(leaves, job.query.pods + job.query.leaders));
}

template <class T>
T ReadAt(const PinnedMemory& memory, std::size_t offset) {
  T value;
  std::memcpy(&value, memory.data() + offset, sizeof(T));
  return value;
}

std::size_t OffsetOf(const void* array, const DeviceMemory& memory) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(array) - memory.data());
}

}  // namespace

Wave::Wave(Device& device, StateMirror& mirror, const FlavorState& state,
           std::size_t max_counts_bytes)
    : device_(&device), mirror_(&mirror), state_(&state), max_counts_bytes_(max_counts_bytes) {}

DeviceResult<bool> Wave::Add(const PlacementJob& job, std::size_t index, CountsRows& rows) {
  const std::int32_t shares = ShareCapacity(job);
  if (!members_.empty()) {
    if (members_.size() == kMaxJobs || share_capacity_ + shares > kMaxShares) return false;
    if (counts_bytes_ + CountsRowBytes(job) > max_counts_bytes_) return false;
  }
  DeviceResult<std::shared_ptr<CountsRow>> counts = rows.Get(job);
  if (!counts) return tl::unexpected(counts.error());
  const DeviceResult<std::int32_t> row = AddRow(job, *std::move(counts));
  if (!row) return tl::unexpected(row.error());
  members_.push_back({&job, index, *row, shares, share_capacity_});
  share_capacity_ += shares;
  return true;
}

DeviceResult<std::int32_t> Wave::AddRow(const PlacementJob& job,
                                        std::shared_ptr<CountsRow> counts) {
  if (const auto it = row_of_.find(counts.get()); it != row_of_.end()) return it->second;
  Row row;
  row.job = &job;
  row.stale = !counts->counted || counts->log_position != CurrentLog(job);
  row.capacity = mirror_->remaining();
  if (job.simulate_empty) {
    const DeviceResult<CapacityView> free = mirror_->Free(*state_);
    if (!free) return tl::unexpected(free.error());
    row.capacity = *free;
  }
  const DeviceResult<FilterArrays> filter = mirror_->Filter(job.shape->filter);
  if (!filter) return tl::unexpected(filter.error());
  row.filter = *filter;
  for (const AssumedLeaf& assumed : job.assumed) {
    row.assumed_leaves.push_back(assumed.leaf.value);
    row.assumed_amounts.insert(row.assumed_amounts.end(), assumed.amounts.begin(),
                               assumed.amounts.end());
  }
  const auto position = static_cast<std::int32_t>(rows_.size());
  row_of_.emplace(counts.get(), position);
  counts_bytes_ += counts->memory.size();
  row.counts = std::move(counts);
  rows_.push_back(std::move(row));
  exclusions_begin_.push_back(exclusions_size_);
  exclusions_size_ += job.shape->workers.names.size() + 1;
  return position;
}

std::size_t Wave::CurrentLog(const PlacementJob& job) const {
  return job.simulate_empty ? 0 : mirror_->log_position();
}

DeviceResult<void> Wave::Run(const Workspaces& workspaces, WaveMemory& memory,
                             std::span<PlacementResult> results,
                             std::vector<std::size_t>& declined) {
  if (auto done = Send(memory); !done) return done;
  if (auto done = Launch(workspaces, memory); !done) return done;
  if (auto done = Receive(memory); !done) return done;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto outcome =
        ReadAt<JobOutcome>(memory.heads, OffsetOf(answers_.outcomes + i, memory.answers));
    const bool decided =
        outcome.status != PlacementStatus::kOutOfStates && outcome.share_count != kSharesDropped;
    if (decided) {
      results[members_[i].index] = ResultOf(members_[i], outcome, memory);
    } else {
      declined.push_back(members_[i].index);
    }
  }
  for (const Row& row : rows_) {
    row.counts->counted = true;
    row.counts->log_position = CurrentLog(*row.job);
  }
  return {};
}

// Sends what the small arrays of a row are and tells where they lie.
CountRow Wave::Pack(const Row& row, std::size_t r, Packer& packer) const {
  const Shape& shape = *row.job->shape;
  CountRow packed;
  packed.input.capacity = row.capacity;
  packed.input.assumed = {static_cast<std::int32_t>(row.assumed_leaves.size()),
                          packer.Add(row.assumed_leaves), packer.Add(row.assumed_amounts),
                          static_cast<std::int32_t>(state_->snapshot().resources().size())};
  packed.input.workers = AddRequest(shape.workers, packer);
  packed.input.leader = AddRequest(shape.leader, packer);
  packed.input.leader_on_workers = packer.Add(shape.leader_on_workers);
  packed.input.matches = row.filter.matches;
  packed.input.domain = row.job->replacement_domain;
  packed.slice = shape.slice;
  packed.counts = row.counts->counts;
  const std::size_t resources = shape.workers.names.size();
  packed.exclusions.limited_by = answers_.exclusions + exclusions_begin_[r];
  packed.exclusions.outside_domain = packed.exclusions.limited_by + resources;
  packed.exclusions.resources = static_cast<std::int32_t>(resources);
  return packed;
}

Wave::Answers Wave::LayOutAnswers(Packer& packer) const {
  Answers answers;
  answers.share_count = packer.Leave<std::int64_t>(1);
  answers.outcomes = packer.Leave<JobOutcome>(members_.size());
  answers.exclusions = packer.Leave<std::int64_t>(exclusions_size_);
  answers.head_bytes = packer.size();
  answers.shares = packer.Leave<Share>(static_cast<std::size_t>(share_capacity_));
  return answers;
}

DeviceResult<void> Wave::Send(WaveMemory& memory) {
  const auto shares = static_cast<std::size_t>(share_capacity_);
  if (auto done = memory.shares.Reserve(shares * sizeof(Share)); !done) return done;
  const auto arranged =
      Arrange(memory.answers, [&](Packer& packer) { answers_ = LayOutAnswers(packer); });
  if (!arranged) return arranged;
  return memory.input.Send([&](Packer& packer) {
    std::vector<CountRow> rows;
    std::vector<CountRow> stale;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      rows.push_back(Pack(rows_[r], r, packer));
      if (rows_[r].stale) stale.push_back(rows.back());
    }
    std::vector<DecideJob> jobs;
    for (const Member& member : members_) {
      DecideJob& job = jobs.emplace_back();
      job.query = member.job->query;
      job.row = member.row;
      job.share_capacity = member.share_capacity;
      job.share_begin = member.share_begin;
      const FilterArrays& filter = rows_[static_cast<std::size_t>(member.row)].filter;
      job.affinity = member.job->affinity_scores ? filter.affinity : nullptr;
    }
    input_.rows = packer.Add(rows);
    input_.stale = packer.Add(stale);
    input_.stale_count = static_cast<std::int32_t>(stale.size());
    input_.jobs = packer.Add(jobs);
    input_.row_failed = packer.Add(std::vector<std::int32_t>(rows_.size(), 0));
  });
}

DeviceResult<void> Wave::Launch(const Workspaces& workspaces, WaveMemory& memory) {
  const TreeView host = state_->snapshot().tree();
  const TreeView& tree = mirror_->tree();
  const auto row_count = static_cast<std::int32_t>(rows_.size());
  const auto job_count = static_cast<std::int32_t>(members_.size());
  auto* shares = reinterpret_cast<Share*>(memory.shares.data());

  DeviceResult<void> done =
      device_->Launch(CountLeavesArgs{tree, host.leaf_count(), input_.stale, input_.stale_count});
  for (std::int32_t level = host.lowest() - 1; done && level >= 0; --level) {
    done = device_->Launch(RollUpArgs{tree,
                                      level,
                                      {host.LevelBegin(level), host.LevelEnd(level)},
                                      input_.stale,
                                      input_.stale_count});
  }
  if (!done) return done;
  DecideArgs decide;
  decide.tree = tree;
  decide.rows = input_.rows;
  decide.jobs = input_.jobs;
  decide.job_count = job_count;
  decide.workspaces = workspaces.data();
  decide.workspace_count = workspaces.size();
  decide.outcomes = answers_.outcomes;
  decide.shares = shares;
  decide.row_failed = input_.row_failed;
  done = device_->Launch(decide);
  if (done) {
    done = device_->Launch(
        ExclusionsArgs{host.leaf_count(), input_.rows, row_count, input_.row_failed});
  }
  if (done) {
    done = device_->Launch(OffsetsArgs{answers_.outcomes, job_count, answers_.share_count});
  }
  if (!done) return done;
  return device_->Launch(
      CompactArgs{input_.jobs, answers_.outcomes, job_count, shares, answers_.shares});
}

DeviceResult<void> Wave::Receive(WaveMemory& memory) {
  if (auto done = memory.heads.Reserve(answers_.head_bytes); !done) return done;
  const auto fetch_shares = [&](std::int64_t count) -> DeviceResult<void> {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(Share);
    if (bytes == 0) return {};
    if (auto done = memory.compacted.Reserve(bytes); !done) return done;
    return device_->CopyToHost(memory.compacted.data(), answers_.shares, bytes);
  };
  const std::int64_t eager = std::min(share_capacity_, kEagerShares);
  DeviceResult<void> done =
      device_->CopyToHost(memory.heads.data(), memory.answers.data(), answers_.head_bytes);
  if (done) done = fetch_shares(eager);
  if (done) done = device_->Synchronize();
  if (!done) return done;
  const auto count = ReadAt<std::int64_t>(memory.heads, 0);
  if (count <= eager) return {};
  done = fetch_shares(count);
  return done ? device_->Synchronize() : done;
}

PlacementResult Wave::ResultOf(const Member& member, const JobOutcome& outcome,
                               const WaveMemory& memory) const {
  PlacementResult result;
  result.status = outcome.status;
  result.level = outcome.level;
  result.fit = outcome.fit;
  result.total = outcome.total;
  if (outcome.status == PlacementStatus::kDoesNotFit) {
    result.layer_fits.assign(outcome.layer_fits,
                             outcome.layer_fits + member.job->query.slice.layer_count);
    result.limited_by.resize(member.job->shape->workers.names.size());
    std::size_t offset =
        OffsetOf(answers_.exclusions + exclusions_begin_[static_cast<std::size_t>(member.row)],
                 memory.answers);
    for (std::int64_t& leaves : result.limited_by) {
      leaves = ReadAt<std::int64_t>(memory.heads, offset);
      offset += sizeof(std::int64_t);
    }
    result.outside_domain = ReadAt<std::int64_t>(memory.heads, offset);
  }
  for (std::int32_t i = 0; i < outcome.share_count; ++i) {
    const auto position = static_cast<std::size_t>(outcome.share_begin + i);
    const auto share = ReadAt<Share>(memory.compacted, position * sizeof(Share));
    result.shares.push_back({LeafId(share.domain), share.leaders, share.pods});
  }
  return result;
}

}  // namespace espalier
