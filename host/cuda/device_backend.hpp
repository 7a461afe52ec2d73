// The back end on a device. Its answers are those of the CPU back end, bit for bit; what the device
// cannot answer at the moment, the CPU back end answers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "host/cuda/crossover.hpp"
#include "host/cuda/device.hpp"
#include "host/cuda/device_session.hpp"
#include "host/engine/backend.hpp"
#include "host/model/result.hpp"

namespace espalier {

struct DeviceBackendOptions {
  bool every_batch = false;  // every batch goes to the device, not only those that Crossover sends
  // Wait before the device is opened again after a fault; doubled after each failure.
  std::chrono::milliseconds first_retry{1000};
  std::chrono::milliseconds last_retry{60000};
  // Time that a batch waits for those before it; after that the CPU answers it.
  std::chrono::milliseconds patience = kLongestWait;
  // Clock, replaced in tests. Called by several threads at once.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

// Status of a device, for health and metrics.
struct DeviceStatus {
  std::string device;                // its name; empty when none was ever opened
  bool ready = false;                // false: the CPU answers everything until the next retry
  std::optional<DeviceError> fault;  // the last fault, if there was any
  std::uint64_t faults = 0;
  std::uint64_t batches_on_device = 0;
  std::uint64_t jobs_on_device = 0;
  std::uint64_t jobs_on_cpu = 0;    // too few, declined, or while there was no device
  std::uint64_t jobs_declined = 0;  // of these, too much work or memory for the device
  std::size_t crossover_jobs = 1;   // batches of at least this many jobs go to the device
};

class DeviceBackend final : public Backend {
 public:
  // Opens the device, at first and after each fault. Devices opened before are destroyed by then.
  using OpenDevice = std::function<DeviceResult<std::unique_ptr<Device>>()>;

  // Makes a back end and opens its device. Errors (kDeviceFault): the device cannot be opened.
  // `name` is a literal; `cpu` is never null.
  static Result<std::shared_ptr<DeviceBackend>> Make(std::string_view name, OpenDevice open,
                                                     std::shared_ptr<Backend> cpu,
                                                     const DeviceBackendOptions& options = {});

  std::string_view name() const override { return name_; }
  void Evaluate(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
                PlacementColumns& answers) override;
  // Prepares the CPU back end, which runs jobs that are evaluated one by one, unless every batch
  // goes to the device.
  void Prepare(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked) override;
  // Counts on the CPU, which reads the same capacity: one shape is not worth a device.
  void CountDomains(const PlacementJob& job, CountsStorage& counts) const override {
    cpu_->CountDomains(job, counts);
  }
  // Counts on the device if every batch goes there, and on the CPU what it leaves.
  void CountEach(std::span<const PlacementJob> jobs, std::span<const DomainReading> readings,
                 const CountsVisitor& visit) override;
  // Returns as many as keep the whole device busy, or as on the CPU while there is none.
  std::size_t quick_batch() const override;
  // Decides in order on the device where every batch goes there, none while there is no device.
  std::size_t in_order_batch() const override;
  std::size_t EvaluateInOrder(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
                              PlacementColumns& answers) override;

  // Returns the current status. Thread-safe.
  DeviceStatus status() const;

  // Calls `watcher` now and whenever the device is lost or opened again, one call at a time, from
  // the thread that notices it; it must not call this object. An empty watcher ends that: no call
  // is in flight when this returns. Thread-safe.
  using Watcher = std::function<void(const DeviceStatus&)>;
  void Watch(Watcher watcher);

 private:
  using Clock = std::chrono::steady_clock;

  DeviceBackend(std::string_view name, OpenDevice open, std::shared_ptr<Backend> cpu,
                const DeviceBackendOptions& options);

  class Turn;

  DeviceResult<void> Open();
  // Calls work(session), having opened the device again where it is time to. Returns false, and
  // does nothing, while there is none.
  template <class Work>
  DeviceResult<bool> WithSession(const Work& work);
  // Makes evaluations on the device; declines all while there is none.
  DeviceResult<DeviceAnswers> EvaluateOnDevice(std::span<const PlacementJob> jobs,
                                               std::span<const Evaluation> asked);
  void NoteFault(DeviceError fault);
  // Makes the evaluations that the device left out and puts all answers together.
  void Complete(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
                DeviceAnswers& on_device, PlacementColumns& answers);
  void RecordJobs(std::size_t on_device, std::size_t on_cpu, std::size_t declined = 0);
  Crossover::Side Choose(std::size_t jobs);
  // Records the time of a batch that began at `start` and ends now.
  void Learn(Crossover::Side side, std::size_t jobs, Clock::time_point start);

  std::string_view name_;
  OpenDevice open_;
  std::shared_ptr<Backend> cpu_;
  DeviceBackendOptions options_;

  std::mutex turn_mutex_;  // guards taken_; never held while the device works
  bool taken_ = false;     // by a batch, which alone uses the three after turn_ended_
  std::condition_variable turn_ended_;
  std::unique_ptr<DeviceSession> session_;  // null while there is no device
  Clock::time_point next_try_;
  std::chrono::milliseconds retry_;

  mutable std::mutex status_mutex_;  // guards all below
  std::size_t blocks_ = 0;           // of the device that decide at a time
  Crossover crossover_;              // not used when every batch goes to the device
  DeviceStatus status_;
  Watcher watcher_;
};

}  // namespace espalier
