// How long a device takes for scenarios of the benchmark suite, next to the CPU on the same
// machine, with the same answers. Usage: device_speed BACKEND [--largest NODES] [--kernels]
//   --largest: cuts clusters down to so many nodes; 131072 unless told
//   --kernels: what each kernel took instead, by the device's own clock
// Prints one JSON object a line; exit code 1 when an answer differs from the CPU's.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/scenarios/loaded_scenario.hpp"
#include "bench/scenarios/measure.hpp"
#include "bench/scenarios/scenario_table.hpp"
#include "fallback_cpu/cpu_backend.hpp"
#include "host/cuda/cuda_device.hpp"
#include "host/cuda/emulated_device.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/packing/flavor_state.hpp"
#include "service/backends/backends.hpp"

namespace espalier {
namespace {

// Multiply and minimum for one amount of one node and one shape on an H200, all processors busy.
constexpr double kCellsPerMillisecond = 1.48e10;
constexpr RepeatOptions kRepeats = {.repeats = 20};
constexpr RepeatOptions kRepeatsInOrder = {.repeats = 5};

enum class Kind {
  kCold,     // on a state that nobody has asked before
  kWarm,     // asked again
  kChanged,  // asked again after a thousand leaves have changed
  kInOrder,  // in order, on a state that nobody has asked before
};

std::string_view Name(Kind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"cold", "warm", "changed", "in order"};
  return kNames[static_cast<std::size_t>(kind)];
}

// The gangs of a scenario on one back end, asked again and again.
class Run {
 public:
  Run(const LoadedScenario& loaded, Kind kind, Backend& backend)
      : loaded_(loaded), kind_(kind), backend_(backend) {}

  // Times in milliseconds, ascending.
  std::vector<double> Measure() {
    const auto stages =
        Repeat(kind_ == Kind::kInOrder ? kRepeatsInOrder : kRepeats, [this](StageTimes& times) {
          Prepare();
          times.Time("compute", [this] { Ask(); });
        });
    std::vector<double> milliseconds;
    for (const double seconds : stages.front().seconds) milliseconds.push_back(seconds * 1e3);
    return milliseconds;
  }

  // Brings about what the question is asked on.
  void Prepare() {
    const bool fresh = kind_ == Kind::kCold || kind_ == Kind::kInOrder;
    if (fresh || !batch_) {
      batch_.reset();
      state_.emplace(loaded_.state.Clone());
      batch_.emplace(*state_, loaded_.mix.gates, loaded_.mix.shapes);
      if (!fresh) Ask();
    }
    if (kind_ == Kind::kChanged) Touch(1000);
  }

  void Ask() {
    if (kind_ == Kind::kInOrder) {
      batch_->PlaceInOrder(backend_, *state_, loaded_.mix.gangs, answers_);
    } else {
      batch_->Nominate(backend_, loaded_.mix.gangs, answers_);
    }
  }

  const GangAnswers& answers() const { return answers_; }

 private:
  // Usage of these leaves changes, and is what it was.
  void Touch(std::int32_t leaves) {
    FlavorState& flavor = *state_->Find(loaded_.flavor_name);
    const Resources pods = {{"pods", 1}};
    for (std::int32_t i = 0; i < leaves; ++i) {
      const LeafId leaf(static_cast<std::int32_t>(next_++ % flavor.snapshot().leaf_count()));
      flavor.Add(leaf, pods);
      flavor.Remove(leaf, pods);
    }
  }

  const LoadedScenario& loaded_;
  Kind kind_;
  Backend& backend_;
  std::optional<ClusterState> state_;
  std::optional<GangBatch> batch_;
  GangAnswers answers_;
  std::int64_t next_ = 0;
};

struct Case {
  std::string scenario;
  Kind kind = Kind::kCold;
  std::int64_t gangs = 0;  // only the first so many; 0: all
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const char* scenario : {"B21/R4", "B21/R8", "B21/R30", "B22/R8"}) {
    for (const Kind kind : {Kind::kCold, Kind::kWarm, Kind::kChanged}) {
      cases.push_back({scenario, kind});
    }
  }
  cases.push_back({"B23/S256", Kind::kInOrder});
  for (const int nodes : {1024, 10240, 50176}) {
    cases.push_back({fmt::format("B50/N{}-W256-R8", nodes), Kind::kCold});
  }
  // From how many gangs on a device is sooner.
  for (const int gangs : {1, 4, 16, 32, 64, 256, 1024}) {
    cases.push_back({"B21/R8", Kind::kWarm, gangs});
  }
  return cases;
}

// Those whose kernels are looked at one by one.
std::vector<Case> KernelCases() {
  return {{"B21/R8", Kind::kCold},
          {"B21/R8", Kind::kChanged},
          {"B22/R8", Kind::kCold},
          {"B23/S256", Kind::kInOrder}};
}

Result<LoadedScenario> Load(const Case& wanted, std::int64_t largest) {
  auto found = FindScenarios(std::array{wanted.scenario});
  if (!found) return tl::unexpected(found.error());
  Scenario& scenario = found->front();
  std::int64_t& nodes = scenario.topology.nodes;
  nodes = nodes == 0 ? largest : std::min(nodes, largest);
  return LoadScenario(scenario, wanted.gangs);
}

std::string Figures(const std::vector<double>& sorted) {
  return fmt::format("[{:.4f},{:.4f},{:.4f}]", sorted.front(), sorted[sorted.size() / 2],
                     sorted.back());
}

// Prints the case and returns whether the answers are the same.
bool Compare(const Case& wanted, const LoadedScenario& loaded, Backend& device, Backend& cpu) {
  Run right(loaded, wanted.kind, cpu);
  Run run(loaded, wanted.kind, device);
  const std::vector<double> cpu_times = right.Measure();
  const DeviceStatus before = StatusOfDevice(device).value_or(DeviceStatus{});
  const std::vector<double> times = run.Measure();
  const DeviceStatus after = StatusOfDevice(device).value_or(DeviceStatus{});
  const bool same = run.answers() == right.answers();
  fmt::print(R"({{"bench":"{}","kind":"{}","nodes":{},"gangs":{},"shapes":{},"same_answers":{},)"
             R"("device_ms":{},"cpu_ms":{},"floor_ms":{:.5f},"batches":{},"decided":{}}})"
             "\n",
             wanted.scenario, Name(wanted.kind), loaded.cluster.size(), loaded.mix.gangs.size(),
             loaded.mix.shapes.size(), same, Figures(times), Figures(cpu_times),
             CountingOnce(loaded).cells / kCellsPerMillisecond,
             after.batches_on_device - before.batches_on_device,
             after.jobs_on_device - before.jobs_on_device);
  return same;
}

void PrintKernels(const Case& wanted, std::int64_t nodes, const KernelTimes& before,
                  const KernelTimes& after) {
  for (std::size_t kernel = 0; kernel < kKernels; ++kernel) {
    const std::int64_t launches = after[kernel].launches - before[kernel].launches;
    if (launches == 0) continue;
    fmt::print(R"({{"kernel":"{}","bench":"{}","kind":"{}","nodes":{},"launches":{},"ms":{:.4f}}})"
               "\n",
               KernelName(kernel), wanted.scenario, Name(wanted.kind), nodes, launches,
               after[kernel].milliseconds - before[kernel].milliseconds);
  }
}

Result<std::shared_ptr<Backend>> MakeTimed(std::string_view name, KernelTimes& times) {
  DeviceBackendOptions options;
  options.every_batch = true;
  options.lookahead = 64;
  return DeviceBackend::Make(
      name,
      [name, &times]() -> DeviceResult<std::unique_ptr<Device>> {
        if (name == "cuda") return OpenCudaDevice(&times);
        return MakeEmulatedDevice({.times = &times});
      },
      MakeCpuBackend(0), options);
}

int Fail(const Error& error) {
  fmt::print(stderr, "{}\n", error.message);
  return 2;
}

int Main(std::string_view name, std::int64_t largest, bool kernels) {
  KernelTimes times;
  const auto device = kernels ? MakeTimed(name, times) : MakeBackend(name, 0);
  if (!device) return Fail(device.error());
  fmt::print(R"({{"backend":"{}","device":"{}","cpu_threads":{}}})"
             "\n",
             name, StatusOfDevice(**device).value_or(DeviceStatus{}).device,
             std::thread::hardware_concurrency());
  const std::shared_ptr<Backend> cpu = MakeCpuBackend(0);
  bool same = true;
  for (const Case& wanted : kernels ? KernelCases() : Cases()) {
    const auto loaded = Load(wanted, largest);
    if (!loaded) return Fail(loaded.error());
    if (!kernels) {
      same = Compare(wanted, *loaded, **device, *cpu) && same;
    } else {
      Run run(*loaded, wanted.kind, **device);
      run.Prepare();
      const KernelTimes before = times;
      run.Ask();
      PrintKernels(wanted, loaded->cluster.size(), before, times);
    }
    std::fflush(stdout);  // what was measured is known when time runs out
  }
  const auto status = StatusOfDevice(**device).value_or(DeviceStatus{});
  if (status.fault) fmt::print(stderr, "device fault: {}\n", status.fault->message);
  return same && !status.fault ? 0 : 1;
}

}  // namespace
}  // namespace espalier

int main(int argc, char** argv) {
  std::string_view name;
  std::int64_t largest = 131072;
  bool kernels = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--kernels") {
      kernels = true;
    } else if (argument == "--largest" && i + 1 < argc) {
      largest = std::atoll(argv[++i]);
    } else {
      name = argument;
    }
  }
  return espalier::Main(name, largest, kernels);
}
