#include "host/cuda/cuda_device.hpp"

#include <algorithm>
#include <string>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "host/cuda/cuda_fault.hpp"
#include "kernels/cuda/launch.hpp"

namespace espalier {
namespace {

constexpr std::int32_t kDecideBlocksPerProcessor = 2;

DeviceResult<void> Check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return {};
  cudaGetLastError();  // a fault that the context survives is reported once
  return tl::unexpected(DeviceError{
      Classify(status),
      fmt::format("{}: {} ({})", call, cudaGetErrorString(status), cudaGetErrorName(status))});
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

  DeviceResult<void> Launch(const ScatterArgs& args) override {
    return Check(espalier::Launch(args, stream_), "scatter_kernel");
  }
  DeviceResult<void> Launch(const CountLeavesArgs& args) override {
    return Check(espalier::Launch(args, stream_), "count_leaves_kernel");
  }
  DeviceResult<void> Launch(const RollUpArgs& args) override {
    return Check(espalier::Launch(args, stream_), "roll_up_kernel");
  }
  DeviceResult<void> Launch(const DecideArgs& args) override {
    return Check(espalier::Launch(args, stream_), "decide_kernel");
  }
  DeviceResult<void> Launch(const ExclusionsArgs& args) override {
    return Check(espalier::Launch(args, stream_), "exclusions_kernel");
  }
  DeviceResult<void> Launch(const OffsetsArgs& args) override {
    return Check(espalier::Launch(args, stream_), "offsets_kernel");
  }
  DeviceResult<void> Launch(const CompactArgs& args) override {
    return Check(espalier::Launch(args, stream_), "compact_kernel");
  }

  DeviceResult<void> Synchronize() override {
    return Check(cudaStreamSynchronize(stream_), "waiting for the device");
  }

 private:
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
    concurrent_blocks_ = properties.multiProcessorCount * kDecideBlocksPerProcessor;
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
};

}  // namespace

DeviceResult<std::unique_ptr<Device>> OpenCudaDevice() { return CudaDevice::Open(); }

}  // namespace espalier
