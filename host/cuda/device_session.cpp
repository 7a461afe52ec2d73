#include "host/cuda/device_session.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "host/cuda/job_work.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMaxMirrors = 8;

// Shares that one launch may decide in order at most: 64 MiB of memory.
constexpr std::int64_t kMaxSharesInOrder = std::int64_t{1} << 22;

// Shares of the memory that is free; the rest is for mirrors and answers.
std::size_t CountsBytes(const Device& device) { return device.free_memory_bytes() / 4; }
std::size_t WorkspaceBytes(const Device& device) { return device.free_memory_bytes() / 8; }
std::size_t SmallWorkspaceBytes(const Device& device) { return device.free_memory_bytes() / 32; }

// Returns the indices of the evaluations of each state, in the order in which states come.
std::vector<std::vector<std::size_t>> IndicesByState(std::span<const PlacementJob> jobs,
                                                     std::span<const Evaluation> asked) {
  std::vector<std::vector<std::size_t>> indices;
  std::unordered_map<std::uint64_t, std::size_t> number_of_state;
  constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> number_of_job(jobs.size(), kUnknown);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto job = static_cast<std::size_t>(asked[i].job);
    std::size_t& number = number_of_job[job];
    if (number == kUnknown) {
      number = number_of_state.emplace(jobs[job].state->identity(), indices.size()).first->second;
      if (number == indices.size()) indices.emplace_back();
    }
    indices[number].push_back(i);
  }
  return indices;
}

// Bounds the work of evaluations. Those of a job take a thread block no more steps than the one
// with the most pods, and are estimated one by one only where that one is too much work.
class WorkOfEvaluations {
 public:
  // Takes the evaluations asked[i] for all `indices`, none of which is small where there are no
  // `warps`.
  WorkOfEvaluations(const JobWork& work, std::span<const PlacementJob> jobs,
                    std::span<const Evaluation> asked, std::span<const std::size_t> indices,
                    bool warps)
      : work_(work), jobs_(jobs), asked_(asked), of_job_(jobs.size()) {
    for (const std::size_t i : indices) {
      const auto index = static_cast<std::size_t>(asked[i].job);
      OfJob& job = of_job_[index];
      if (warps && job.most_pods < 0) job.small = work.SmallOf(jobs[index]);
      job.most_pods = std::max(job.most_pods, asked[i].pods);
      if (asked[i].pods <= job.small.pods) ++small_;
    }
  }

  // Returns the number of small evaluations.
  std::size_t small() const { return small_; }

  // Returns the work of the evaluation with this index.
  BoundedWork Of(std::size_t i) {
    const auto index = static_cast<std::size_t>(asked_[i].job);
    OfJob& job = of_job_[index];
    if (asked_[i].pods <= job.small.pods) return {job.small.steps, true};
    if (job.most_steps < 0) job.most_steps = work_.Steps(jobs_[index], job.most_pods);
    if (job.most_steps <= kMaxBlockSteps) return {job.most_steps, false};
    return {work_.Steps(jobs_[index], asked_[i].pods), false};
  }

 private:
  struct OfJob {
    Count most_pods = -1;
    JobWork::Small small;
    std::int64_t most_steps = -1;  // not estimated yet
  };

  const JobWork& work_;
  std::span<const PlacementJob> jobs_;
  std::span<const Evaluation> asked_;
  std::vector<OfJob> of_job_;
  std::size_t small_ = 0;
};

}  // namespace

DeviceSession::DeviceSession(std::unique_ptr<Device> device)
    : device_(std::move(device)),
      counts_bytes_(CountsBytes(*device_)),
      counts_cache_(*device_, counts_bytes_),
      workspaces_(*device_, WorkspaceBytes(*device_), {}),
      small_workspaces_(*device_, SmallWorkspaceBytes(*device_),
                        {.longest_list = kSmallList, .leaders = false}),
      wave_memory_(*device_),
      in_order_(*device_) {}

DeviceSession::~DeviceSession() {
  // Queued work may still use memory that goes first; a device that is lost has none.
  (void)device_->Synchronize();
}

DeviceResult<DeviceAnswers> DeviceSession::Evaluate(std::span<const PlacementJob> jobs,
                                                    std::span<const Evaluation> asked) {
  DeviceAnswers answers;
  for (const std::vector<std::size_t>& indices : IndicesByState(jobs, asked)) {
    if (auto done = EvaluateState(jobs, asked, indices, answers); !done) {
      return tl::unexpected(done.error());
    }
  }
  return answers;
}

DeviceResult<StateMirror*> DeviceSession::Mirror(const FlavorState& state) {
  auto known =
      std::ranges::find_if(mirrors_, [&](const auto& mirror) { return mirror->IsOf(state); });
  if (known == mirrors_.end()) {
    known =
        std::ranges::find_if(mirrors_, [&](const auto& mirror) { return mirror->CanServe(state); });
  }
  if (known != mirrors_.end()) {
    mirrors_.splice(mirrors_.begin(), mirrors_, known);
  } else {
    if (mirrors_.size() == kMaxMirrors) mirrors_.pop_back();
    mirrors_.push_front(std::make_unique<StateMirror>(*device_, state));
  }
  if (auto done = mirrors_.front()->Refresh(state); !done) return tl::unexpected(done.error());
  return mirrors_.front().get();
}

DeviceResult<void> DeviceSession::EvaluateState(std::span<const PlacementJob> jobs,
                                                std::span<const Evaluation> asked,
                                                std::span<const std::size_t> indices,
                                                DeviceAnswers& answers) {
  const auto job_of = [&](std::size_t i) -> const PlacementJob& {
    return jobs[static_cast<std::size_t>(asked[i].job)];
  };
  const FlavorState& state = *job_of(indices.front()).state;
  const DeviceResult<StateMirror*> mirror = Mirror(state);
  if (!mirror) return tl::unexpected(mirror.error());
  const bool balanced =
      std::ranges::any_of(indices, [&](std::size_t i) { return job_of(i).query.balanced; });
  // Few evaluations are one launch, of thread blocks.
  const bool warps = indices.size() > static_cast<std::size_t>(device_->concurrent_blocks());
  WorkOfEvaluations work((*mirror)->work(), jobs, asked, indices, warps);
  const auto prepare = [&](Workspaces& workspaces, std::size_t evaluations, bool with_balanced,
                           std::int32_t teams) -> DeviceResult<void> {
    if (evaluations == 0) return {};
    return workspaces.Prepare(
        state.snapshot().tree(), with_balanced,
        static_cast<std::int32_t>(std::min(evaluations, static_cast<std::size_t>(teams))));
  };
  DeviceResult<void> done =
      prepare(workspaces_, indices.size() - work.small(), balanced, device_->concurrent_blocks());
  if (done) done = prepare(small_workspaces_, work.small(), false, device_->concurrent_warps());
  if (!done) return done;
  while (!indices.empty()) {
    Wave wave(*device_, **mirror, state, jobs, counts_bytes_, workspaces_, small_workspaces_);
    wave.Reserve(indices.size());
    for (; !indices.empty(); indices = indices.subspan(1)) {
      const std::size_t index = indices.front();
      const BoundedWork most = work.Of(index);
      if (most.steps > kMaxBlockSteps) {
        answers.declined.push_back(index);
        continue;
      }
      const DeviceResult<bool> added = wave.Add(asked[index], index, most, counts_cache_);
      if (!added) return tl::unexpected(added.error());
      if (!*added) break;
    }
    if (wave.empty()) break;
    done = wave.Run(wave_memory_, answers.parts.emplace_back(), answers.decided.emplace_back(),
                    answers.declined);
    if (!done) return done;
  }
  return {};
}

DeviceResult<PlacementColumns> DeviceSession::EvaluateInOrder(std::span<const PlacementJob> jobs,
                                                              std::span<const Evaluation> asked) {
  const auto job_of = [&](const Evaluation& evaluation) -> const PlacementJob& {
    return jobs[static_cast<std::size_t>(evaluation.job)];
  };
  PlacementColumns answers;
  if (asked.empty() || !FitsInOrder(job_of(asked.front()))) return answers;
  const FlavorState& state = *job_of(asked.front()).state;
  const InOrderPieces pieces =
      SpreadInOrder(state.snapshot().tree(),
                    static_cast<std::int32_t>(state.snapshot().resources().size()), *device_);
  if (pieces.unit_begin.empty()) return answers;
  const DeviceResult<StateMirror*> mirror = Mirror(state);
  if (!mirror) return tl::unexpected(mirror.error());
  std::size_t count = 0;
  std::int64_t steps = 0;
  std::int64_t shares = 0;
  for (; count < asked.size(); ++count) {
    const PlacementJob& job = job_of(asked[count]);
    if (job.state != &state || !FitsInOrder(job)) break;
    steps += StepsInOrder(job, asked[count].pods, (*mirror)->work(), pieces.extent);
    shares += MostShares(job, asked[count].pods);
    if (steps > kMaxBlockSteps || shares > kMaxSharesInOrder) break;
  }
  if (count == 0) return answers;
  DeviceResult<void> done = workspaces_.Prepare(state.snapshot().tree(), false, 1);
  if (done) {
    done = DecideInOrder(*device_, **mirror, pieces, jobs, asked.first(count), workspaces_,
                         in_order_, answers);
  }
  if (!done) return tl::unexpected(done.error());
  return answers;
}

}  // namespace espalier
