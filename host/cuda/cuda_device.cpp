#include "host/cuda/cuda_device.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "host/cuda/cuda_fault.hpp"
#include "host/cuda/repeated_launches.hpp"
#include "host/cuda/shared_context.hpp"
#include "kernels/cuda/launch.hpp"

namespace espalier {
namespace {

DeviceResult<void> Check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return {};
  cudaGetLastError();  // a fault that the context survives is reported once
  return tl::unexpected(DeviceError{
      Classify(status),
      fmt::format("{}: {} ({})", call, cudaGetErrorString(status), cudaGetErrorName(status))});
}

struct DestroyGraph {
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using CudaGraph = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyGraph>;

struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using CudaEvent = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;

// A wait looks at the device without a pause for so long, and then so often: answers come within
// microseconds, and nobody should be kept busy by those that do not.
constexpr std::chrono::milliseconds kEagerWait(2);
constexpr std::chrono::microseconds kBetweenLooks(50);

// Freed memory that is kept for what is allocated next: as much as the counts of a large state
// take, and little of a GPU that others share.
constexpr std::uint64_t kKeptBytes = std::uint64_t{512} << 20;

SharedContext& Context() {
  static SharedContext context;
  return context;
}

template <class... Args>
cudaError_t CheckAllKernels(std::type_identity<std::variant<Args...>> /*calls*/) {
  cudaError_t found = cudaSuccess;
  ((found = found == cudaSuccess ? CheckKernel<Args>() : found), ...);
  return found;
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(KernelTimes* times) : times_(times) {}

  static DeviceResult<std::unique_ptr<Device>> Open(KernelTimes* times) {
    auto device = std::make_unique<CudaDevice>(times);
    if (auto opened = device->Initialise(); !opened) return tl::unexpected(opened.error());
    return device;
  }

  ~CudaDevice() override {
    if (stuck_) {
      Abandon();
    } else if (stream_ != nullptr) {
      cudaStreamSynchronize(stream_);
      repeated_ = {};
      timed_.clear();
      cudaStreamDestroy(stream_);
      cudaMemPoolTrimTo(pool_, 0);
    }
    if (joined_) Context().Leave();
  }

  std::string_view name() const override { return name_; }
  std::int32_t concurrent_blocks() const override { return concurrent_blocks_; }
  std::int32_t concurrent_warps() const override { return concurrent_warps_; }
  std::int32_t blocks_in_order() const override { return blocks_in_order_; }
  std::size_t block_memory_bytes() const override { return block_memory_bytes_; }
  std::size_t free_memory_bytes() const override { return free_memory_bytes_; }

  DeviceResult<void*> Allocate(std::size_t bytes) override {
    void* memory = nullptr;
    const auto done = Check(cudaMallocAsync(&memory, bytes, stream_), "cudaMallocAsync");
    if (!done) return tl::unexpected(done.error());
    return memory;
  }
  void Free(void* memory) noexcept override {
    if (stuck_) return;
    cudaFreeAsync(memory, stream_);
    freed_ = true;
  }

  DeviceResult<void> Pin(void* memory, std::size_t bytes) override {
    return Check(cudaHostRegister(memory, bytes, cudaHostRegisterDefault), "cudaHostRegister");
  }
  bool Unpin(void* memory) noexcept override {
    // After a fault a copy may still be on its way, and to unlock memory need not wait for it.
    return Synchronize() && cudaHostUnregister(memory) == cudaSuccess;
  }

  DeviceResult<void> Clear(void* memory, std::size_t bytes) override {
    return Check(cudaMemsetAsync(memory, 0, bytes, stream_), "clearing memory");
  }

  DeviceResult<void> CopyToDevice(void* to, const void* from, std::size_t bytes) override {
    return Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_),
                 "copy to the device");
  }
  DeviceResult<void> CopyToHost(void* to, const void* from, std::size_t bytes) override {
    return Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_),
                 "copy to the host");
  }

  DeviceResult<void> Launch(std::span<const KernelCall> calls) override {
    if (times_ != nullptr) return LaunchEach(calls);  // a graph is timed as a whole only
    const CudaGraph* graph = repeated_.Find(
        calls, [this](std::span<const KernelCall> sequence) { return Record(sequence); });
    if (graph != nullptr) return Check(cudaGraphLaunch(graph->get(), stream_), "cudaGraphLaunch");
    return LaunchEach(calls);
  }

  DeviceResult<void> Synchronize() override {
    using std::chrono::steady_clock;
    if (stuck_) return tl::unexpected(Stuck());
    const steady_clock::time_point start = steady_clock::now();
    cudaError_t status = cudaErrorNotReady;
    while ((status = cudaStreamQuery(stream_)) == cudaErrorNotReady) {
      const steady_clock::duration waited = steady_clock::now() - start;
      if (waited > kLongestWait) {
        stuck_ = true;
        return tl::unexpected(Stuck());
      }
      if (waited > kEagerWait) std::this_thread::sleep_for(kBetweenLooks);
    }
    if (auto done = Check(status, "waiting for the device"); !done) return done;
    if (auto done = GiveBack(); !done) return done;
    return TakeTimes();
  }

 private:
  // A launch and the events around it.
  struct TimedLaunch {
    std::size_t kernel = 0;
    CudaEvent begin;
    CudaEvent end;
  };

  static DeviceError Stuck() {
    return {DeviceFault::kLost,
            fmt::format("the device was not done after {} s", kLongestWait.count())};
  }

  // Nothing of a device that is stuck can be freed without waiting for it.
  void Abandon() {
    repeated_.Abandon([](CudaGraph& graph) { (void)graph.release(); });
    for (TimedLaunch& timed : timed_) {
      (void)timed.begin.release();
      (void)timed.end.release();
    }
  }

  DeviceResult<void> LaunchEach(std::span<const KernelCall> calls) {
    for (const KernelCall& call : calls) {
      if (auto begun = Mark(call.index(), &TimedLaunch::begin); !begun) return begun;
      const auto launch = [this](const auto& args) { return espalier::Launch(args, stream_); };
      const cudaError_t launched = std::visit(launch, call);
      if (launched != cudaSuccess) return Check(launched, KernelName(call.index()).data());
      if (auto ended = Mark(call.index(), &TimedLaunch::end); !ended) return ended;
    }
    return {};
  }

  // Queues the event before or after a launch, where kernels are timed.
  DeviceResult<void> Mark(std::size_t kernel, CudaEvent TimedLaunch::*which) {
    if (times_ == nullptr) return {};
    if (which == &TimedLaunch::begin) timed_.emplace_back().kernel = kernel;
    cudaEvent_t event = nullptr;
    if (auto made = Check(cudaEventCreate(&event), "making an event"); !made) return made;
    (timed_.back().*which).reset(event);
    return Check(cudaEventRecord(event, stream_), "recording an event");
  }

  DeviceResult<void> TakeTimes() {
    for (const TimedLaunch& timed : timed_) {
      float milliseconds = 0;
      const cudaError_t read =
          cudaEventElapsedTime(&milliseconds, timed.begin.get(), timed.end.get());
      if (auto done = Check(read, "reading an event"); !done) return done;
      times_->Add(timed.kernel, milliseconds);
    }
    timed_.clear();
    return {};
  }

  // Nothing where the driver will not have it: the calls can still be launched one by one.
  std::optional<CudaGraph> Record(std::span<const KernelCall> calls) {
    if (!Check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "recording")) {
      return std::nullopt;
    }
    const bool launched = LaunchEach(calls).has_value();
    cudaGraph_t graph = nullptr;
    const bool ended = Check(cudaStreamEndCapture(stream_, &graph), "recording").has_value();
    cudaGraphExec_t executable = nullptr;
    const bool made = launched && ended &&
                      Check(cudaGraphInstantiate(&executable, graph, 0), "recording").has_value();
    if (graph != nullptr) cudaGraphDestroy(graph);
    return made ? std::optional(CudaGraph(executable)) : std::nullopt;
  }

  DeviceResult<void> Initialise() {
    // A context that an earlier fault broke fails here, and whatever is asked of it: it goes first.
    joined_ =
        Context().Join([] { return cudaFree(nullptr) == cudaSuccess; }, [] { cudaDeviceReset(); });
    cudaGetLastError();  // what led here, or that there is no device, which the next call says
    if (!joined_) {
      return tl::unexpected(DeviceError{
          DeviceFault::kLost, "a fault broke the context, which another device still uses"});
    }
    int devices = 0;
    if (auto done = Check(cudaGetDeviceCount(&devices), "looking for a device"); !done) return done;
    if (devices == 0) return tl::unexpected(DeviceError{DeviceFault::kNoDevice, "no CUDA device"});
    constexpr int kDevice = 0;
    cudaDeviceProp properties{};
    if (auto done = Check(cudaGetDeviceProperties(&properties, kDevice),
                          "reading the device's "
                          "properties");
        !done) {
      return done;
    }
    name_ = properties.name;
    if (auto done = CheckCode(properties); !done) return done;
    int blocks = 0;
    int warps = 0;
    if (auto done = Check(DecideBlocksPerProcessor(blocks), "reading the occupancy"); !done) {
      return done;
    }
    if (auto done = Check(DecideWarpsPerProcessor(warps), "reading the occupancy"); !done) {
      return done;
    }
    if (auto done = Check(AllowInOrder(kDevice, blocks_in_order_, block_memory_bytes_),
                          "reading what runs together");
        !done) {
      return done;
    }
    concurrent_blocks_ = properties.multiProcessorCount * std::max(blocks, 1);
    concurrent_warps_ = properties.multiProcessorCount * std::max(warps, 1);
    if (auto done = KeepFreedMemory(kDevice); !done) return done;
    std::size_t total = 0;
    if (auto done = Check(cudaMemGetInfo(&free_memory_bytes_, &total), "reading the free memory");
        !done) {
      return done;
    }
    return Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  }

  // A build may have no code for this device.
  static DeviceResult<void> CheckCode(const cudaDeviceProp& device) {
    const cudaError_t found = CheckAllKernels(std::type_identity<KernelCall>());
    if (found == cudaSuccess) return {};
    cudaGetLastError();
    return tl::unexpected(
        DeviceError{DeviceFault::kWrongDriver,
                    fmt::format("this build cannot run on {} (compute capability {}.{}): {} ({})",
                                device.name, device.major, device.minor, cudaGetErrorString(found),
                                cudaGetErrorName(found))});
  }

  // From now on freed memory stays in the pool until GiveBack: the pool's own limit counts what is
  // in use too.
  DeviceResult<void> KeepFreedMemory(int device) {
    if (auto done = Check(cudaDeviceGetDefaultMemPool(&pool_, device), "the memory pool"); !done) {
      return done;
    }
    std::uint64_t threshold = UINT64_MAX;
    return Check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &threshold),
                 "the memory pool");
  }

  // Returns freed memory to the driver, but for kKeptBytes.
  DeviceResult<void> GiveBack() {
    if (!std::exchange(freed_, false)) return {};
    std::uint64_t reserved = 0;
    std::uint64_t used = 0;
    cudaError_t status =
        cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved);
    if (status == cudaSuccess) {
      status = cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used);
    }
    if (status == cudaSuccess && reserved > used + kKeptBytes) {
      status = cudaMemPoolTrimTo(pool_, used + kKeptBytes);
    }
    return Check(status, "giving memory back");
  }

  bool joined_ = false;  // to the context
  cudaStream_t stream_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
  std::string name_;
  std::int32_t concurrent_blocks_ = 1;
  std::int32_t concurrent_warps_ = 1;
  int blocks_in_order_ = 0;
  std::size_t block_memory_bytes_ = 0;
  std::size_t free_memory_bytes_ = 0;
  RepeatedLaunches<CudaGraph> repeated_;
  KernelTimes* times_;
  std::vector<TimedLaunch> timed_;  // since the last wait
  bool stuck_ = false;
  bool freed_ = false;  // since the last wait
};

}  // namespace

DeviceResult<std::unique_ptr<Device>> OpenCudaDevice(KernelTimes* times) {
  return CudaDevice::Open(times);
}

bool CudaIsCompiled() { return true; }

}  // namespace espalier
