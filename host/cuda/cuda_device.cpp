#include "host/cuda/cuda_device.hpp"

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "host/cuda/cuda_fault.hpp"
#include "host/cuda/repeated_launches.hpp"
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

const char* NameOf(const KernelCall& call) {
  constexpr const char* kNames[] = {"scatter_kernel", "count_leaves_kernel", "count_tiles_kernel",
                                    "roll_up_kernel", "decide_kernel",       "exclusions_kernel",
                                    "offsets_kernel", "compact_kernel"};
  static_assert(std::size(kNames) == std::variant_size_v<KernelCall>);
  return kNames[call.index()];
}

class CudaDevice final : public Device {
 public:
  static DeviceResult<std::unique_ptr<Device>> Open() {
    auto device = std::make_unique<CudaDevice>();
    if (auto opened = device->Initialise(); !opened) return tl::unexpected(opened.error());
    return device;
  }

  ~CudaDevice() override {
    if (stream_ == nullptr) return;
    cudaStreamSynchronize(stream_);
    repeated_ = {};
    cudaStreamDestroy(stream_);
  }

  std::string_view name() const override { return name_; }
  std::int32_t concurrent_blocks() const override { return concurrent_blocks_; }
  std::size_t memory_bytes() const override { return memory_bytes_; }

  DeviceResult<void*> Allocate(std::size_t bytes) override {
    void* memory = nullptr;
    const auto done = Check(cudaMallocAsync(&memory, bytes, stream_), "cudaMallocAsync");
    if (!done) return tl::unexpected(done.error());
    return memory;
  }
  void Free(void* memory) noexcept override { cudaFreeAsync(memory, stream_); }

  DeviceResult<void*> AllocatePinned(std::size_t bytes) override {
    void* memory = nullptr;
    const auto done = Check(cudaMallocHost(&memory, bytes), "cudaMallocHost");
    if (!done) return tl::unexpected(done.error());
    return memory;
  }
  void FreePinned(void* memory) noexcept override { cudaFreeHost(memory); }

  DeviceResult<void> CopyToDevice(void* to, const void* from, std::size_t bytes) override {
    return Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_),
                 "copy to the device");
  }
  DeviceResult<void> CopyToHost(void* to, const void* from, std::size_t bytes) override {
    return Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_),
                 "copy to the host");
  }

  DeviceResult<void> Launch(std::span<const KernelCall> calls) override {
    const CudaGraph* graph = repeated_.Find(
        calls, [this](std::span<const KernelCall> sequence) { return Record(sequence); });
    if (graph != nullptr) return Check(cudaGraphLaunch(graph->get(), stream_), "cudaGraphLaunch");
    return LaunchEach(calls);
  }

  DeviceResult<void> Synchronize() override {
    return Check(cudaStreamSynchronize(stream_), "waiting for the device");
  }

 private:
  DeviceResult<void> LaunchEach(std::span<const KernelCall> calls) {
    for (const KernelCall& call : calls) {
      const auto launch = [this](const auto& args) { return espalier::Launch(args, stream_); };
      if (auto done = Check(std::visit(launch, call), NameOf(call)); !done) return done;
    }
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
    int devices = 0;
    if (auto done = Check(cudaGetDeviceCount(&devices), "looking for a device"); !done) return done;
    if (devices == 0) return tl::unexpected(DeviceError{DeviceFault::kNoDevice, "no CUDA device"});
    // Only a context that an earlier fault broke fails here; it is of no use to anybody.
    if (cudaFree(nullptr) != cudaSuccess) {
      if (auto done = Check(cudaDeviceReset(), "making a new context"); !done) return done;
    }
    constexpr int kDevice = 0;
    cudaDeviceProp properties{};
    if (auto done = Check(cudaGetDeviceProperties(&properties, kDevice),
                          "reading the device's "
                          "properties");
        !done) {
      return done;
    }
    name_ = properties.name;
    memory_bytes_ = properties.totalGlobalMem;
    concurrent_blocks_ = properties.multiProcessorCount * kDecideBlocks;
    if (auto done = KeepFreedMemory(kDevice); !done) return done;
    return Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  }

  // Freed memory stays in the pool instead of going back to the driver at each Synchronize.
  static DeviceResult<void> KeepFreedMemory(int device) {
    cudaMemPool_t pool = nullptr;
    if (auto done = Check(cudaDeviceGetDefaultMemPool(&pool, device), "the memory pool"); !done) {
      return done;
    }
    std::uint64_t threshold = UINT64_MAX;
    return Check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
                 "the memory pool");
  }

  cudaStream_t stream_ = nullptr;
  std::string name_;
  std::int32_t concurrent_blocks_ = 1;
  std::size_t memory_bytes_ = 0;
  RepeatedLaunches<CudaGraph> repeated_;
};

}  // namespace

DeviceResult<std::unique_ptr<Device>> OpenCudaDevice() { return CudaDevice::Open(); }

bool CudaIsCompiled() { return true; }

}  // namespace espalier
