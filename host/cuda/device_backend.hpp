// The back end on a device. What it answers is what the CPU back end answers, bit for bit; what the
// device cannot answer now, the CPU back end does.
#pragma once

#include <chrono>
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
  bool every_batch = false;   // goes to the device; else those that Crossover sends there
  std::size_t lookahead = 1;  // requests in order that are decided together; see Backend
  // After a fault the device is tried again when this long has passed, then twice as long and so
  // on.
  std::chrono::milliseconds first_retry{1000};
  std::chrono::milliseconds last_retry{60000};
  // Called by several threads at once. Another one in tests.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

// For health and metrics.
struct DeviceStatus {
  std::string device;                // its name, as far as one was ever opened
  bool ready = false;                // false: the CPU answers everything until the next retry
  std::optional<DeviceError> fault;  // the last one; none before the first
  std::uint64_t faults = 0;
  std::uint64_t batches_on_device = 0;
  std::uint64_t jobs_on_device = 0;
  std::uint64_t jobs_on_cpu = 0;   // too few, declined, or while the device was away
  std::size_t crossover_jobs = 1;  // batches of at least this many jobs go to the device
};

class DeviceBackend final : public Backend {
 public:
  // Opens the device, at first and after each fault. The devices opened before are gone by then.
  using OpenDevice = std::function<DeviceResult<std::unique_ptr<Device>>()>;

  // Errors (kDeviceFault): the device cannot be opened. `name` is a literal; `cpu` is never null.
  static Result<std::shared_ptr<DeviceBackend>> Make(std::string_view name, OpenDevice open,
                                                     std::shared_ptr<Backend> cpu,
                                                     const DeviceBackendOptions& options = {});

  std::string_view name() const override { return name_; }
  void Evaluate(std::span<const PlacementJob> jobs, std::span<PlacementResult> results) override;
  // Jobs that are evaluated one by one run on the CPU, unless the device takes every batch.
  void Prepare(std::span<const PlacementJob> jobs) override;
  // One by one while the device is away.
  std::size_t lookahead() const override;

  // Thread-safe.
  DeviceStatus status() const;

  // Calls `watcher` now and from then on whenever the device goes away or comes back, one call at a
  // time, from the thread that met it; it must not call this object. An empty one ends that: no
  // call is under way when this returns. Thread-safe.
  using Watcher = std::function<void(const DeviceStatus&)>;
  void Watch(Watcher watcher);

 private:
  using Clock = std::chrono::steady_clock;

  DeviceBackend(std::string_view name, OpenDevice open, std::shared_ptr<Backend> cpu,
                const DeviceBackendOptions& options);

  DeviceResult<void> Open();
  // The indices of jobs that are left to the CPU.
  DeviceResult<std::vector<std::size_t>> EvaluateOnDevice(std::span<const PlacementJob> jobs,
                                                          std::span<PlacementResult> results);
  void NoteFault(DeviceError fault);
  void EvaluateOnCpu(std::span<const PlacementJob> jobs, std::span<PlacementResult> results,
                     std::span<const std::size_t> indices);
  void CountJobs(std::size_t on_device, std::size_t on_cpu);
  Crossover::Side Choose(std::size_t jobs);
  // A batch that is answered now was begun at `start`.
  void Learn(Crossover::Side side, std::size_t jobs, Clock::time_point start);

  std::string_view name_;
  OpenDevice open_;
  std::shared_ptr<Backend> cpu_;
  DeviceBackendOptions options_;

  std::mutex device_mutex_;                 // one batch at a time; guards the three below
  std::unique_ptr<DeviceSession> session_;  // null while the device is away
  Clock::time_point next_try_;
  std::chrono::milliseconds retry_;

  mutable std::mutex status_mutex_;  // guards the three below
  Crossover crossover_;              // unless every batch goes to the device
  DeviceStatus status_;
  Watcher watcher_;
};

}  // namespace espalier
