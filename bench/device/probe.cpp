// Measures the best that a device can do through the interface that the back end uses: bandwidth of
// copies and of memory, latency of launches and waits. Usage: device_probe DEVICE [--seconds S]
// Prints one JSON object a line as it is measured, with what the model of GPUs assumes where it
// assumes something; exit code 0 when everything was measured.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/device/open_device.hpp"
#include "bench/gpu_model/gpu_model.hpp"
#include "bench/scenarios/measure.hpp"
#include "host/cuda/device_memory.hpp"

namespace espalier {
namespace {

constexpr std::size_t kLarge = std::size_t{64} << 20;  // bytes
constexpr std::size_t kSmall = std::size_t{4} << 10;
constexpr std::int32_t kLaunches = 64;
constexpr std::int32_t kAmounts = std::int32_t{1} << 24;  // 128 MiB, more than caches hold
constexpr int kProbes = 12;
// The GPU that assumptions are printed of; the others differ in their memory only.
constexpr GpuFigures kAssumed = kModelledGpus.front();

class Probe {
 public:
  Probe(Device& device, double seconds)
      : device_(device), seconds_each_(seconds / kProbes), memory_(device), pinned_(device) {}

  DeviceResult<void> Run() {
    for (const auto& done : {memory_.Reserve(kMemory), pinned_.Reserve(kLarge)}) {
      if (!done) return done;
    }
    const std::vector<std::byte> pageable(kLarge, std::byte{1});
    std::vector<std::byte> back(kLarge);
    std::fill_n(pinned_.data(), kLarge, std::byte{1});
    for (const std::size_t bytes : {kLarge, kSmall}) {
      Bytes("copy to the device, pinned", bytes, kAssumed.bus_bytes_per_second,
            [&] { return device_.CopyToDevice(memory_.data(), pinned_.data(), bytes); });
      Bytes("copy to the device, pageable", bytes, 0,
            [&] { return device_.CopyToDevice(memory_.data(), pageable.data(), bytes); });
      Bytes("copy to the host, pinned", bytes, kAssumed.bus_bytes_per_second,
            [&] { return device_.CopyToHost(pinned_.data(), memory_.data(), bytes); });
      Bytes("copy to the host, pageable", bytes, 0,
            [&] { return device_.CopyToHost(back.data(), memory_.data(), bytes); });
    }
    Bytes("memory, clearing", kMemory, kAssumed.memory_bytes_per_second,
          [&] { return device_.Clear(memory_.data(), kMemory); });
    if (auto done = Scatter(); !done) return done;
    Latency();
    return failed_ ? tl::unexpected(*failed_) : DeviceResult<void>();
  }

 private:
  static constexpr std::size_t kMemory =
      (2 * sizeof(Amount) + sizeof(std::int32_t)) * static_cast<std::size_t>(kAmounts);

  // Returns the median seconds of `work`, the wait included, after a first time that does not
  // count.
  double Seconds(const std::function<DeviceResult<void>()>& work) {
    std::vector<double> seconds;
    const double begun = Now();
    do {
      const double start = Now();
      DeviceResult<void> done = work();
      if (done) done = device_.Synchronize();
      if (!done) {
        failed_ = std::move(done.error());
        return 0;
      }
      seconds.push_back(Now() - start);
    } while (seconds.size() < 3 || (seconds.size() < 1000 && Now() - begun < seconds_each_));
    seconds.erase(seconds.begin());
    std::ranges::sort(seconds);
    return Percentile(seconds, 50);
  }

  void Bytes(std::string_view what, std::size_t bytes, double assumed,
             const std::function<DeviceResult<void>()>& work) {
    if (failed_) return;
    const double seconds = Seconds(work);
    if (failed_) return;
    fmt::print(R"({{"probe":"{}","bytes":{},"us":{:.2f},"gb_per_s":{:.2f},"model":{:.0f}}})"
               "\n",
               what, bytes, seconds * 1e6, static_cast<double>(bytes) / seconds / 1e9,
               bytes >= kLarge ? assumed / 1e9 : 0);
    std::fflush(stdout);
  }

  void Time(std::string_view what, double seconds, double assumed) {
    if (failed_) return;
    fmt::print(R"({{"probe":"{}","us":{:.2f},"model":{:.1f}}})"
               "\n",
               what, seconds * 1e6, assumed * 1e6);
    std::fflush(stdout);
  }

  // A kernel of the back end that reads and writes memory in order, and does nothing else.
  DeviceResult<void> Scatter() {
    const auto amounts = static_cast<std::size_t>(kAmounts);
    std::vector<std::int32_t> leaves(amounts);
    std::iota(leaves.begin(), leaves.end(), 0);
    ScatterArgs args;
    args.amounts = reinterpret_cast<Amount*>(memory_.data());
    args.stride = args.size = kAmounts;
    args.columns = 1;
    args.new_amounts = args.amounts + amounts;
    args.leaf = reinterpret_cast<const std::int32_t*>(args.new_amounts + amounts);
    DeviceResult<void> sent = device_.CopyToDevice(const_cast<std::int32_t*>(args.leaf),
                                                   leaves.data(), amounts * sizeof(std::int32_t));
    if (sent) sent = device_.Synchronize();
    if (!sent) return sent;
    const KernelCall call = args;
    Bytes("memory, scatter_kernel", kMemory, kAssumed.memory_bytes_per_second, [&] {
      return device_.Launch({&call, 1});
    });
    args.size = 1;
    nothing_ = args;
    return {};
  }

  // Kernels that do next to nothing: one after the other, and as a sequence that repeats.
  void Latency() {
    const KernelCall& nothing = nothing_;
    const auto launches = [&](std::int32_t count) {
      return Seconds([&, count]() -> DeviceResult<void> {
        for (std::int32_t i = 0; i < count; ++i) {
          if (auto done = device_.Launch({&nothing, 1}); !done) return done;
        }
        return {};
      });
    };
    Time("wait for nothing", launches(0), 0);
    const double one = launches(1);
    Time("launch and wait", one, kAssumed.launch_seconds + kAssumed.wait_seconds);
    Time("one more launch", (launches(kLaunches) - one) / (kLaunches - 1), kAssumed.launch_seconds);
    const std::vector<KernelCall> sequence(static_cast<std::size_t>(kLaunches), nothing);
    const double repeated = Seconds([&] { return device_.Launch(sequence); });
    Time("one more launch of a sequence that repeats", (repeated - one) / (kLaunches - 1), 0);
  }

  Device& device_;
  double seconds_each_;
  DeviceMemory memory_;
  PinnedMemory pinned_;
  KernelCall nothing_;  // a kernel that does next to nothing, once Scatter has returned
  std::optional<DeviceError> failed_;
};

int Main(std::string_view name, double seconds) {
  const auto device = OpenDeviceByName(name);
  const auto report = [](const DeviceError& error) {
    fmt::print(stderr, "{}: {}\n", Name(error.fault), error.message);
    return 1;
  };
  if (!device) return report(device.error());
  fmt::print(R"({{"device":"{}","concurrent_blocks":{},"free_bytes":{}}})"
             "\n",
             (*device)->name(), (*device)->concurrent_blocks(), (*device)->free_memory_bytes());
  std::fflush(stdout);
  const DeviceResult<void> done = Probe(**device, seconds).Run();
  return done ? 0 : report(done.error());
}

}  // namespace
}  // namespace espalier

int main(int argc, char** argv) {
  std::string_view name;
  double seconds = 10;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--seconds" && i + 1 < argc) {
      seconds = std::atof(argv[++i]);
    } else {
      name = argument;
    }
  }
  return espalier::Main(name, seconds);
}
