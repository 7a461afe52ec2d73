#include "host/cuda/device_session.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "host/cuda/count_wave.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMaxMirrors = 8;
// What is counted at once for questions about every domain, at most: the device holds as much
// memory for it.
constexpr std::size_t kMostCounted = std::size_t{256} << 20;

// Shares that one launch may decide in order at most: 64 MiB of memory.
constexpr std::int64_t kMaxSharesInOrder = std::int64_t{1} << 22;

// Shares of the memory that is free; the rest is for mirrors and answers.
std::size_t CountsBytes(const Device& device) { return device.free_memory_bytes() / 4; }
std::size_t WorkspaceBytes(const Device& device) { return device.free_memory_bytes() / 8; }
std::size_t SmallWorkspaceBytes(const Device& device) { return device.free_memory_bytes() / 32; }

// A bound of so few steps may stand for evaluations of fewer pods too.
constexpr std::int64_t kFewSteps = kMaxBlockSteps / 16;

// Returns what an evaluation of the job takes; it is not small where there are no warps.
BoundedWork WorkOf(const JobWork& work, const PlacementJob& job, Count pods, bool warps,
                   KnownJob& known) {
  if (warps && pods <= known.small.pods) return {known.small.steps, true};
  if (pods <= known.bounded_pods) return {known.steps, false};
  const std::int64_t steps = work.Steps(job, pods);
  if (steps <= kFewSteps) {
    known.bounded_pods = pods;
    known.steps = steps;
  }
  return {steps, false};
}

}  // namespace

DeviceSession::DeviceSession(std::unique_ptr<Device> device)
    : device_(std::move(device)),
      counts_cache_(*device_, CountsBytes(*device_)),
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
  known_.Begin(jobs);
  for (OfState& of_state : ByState(asked)) {
    if (auto done = EvaluateState(jobs, asked, of_state, answers); !done) {
      return tl::unexpected(done.error());
    }
  }
  return answers;
}

DeviceResult<void> DeviceSession::CountEach(std::span<const PlacementJob> jobs,
                                            std::span<const DomainReading> readings,
                                            const CountsVisitor& visit,
                                            std::vector<std::size_t>& counted) {
  std::map<std::uint64_t, std::vector<std::size_t>> by_state;
  for (std::size_t i = 0; i < jobs.size(); ++i) by_state[jobs[i].state->identity()].push_back(i);
  for (const auto& [state, indices] : by_state) {
    if (auto done = CountState(jobs, indices, readings, visit, counted); !done) return done;
  }
  return {};
}

DeviceResult<void> DeviceSession::CountState(std::span<const PlacementJob> jobs,
                                             std::span<const std::size_t> indices,
                                             std::span<const DomainReading> readings,
                                             const CountsVisitor& visit,
                                             std::vector<std::size_t>& counted) {
  const PlacementJob& first = jobs[indices.front()];
  const DeviceResult<StateMirror*> mirror = Mirror(*first.state);
  if (!mirror) return tl::unexpected(mirror.error());
  if (first.budget->stopped()) return device_->Synchronize();  // for the mirror
  while (!indices.empty() && !first.budget->stopped()) {
    CountWave wave(*device_, **mirror, *first.state, jobs, readings, visit,
                   std::min(CountsBytes(*device_), kMostCounted));
    std::size_t size = 0;
    for (; size < indices.size(); ++size) {
      const DeviceResult<bool> added = wave.Add(indices[size]);
      if (!added) return tl::unexpected(added.error());
      if (!*added) break;
    }
    if (auto done = wave.Run(wave_memory_); !done) return done;
    counted.insert(counted.end(), indices.begin(),
                   indices.begin() + static_cast<std::ptrdiff_t>(size));
    indices = indices.subspan(size);
  }
  return {};
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

std::vector<DeviceSession::OfState> DeviceSession::ByState(std::span<const Evaluation> asked) {
  std::size_t small = 0;
  for (const Evaluation& one : asked) small += one.pods <= known_.Of(one.job).small.pods ? 1 : 0;
  std::vector<OfState> states(known_.states().size());
  for (std::size_t number = 0; number < states.size(); ++number) {
    states[number].jobs = known_.states()[number];
  }
  if (states.size() == 1) {
    states.front().small = small;
    states.front().indices.resize(asked.size());
    std::iota(states.front().indices.begin(), states.front().indices.end(), std::size_t{0});
    return states;
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const KnownJob& known = known_.Of(asked[i].job);
    OfState& of_state = states[static_cast<std::size_t>(known.state_number)];
    of_state.indices.push_back(i);
    of_state.small += asked[i].pods <= known.small.pods ? 1 : 0;
  }
  return states;
}

void DeviceSession::Bound(const JobWork& work, std::span<const PlacementJob> jobs,
                          std::span<const Evaluation> asked, OfState& of_state) {
  of_state.small = 0;
  for (const std::size_t i : of_state.indices) {
    KnownJob& known = known_.Of(asked[i].job);
    if (!known.bounded) known.small = work.SmallOf(jobs[static_cast<std::size_t>(asked[i].job)]);
    known.bounded = true;
    of_state.small += asked[i].pods <= known.small.pods ? 1 : 0;
  }
}

DeviceResult<void> DeviceSession::EvaluateState(std::span<const PlacementJob> jobs,
                                                std::span<const Evaluation> asked,
                                                OfState& of_state, DeviceAnswers& answers) {
  std::span<const std::size_t> indices = of_state.indices;
  const FlavorState& state = *jobs[static_cast<std::size_t>(asked[indices.front()].job)].state;
  const DeviceResult<StateMirror*> mirror = Mirror(state);
  if (!mirror) return tl::unexpected(mirror.error());
  const JobWork& work = (*mirror)->work();
  if (of_state.jobs.unbounded) Bound(work, jobs, asked, of_state);
  // Few evaluations are one launch, of thread blocks.
  const bool warps = indices.size() > static_cast<std::size_t>(device_->concurrent_blocks());
  const std::size_t small = warps ? of_state.small : 0;
  const auto prepare = [&](Workspaces& workspaces, std::size_t evaluations, bool with_balanced,
                           std::int32_t teams) -> DeviceResult<void> {
    if (evaluations == 0) return {};
    return workspaces.Prepare(
        state.snapshot().tree(), with_balanced,
        static_cast<std::int32_t>(std::min(evaluations, static_cast<std::size_t>(teams))));
  };
  DeviceResult<void> done = prepare(workspaces_, indices.size() - small, of_state.jobs.balanced,
                                    device_->concurrent_blocks());
  if (done) done = prepare(small_workspaces_, small, false, device_->concurrent_warps());
  if (!done) return done;
  while (!indices.empty()) {
    Wave wave(*device_, **mirror, state, counts_cache_, workspaces_, small_workspaces_);
    wave.Reserve(indices.size());
    for (; !indices.empty(); indices = indices.subspan(1)) {
      const std::size_t index = indices.front();
      const Evaluation& one = asked[index];
      const PlacementJob& job = jobs[static_cast<std::size_t>(one.job)];
      KnownJob& known = known_.Of(one.job);
      const BoundedWork most = WorkOf(work, job, one.pods, warps, known);
      if (most.steps > kMaxBlockSteps) {
        answers.declined.push_back(index);
        continue;
      }
      if (!wave.HasShape(known)) {
        const DeviceResult<bool> added = wave.AddShape(job, known);
        if (!added) return tl::unexpected(added.error());
        if (!*added) break;
      }
      if (!wave.Add(known, one.pods, index, most)) break;
    }
    if (wave.empty()) return device_->Synchronize();  // for the mirror
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
  const DeviceResult<StateMirror*> mirror = Mirror(state);
  if (!mirror) return tl::unexpected(mirror.error());
  const InOrderPieces& pieces = (*mirror)->Pieces(state);
  std::size_t count = 0;
  std::int64_t steps = 0;
  std::int64_t shares = 0;
  for (; count < asked.size() && !pieces.unit_begin.empty(); ++count) {
    const PlacementJob& job = job_of(asked[count]);
    if (job.state != &state || !FitsInOrder(job)) break;
    steps += StepsInOrder(job, asked[count].pods, (*mirror)->work(), pieces.extent);
    shares += MostShares(state.snapshot().leaf_count(), asked[count].pods, /*leader=*/false);
    if (steps > kMaxBlockSteps || shares > kMaxSharesInOrder) break;
  }
  if (count == 0) {
    if (auto waited = device_->Synchronize(); !waited) return tl::unexpected(waited.error());
    return answers;
  }
  DeviceResult<void> done = workspaces_.Prepare(state.snapshot().tree(), false, 1);
  if (done) {
    done = DecideInOrder(*device_, **mirror, pieces, jobs, asked.first(count), workspaces_,
                         in_order_, answers);
  }
  if (!done) return tl::unexpected(done.error());
  return answers;
}

}  // namespace espalier
