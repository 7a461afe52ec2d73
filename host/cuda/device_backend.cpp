#include "host/cuda/device_backend.hpp"

#include <algorithm>
#include <numeric>
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

template <class Work>
DeviceResult<bool> DeviceBackend::WithSession(const Work& work) {
  if (session_ == nullptr) {
    if (options_.now() < next_try_) return false;
    if (DeviceResult<void> opened = Open(); !opened) {
      return tl::unexpected(std::move(opened.error()));
    }
  }
  // A failure in the middle, of the host's memory too, ends the session.
  std::unique_ptr<DeviceSession> session = std::move(session_);
  if (DeviceResult<void> done = work(*session); !done) {
    return tl::unexpected(std::move(done.error()));
  }
  session_ = std::move(session);
  retry_ = options_.first_retry;
  return true;
}

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
  blocks_ = static_cast<std::size_t>(session_->device().concurrent_blocks());
  status_.device = session_->device().name();
  if (watcher_ && !was_ready) watcher_(status_);
  return {};
}

void DeviceBackend::Evaluate(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
                             PlacementColumns& answers) {
  answers.Clear();  // gives back what the device has lent
  if (asked.empty()) return;
  const auto on_cpu = [&] {
    cpu_->Evaluate(jobs, asked, answers);
    RecordJobs(0, asked.size());
  };
  WorkBudget& budget = *jobs[static_cast<std::size_t>(asked.front().job)].budget;
  if (budget.stopped()) return cpu_->Evaluate(jobs, asked, answers);
  if (Choose(asked.size()) == Crossover::Side::kCpu) {
    const Clock::time_point start = options_.now();
    on_cpu();
    return Learn(Crossover::Side::kCpu, asked.size(), start);
  }
  DeviceResult<DeviceAnswers> decided;
  Clock::time_point start;
  bool away = false;
  {
    const Turn turn(*this, budget);
    if (!turn.came()) return on_cpu();
    start = options_.now();
    decided = EvaluateOnDevice(jobs, asked);
    if (!decided) NoteFault(std::move(decided.error()));
    away = session_ == nullptr;
  }
  if (!decided) return on_cpu();
  const std::size_t declined = decided->declined.size();
  Complete(jobs, asked, *decided, answers);
  if (!away) Learn(Crossover::Side::kDevice, asked.size(), start);
  RecordJobs(asked.size() - declined, declined, away ? 0 : declined);
}

void DeviceBackend::Prepare(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked) {
  if (!options_.every_batch) cpu_->Prepare(jobs, asked);
}

std::size_t DeviceBackend::quick_batch() const {
  // A block decides an evaluation in a few microseconds, which a launch and a wait take as well.
  constexpr std::size_t kOfBlock = 8;
  const std::lock_guard lock(status_mutex_);
  return status_.ready ? std::max(blocks_ * kOfBlock, kQuickBatch) : kQuickBatch;
}

std::size_t DeviceBackend::in_order_batch() const {
  constexpr std::size_t kInOrderBatch = 4096;
  const std::lock_guard lock(status_mutex_);
  return options_.every_batch && status_.ready ? kInOrderBatch : 0;
}

std::size_t DeviceBackend::EvaluateInOrder(std::span<const PlacementJob> jobs,
                                           std::span<const Evaluation> asked,
                                           PlacementColumns& answers) {
  answers.Clear();
  if (asked.empty() || in_order_batch() == 0) return 0;
  WorkBudget& budget = *jobs[static_cast<std::size_t>(asked.front().job)].budget;
  {
    const Turn turn(*this, budget);
    if (!turn.came()) return 0;
    const DeviceResult<bool> decided =
        WithSession([&](DeviceSession& session) -> DeviceResult<void> {
          DeviceResult<PlacementColumns> columns = session.EvaluateInOrder(jobs, asked);
          if (!columns) return tl::unexpected(std::move(columns.error()));
          answers = *std::move(columns);
          return {};
        });
    if (!decided) {
      NoteFault(decided.error());
      return 0;
    }
  }
  if (answers.size() == 0) return 0;
  budget.Charge(static_cast<std::int64_t>(answers.shares.size() * sizeof(LeafShare)));
  RecordJobs(answers.size(), 0);
  return answers.size();
}

DeviceResult<DeviceAnswers> DeviceBackend::EvaluateOnDevice(std::span<const PlacementJob> jobs,
                                                            std::span<const Evaluation> asked) {
  DeviceAnswers answers;
  const DeviceResult<bool> done = WithSession([&](DeviceSession& session) -> DeviceResult<void> {
    DeviceResult<DeviceAnswers> decided = session.Evaluate(jobs, asked);
    if (!decided) return tl::unexpected(std::move(decided.error()));
    answers = *std::move(decided);
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  if (!*done) {
    answers.declined.resize(asked.size());
    std::iota(answers.declined.begin(), answers.declined.end(), std::size_t{0});
  }
  return answers;
}

void DeviceBackend::CountEach(std::span<const PlacementJob> jobs,
                              std::span<const DomainReading> readings, const CountsVisitor& visit) {
  if (jobs.empty()) return;
  std::vector<std::size_t> counted;
  if (options_.every_batch) {
    const Turn turn(*this, *jobs.front().budget);
    if (turn.came()) {
      DeviceResult<bool> done = WithSession([&](DeviceSession& session) {
        return session.CountEach(jobs, readings, visit, counted);
      });
      if (!done) NoteFault(std::move(done.error()));
    }
  }
  RecordJobs(counted.size(), jobs.size() - counted.size());
  if (counted.size() == jobs.size()) return;
  if (counted.empty()) return cpu_->CountEach(jobs, readings, visit);
  std::vector<bool> was_counted(jobs.size(), false);
  for (const std::size_t i : counted) was_counted[i] = true;
  std::vector<PlacementJob> rest;
  std::vector<DomainReading> readings_of_rest;
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (was_counted[i]) continue;
    for (DomainReading reading : ReadingsOf(readings, i)) {
      reading.job = rest.size();
      readings_of_rest.push_back(reading);
    }
    rest.push_back(jobs[i]);
    index.push_back(i);
  }
  CountsVisitor visit_rest;
  if (visit) {
    visit_rest = [&](std::size_t i, const CountsView& counts) { visit(index[i], counts); };
  }
  cpu_->CountEach(rest, readings_of_rest, visit_rest);
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

void DeviceBackend::Complete(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
                             DeviceAnswers& on_device, PlacementColumns& answers) {
  WorkBudget& budget = *jobs[static_cast<std::size_t>(asked.front().job)].budget;
  for (const PlacementColumns& part : on_device.parts) {
    budget.Charge(static_cast<std::int64_t>(part.shares.size() * sizeof(LeafShare)));
  }
  if (!on_device.declined.empty()) {
    if (on_device.declined.size() == asked.size()) return cpu_->Evaluate(jobs, asked, answers);
    std::vector<Evaluation> rest;
    for (const std::size_t i : on_device.declined) rest.push_back(asked[i]);
    cpu_->Evaluate(jobs, rest, on_device.parts.emplace_back());
    on_device.decided.push_back(std::move(on_device.declined));
  }
  // The one part of a batch on one state is in the order that was asked for.
  if (on_device.parts.size() == 1) {
    std::swap(answers, on_device.parts.front());
    return;
  }
  std::vector<RowOfPart> rows(asked.size());
  for (std::size_t part = 0; part < on_device.parts.size(); ++part) {
    const std::vector<std::size_t>& decided = on_device.decided[part];
    for (std::size_t row = 0; row < decided.size(); ++row) {
      rows[decided[row]] = {static_cast<std::int32_t>(part), static_cast<std::int32_t>(row)};
    }
  }
  Gather(on_device.parts, rows, answers);
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
