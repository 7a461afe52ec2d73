#include "bench/scenarios/run_device_host.hpp"

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/replayed_device.hpp"
#include "host/cuda/device_backend.hpp"
#include "host/cuda/emulated_device.hpp"
#include "host/engine/gang_batch.hpp"

namespace espalier {
namespace {

// Enough for the counts of all shapes of the largest scenario. Only what is used takes memory.
constexpr std::size_t kDeviceBytes = std::size_t{16} << 30;
constexpr std::int32_t kBlocks = 132;  // one for each multiprocessor of an H100

}  // namespace

Result<void> RunDeviceHost(const LoadedScenario& loaded, std::shared_ptr<Backend> other,
                           const RunOptions& options, ScenarioResult& result) {
  ReplayedWork work;
  const auto open = [&]() -> DeviceResult<std::unique_ptr<Device>> {
    return MakeReplayedDevice(
        MakeEmulatedDevice({.concurrent_blocks = kBlocks, .free_memory_bytes = kDeviceBytes}),
        work);
  };
  const auto backend = DeviceBackend::Make("replayed", open, other, {.every_batch = true});
  if (!backend) return tl::unexpected(backend.error());
  const ClusterState state = loaded.state.Clone();
  GangBatch batch(state, loaded.mix.gates, loaded.mix.shapes);
  GangAnswers answers;
  const auto ask = [&] { batch.Nominate(**backend, loaded.mix.gangs, answers); };

  tbb::task_arena(1).execute([&] {
    work.Begin(ReplayedWork::Mode::kDo);
    ask();  // the state and the counts are on the device
    ask();  // and the host's memory is as large as it becomes
    work.Begin(ReplayedWork::Mode::kRecord);
    ask();
    result.digest = DigestOf(answers, answers.status.size());
    result.stages = Repeat(options.repeat, [&](StageTimes& times) {
      work.Begin(ReplayedWork::Mode::kReplay);
      times.Time("host", ask);
    });
  });

  const DeviceStatus status = (*backend)->status();
  if (status.fault) result.problems.push_back(status.fault->message);
  if (status.jobs_on_cpu > 0) {
    result.problems.push_back(fmt::format("{} jobs were left to the CPU", status.jobs_on_cpu));
  }
  if (DigestOf(answers, answers.status.size()) != result.digest) {
    result.problems.emplace_back("the replayed answers are not those that were recorded");
  }
  result.quality = {{"launches", work.launches},
                    {"copies", work.copies},
                    {"bytesToDevice", work.bytes_there},
                    {"bytesToHost", work.bytes_back},
                    {"allocations", work.allocations}};
  if (!options.check) return {};
  GangAnswers others;
  batch.Nominate(*other, loaded.mix.gangs, others);
  if (DigestOf(others, others.status.size()) == result.digest) {
    result.checks.push_back(fmt::format("answers equal those of {}", other->name()));
  } else {
    result.problems.push_back(fmt::format("the answers are not those of {}", other->name()));
  }
  return {};
}

}  // namespace espalier
