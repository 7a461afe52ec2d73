#include "host/cuda/emulated_device.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>

#include "host/cuda/repeated_launches.hpp"
#include "kernels/team/serial_team.hpp"
#include "kernels/team/thread_team.hpp"

namespace espalier {
namespace {

constexpr std::int32_t kWarpsOfBlock = 4;
constexpr int kPoison = 0xA5;  // a large negative number as a count, a pointer to nowhere
// Blocks in the y direction of a launch, at most, as on every GPU.
constexpr std::int32_t kMostBlocksOfY = 65535;

tl::unexpected<DeviceError> OutOfMemory(std::size_t bytes) {
  return tl::unexpected(DeviceError{DeviceFault::kOutOfMemory,
                                    fmt::format("emulated device: no room for {} bytes", bytes)});
}

struct Unmap {
  std::size_t bytes = 0;
  void operator()(void* memory) const { munmap(memory, bytes); }
};
using Pages = std::unique_ptr<void, Unmap>;

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(const EmulatedDeviceOptions& options)
      : options_(options), order_(options.block_order) {}
  std::string_view name() const override { return "emulated"; }
  std::int32_t concurrent_blocks() const override { return options_.concurrent_blocks; }
  std::int32_t concurrent_warps() const override { return kWarpsOfBlock * concurrent_blocks(); }
  std::int32_t blocks_in_order() const override { return options_.blocks_in_order; }
  std::size_t block_memory_bytes() const override { return options_.block_memory_bytes; }
  std::size_t free_memory_bytes() const override { return options_.free_memory_bytes; }

  // Pages of its own, so that they can be closed to the host.
  DeviceResult<void*> Allocate(std::size_t bytes) override {
    void* memory =
        mmap(nullptr, bytes, Closed(), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return OutOfMemory(bytes);
    Pages pages(memory, Unmap{bytes});
    if (options_.poison_memory) Queue([=] { std::memset(memory, kPoison, bytes); });
    freed_.reserve(allocated_.size() + 1);  // Free may not fail
    allocated_.emplace(memory, std::move(pages));
    return memory;
  }
  void Free(void* memory) noexcept override { freed_.push_back({queue_.size(), memory}); }
  DeviceResult<void> Pin(void* /*memory*/, std::size_t /*bytes*/) override { return {}; }
  bool Unpin(void* /*memory*/) noexcept override { return true; }

  DeviceResult<void> Clear(void* memory, std::size_t bytes) override {
    return Queue([=] { std::memset(memory, 0, bytes); });
  }
  DeviceResult<void> CopyToDevice(void* to, const void* from, std::size_t bytes) override {
    return Queue([=] { std::memcpy(to, from, bytes); });
  }
  DeviceResult<void> CopyToHost(void* to, const void* from, std::size_t bytes) override {
    return CopyToDevice(to, from, bytes);
  }

  // A sequence that repeats is run from the recording, as a graph would be.
  DeviceResult<void> Launch(std::span<const KernelCall> calls) override {
    for (const KernelCall& call : calls) {
      if (std::visit([](const auto& args) { return IsTooTall(args); }, call)) {
        return tl::unexpected(DeviceError{DeviceFault::kLaunchFailed,
                                          fmt::format("{}: more than {} blocks in the y direction",
                                                      KernelName(call.index()), kMostBlocksOfY)});
      }
    }
    const auto* recorded = repeated_.Find(calls, [](std::span<const KernelCall> sequence) {
      return std::optional(std::vector<KernelCall>(sequence.begin(), sequence.end()));
    });
    if (recorded != nullptr && options_.replays != nullptr) ++*options_.replays;
    for (const KernelCall& call : recorded != nullptr ? std::span(*recorded) : calls) {
      Queue([this, call] { Run(call); });
    }
    return {};
  }

  DeviceResult<void> Synchronize() override {
    RunQueue();
    return {};
  }

 private:
  int Closed() const { return options_.guard_memory ? PROT_NONE : PROT_READ | PROT_WRITE; }

  void Protect(int protection) {
    if (!options_.guard_memory) return;
    for (const auto& [memory, pages] : allocated_) {
      mprotect(memory, pages.get_deleter().bytes, protection);
    }
  }

  void RunQueue() {
    Protect(PROT_READ | PROT_WRITE);
    auto freed = freed_.begin();
    for (std::size_t i = 0; i <= queue_.size(); ++i) {
      for (; freed != freed_.end() && freed->before == i; ++freed) allocated_.erase(freed->memory);
      if (i < queue_.size()) queue_[i]();
    }
    queue_.clear();
    freed_.clear();
    Protect(Closed());
  }

  // Returns whether a GPU would refuse the launch for its grid.
  template <class Args>
  static bool IsTooTall(const Args& args) {
    if constexpr (requires { GridOf(args); }) {
      return GridOf(args).y > kMostBlocksOfY;
    } else {
      return false;  // of Thrust
    }
  }

  DeviceResult<void> Queue(std::function<void()> work) {
    queue_.push_back(std::move(work));
    return {};
  }

  void Run(const KernelCall& call) {
    const auto start = std::chrono::steady_clock::now();
    std::visit([this](const auto& args) { RunKernel(args); }, call);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (options_.times != nullptr) options_.times->Add(call.index(), took.count());
  }

  template <class Args>
  void RunKernel(const Args& args) {
    const Grid grid = GridOf(args);
    const bool in_order = options_.block_order == 0 && options_.blocks_at_once == 1;
    std::vector<Grid> blocks;
    for (std::int32_t y = 0; y < grid.y; ++y) {
      for (std::int32_t x = 0; x < grid.x; ++x) {
        if (in_order) {
          RunOnTeam(args, Grid{x, y});  // allocates nothing
        } else {
          blocks.push_back({x, y});
        }
      }
    }
    if (in_order) return;
    if (options_.block_order != 0) std::ranges::shuffle(blocks, order_);
    std::atomic<std::size_t> next = 0;
    const auto run = [&] {
      for (std::size_t i = next++; i < blocks.size(); i = next++) RunOnTeam(args, blocks[i]);
    };
    std::vector<std::jthread> others;
    for (std::int32_t i = 1; i < options_.blocks_at_once; ++i) others.emplace_back(run);
    run();
  }

  // All blocks run together, each with memory of its own; they begin in any order.
  void RunKernel(const DecideInOrderArgs& args) {
    std::vector<std::int32_t> blocks(static_cast<std::size_t>(GridOf(args).x));
    if (blocks.empty()) return;
    std::iota(blocks.begin(), blocks.end(), 0);
    if (options_.block_order != 0) std::ranges::shuffle(blocks, order_);
    const std::size_t size =
        InOrderMemory(args.extent, nullptr).bytes / sizeof(std::max_align_t) + 1;
    std::vector<std::max_align_t> memory(size * blocks.size());
    std::memset(memory.data(), kPoison, memory.size() * sizeof(std::max_align_t));
    const auto run = [&](std::size_t i) {
      RunOnTeam(args, Grid{blocks[i], 0}, reinterpret_cast<std::byte*>(memory.data() + i * size));
    };
    // No block begins before all can: they wait for each other.
    enum : int { kNotYet, kBegin, kNever };
    std::atomic<int> begin = kNotYet;
    const auto tell = [&](int what) {
      begin = what;
      begin.notify_all();
    };
    std::vector<std::jthread> others;
    try {
      for (std::size_t i = 1; i < blocks.size(); ++i) {
        others.emplace_back([&, i] {
          begin.wait(kNotYet);
          if (begin == kBegin) run(i);
        });
      }
    } catch (...) {
      tell(kNever);
      throw;
    }
    tell(kBegin);
    run(0);
  }

  void RunKernel(const ScanArgs& args) {
    std::inclusive_scan(args.counts, args.counts + args.size, args.ends);
  }

  template <class... Args>
  void RunOnTeam(const Args&... args) {
    if (options_.lanes == 1) {
      SerialTeam team;
      RunBlock(team, args...);
    } else {
      ThreadTeam::Run(options_.lanes, [&](auto& team) { RunBlock(team, args...); });
    }
  }

  struct Freed {
    std::size_t before = 0;  // this position of the queue
    void* memory = nullptr;
  };

  EmulatedDeviceOptions options_;
  std::vector<std::function<void()>> queue_;  // what nobody waits for is lost with the device
  std::unordered_map<void*, Pages> allocated_;
  std::vector<Freed> freed_;
  RepeatedLaunches<std::vector<KernelCall>> repeated_;
  std::mt19937_64 order_;
};

}  // namespace

std::unique_ptr<Device> MakeEmulatedDevice(const EmulatedDeviceOptions& options) {
  return std::make_unique<EmulatedDevice>(options);
}

}  // namespace espalier
