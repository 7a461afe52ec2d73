#include "host/cuda/device_backend.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace espalier {

// A turn of one batch on the device, which serves one after the other.
class DeviceBackend::Turn {
 public:
  // Waits for its turn, but no longer than the options say, nor when the budget is stopped.
  Turn(DeviceBackend& backend, const WorkBudget& budget) : backend_(backend) {
    constexpr std::chrono::milliseconds kBetweenLooks(10);
    using std::chrono::steady_clock;
    std::unique_lock lock(backend_.turn_mutex_);
    const auto last = steady_clock::now() + backend_.options_.patience;
    while (backend_.taken_ && !budget.stopped() && steady_clock::now() < last) {
      backend_.turn_ended_.wait_until(lock, std::min(last, steady_clock::now() + kBetweenLooks));
    }
    came_ = !std::exchange(backend_.taken_, true);
  }
  ~Turn() {
    if (!came_) return;
    {
      const std::lock_guard lock(backend_.turn_mutex_);
      backend_.taken_ = false;
    }
    backend_.turn_ended_.notify_one();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool came() const { return came_; }

 private:
  DeviceBackend& backend_;
  bool came_ = false;
};

DeviceBackend::DeviceBackend(std::string_view name, OpenDevice open, std::shared_ptr<Backend> cpu,
                             const DeviceBackendOptions& options)
    : name_(name),
      open_(std::move(open)),
      cpu_(std::move(cpu)),
      options_(options),
      retry_(options.first_retry) {
  if (!options.every_batch) status_.crossover_jobs = crossover_.smallest_batch();
}

Result<std::shared_ptr<DeviceBackend>> DeviceBackend::Make(std::string_view name, OpenDevice open,
                                                           std::shared_ptr<Backend> cpu,
                                                           const DeviceBackendOptions& options) {
  std::shared_ptr<DeviceBackend> backend(
      new DeviceBackend(name, std::move(open), std::move(cpu), options));
  if (const DeviceResult<void> opened = backend->Open(); !opened) {
    return tl::unexpected<Error>(Error{
        ErrorClass::kDeviceFault, fmt::format("back end {}: {}: {}", name,
                                              Name(opened.error().fault), opened.error().message)});
  }
  return backend;
}

DeviceResult<void> DeviceBackend::Open() {
  DeviceResult<std::unique_ptr<Device>> device = open_();
  if (!device) return tl::unexpected(std::move(device.error()));
  session_ = std::make_unique<DeviceSession>(*std::move(device));
  const std::lock_guard lock(status_mutex_);
  const bool was_ready = std::exchange(status_.ready, true);
  status_.device = session_->device().name();
  if (watcher_ && !was_ready) watcher_(status_);
  return {};
}

void DeviceBackend::Evaluate(std::span<const PlacementJob> jobs,
                             std::span<PlacementResult> results) {
  if (jobs.empty() || jobs.front().budget->stopped()) return;
  if (Choose(jobs.size()) == Crossover::Side::kCpu) {
    const Clock::time_point start = options_.now();
    cpu_->Evaluate(jobs, results);
    Learn(Crossover::Side::kCpu, jobs.size(), start);
    return RecordJobs(0, jobs.size());
  }
  DeviceResult<std::vector<std::size_t>> declined;
  Clock::time_point start;
  bool away = false;
  {
    const Turn turn(*this, *jobs.front().budget);
    if (!turn.came()) {
      cpu_->Evaluate(jobs, results);
      return RecordJobs(0, jobs.size());
    }
    start = options_.now();
    declined = EvaluateOnDevice(jobs, results);
    if (!declined) NoteFault(std::move(declined.error()));
    away = session_ == nullptr;
  }
  if (!declined) {
    cpu_->Evaluate(jobs, results);
    return RecordJobs(0, jobs.size());
  }
  EvaluateOnCpu(jobs, results, *declined);
  if (!away) Learn(Crossover::Side::kDevice, jobs.size(), start);
  RecordJobs(jobs.size() - declined->size(), declined->size(), away ? 0 : declined->size());
}

void DeviceBackend::Prepare(std::span<const PlacementJob> jobs) {
  if (!options_.every_batch) cpu_->Prepare(jobs);
}

std::size_t DeviceBackend::lookahead() const {
  const std::lock_guard lock(status_mutex_);
  return status_.ready ? options_.lookahead : 1;
}

DeviceResult<std::vector<std::size_t>> DeviceBackend::EvaluateOnDevice(
    std::span<const PlacementJob> jobs, std::span<PlacementResult> results) {
  if (session_ == nullptr) {
    if (options_.now() < next_try_) {
      std::vector<std::size_t> all(jobs.size());
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
      return all;
    }
    if (DeviceResult<void> opened = Open(); !opened) {
      return tl::unexpected(std::move(opened.error()));
    }
  }
  // A failure in the middle, of the host's memory too, ends the session.
  std::unique_ptr<DeviceSession> session = std::move(session_);
  auto declined = session->Evaluate(jobs, results);
  if (!declined) return declined;
  session_ = std::move(session);
  retry_ = options_.first_retry;
  for (const PlacementResult& result : results) {
    jobs.front().budget->Charge(
        static_cast<std::int64_t>(result.shares.size() * sizeof(LeafShare)));
  }
  return declined;
}

void DeviceBackend::NoteFault(DeviceError fault) {
  next_try_ = options_.now() + retry_;
  retry_ = std::min(retry_ * 2, options_.last_retry);
  const std::lock_guard lock(status_mutex_);
  status_.ready = false;
  status_.fault = std::move(fault);
  ++status_.faults;
  if (watcher_) watcher_(status_);
}

void DeviceBackend::Watch(Watcher watcher) {
  const std::lock_guard lock(status_mutex_);
  watcher_ = std::move(watcher);
  if (watcher_) watcher_(status_);
}

void DeviceBackend::EvaluateOnCpu(std::span<const PlacementJob> jobs,
                                  std::span<PlacementResult> results,
                                  std::span<const std::size_t> indices) {
  if (indices.empty()) return;
  if (indices.size() == jobs.size()) return cpu_->Evaluate(jobs, results);
  std::vector<PlacementJob> some;
  for (const std::size_t i : indices) some.push_back(jobs[i]);
  std::vector<PlacementResult> answers(some.size());
  cpu_->Evaluate(some, answers);
  for (std::size_t i = 0; i < indices.size(); ++i) results[indices[i]] = std::move(answers[i]);
}

void DeviceBackend::RecordJobs(std::size_t on_device, std::size_t on_cpu, std::size_t declined) {
  const std::lock_guard lock(status_mutex_);
  if (on_device > 0) ++status_.batches_on_device;
  status_.jobs_on_device += on_device;
  status_.jobs_on_cpu += on_cpu;
  status_.jobs_declined += declined;
}

Crossover::Side DeviceBackend::Choose(std::size_t jobs) {
  if (options_.every_batch) return Crossover::Side::kDevice;
  const std::lock_guard lock(status_mutex_);
  return crossover_.Choose(jobs);
}

void DeviceBackend::Learn(Crossover::Side side, std::size_t jobs, Clock::time_point start) {
  if (options_.every_batch) return;
  const Clock::duration time = options_.now() - start;
  const std::lock_guard lock(status_mutex_);
  crossover_.Learn(side, jobs, time);
  status_.crossover_jobs = crossover_.smallest_batch();
}

DeviceStatus DeviceBackend::status() const {
  const std::lock_guard lock(status_mutex_);
  return status_;
}

}  // namespace espalier
