#include "host/cuda/device_session.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "host/cuda/job_work.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMaxMirrors = 8;

// Shares of the memory that is free; the rest is for mirrors and answers.
std::size_t CountsBytes(const Device& device) { return device.free_memory_bytes() / 4; }
std::size_t WorkspaceBytes(const Device& device) { return device.free_memory_bytes() / 8; }

}  // namespace

DeviceSession::DeviceSession(std::unique_ptr<Device> device)
    : device_(std::move(device)),
      counts_bytes_(CountsBytes(*device_)),
      counts_cache_(*device_, counts_bytes_),
      workspaces_(*device_, WorkspaceBytes(*device_)),
      wave_memory_(*device_) {}

DeviceSession::~DeviceSession() {
  // Queued work may still use memory that goes first; a device that is lost has none.
  (void)device_->Synchronize();
}

DeviceResult<std::vector<std::size_t>> DeviceSession::Evaluate(std::span<const PlacementJob> jobs,
                                                               std::span<PlacementResult> results) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto state_of = [&](std::size_t i) { return jobs[i].state->identity(); };
  std::ranges::stable_sort(order, {}, state_of);
  std::vector<std::size_t> declined;
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && state_of(order[end]) == state_of(order[first])) ++end;
    const auto done =
        EvaluateState(jobs, std::span(order).subspan(first, end - first), results, declined);
    if (!done) return tl::unexpected(done.error());
    first = end;
  }
  return declined;
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
                                                std::span<const std::size_t> indices,
                                                std::span<PlacementResult> results,
                                                std::vector<std::size_t>& declined) {
  const FlavorState& state = *jobs[indices.front()].state;
  const DeviceResult<StateMirror*> mirror = Mirror(state);
  if (!mirror) return tl::unexpected(mirror.error());
  const bool balanced =
      std::ranges::any_of(indices, [&](std::size_t i) { return jobs[i].query.balanced; });
  const auto blocks = static_cast<std::int32_t>(
      std::min(indices.size(), static_cast<std::size_t>(device_->concurrent_blocks())));
  if (auto done = workspaces_.Prepare(state.snapshot().tree(), balanced, blocks); !done) {
    return done;
  }
  const JobWork work(state.snapshot().tree());
  while (!indices.empty()) {
    Wave wave(*device_, **mirror, state, counts_bytes_, workspaces_.size());
    for (; !indices.empty(); indices = indices.subspan(1)) {
      const std::size_t index = indices.front();
      const std::int64_t steps = work.Steps(jobs[index]);
      if (steps > kMaxBlockSteps) {
        declined.push_back(index);
        continue;
      }
      const DeviceResult<bool> added = wave.Add(jobs[index], index, steps, counts_cache_);
      if (!added) return tl::unexpected(added.error());
      if (!*added) break;
    }
    if (wave.empty()) break;
    if (auto done = wave.Run(workspaces_, wave_memory_, results, declined); !done) return done;
  }
  return {};
}

}  // namespace espalier
