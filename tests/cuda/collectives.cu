#include <cuda_runtime.h>

#include "kernels/team/block_team.cuh"
#include "kernels/team/warp_team.cuh"
#include "tests/cuda/collectives.hpp"

namespace espalier {
namespace {

// Grid: one block.
template <int kThreads>
__global__ void __launch_bounds__(kThreads) collectives_kernel(const CollectivesArgs args) {
  __shared__ typename BlockTeam<kThreads>::Scratch scratch;
  BlockTeam<kThreads> team(scratch);
  RunCollectives(team, args);
}

// Grid: one block of one warp.
__global__ void __launch_bounds__(WarpTeam::kLanes)
    warp_collectives_kernel(const CollectivesArgs args) {
  WarpTeam team;
  RunCollectives(team, args);
}

cudaError_t Launch(int threads, const CollectivesArgs& args) {
  switch (threads) {
    case kOneWarp:
      warp_collectives_kernel<<<1, WarpTeam::kLanes>>>(args);
      break;
    case 32:
      collectives_kernel<32><<<1, 32>>>(args);
      break;
    case 128:
      collectives_kernel<128><<<1, 128>>>(args);
      break;
    case 256:
      collectives_kernel<256><<<1, 256>>>(args);
      break;
    default:
      return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}

// The arrays on the device; freed at the end.
struct DeviceArrays {
  CollectivesArgs args;
  cudaError_t status = cudaSuccess;

  explicit DeviceArrays(const CollectivesArgs& host) : args(host) {
    const auto n = static_cast<std::size_t>(host.size);
    std::int64_t* values = Make<std::int64_t>(n);
    Copy(values, host.values, n, cudaMemcpyHostToDevice);
    args.values = values;
    args.kept = Make<std::int64_t>(n);
    args.sorted = Make<Candidate>(n);
    args.front = Make<Candidate>(n);
    args.narrow = Make<std::int32_t>(n);
    args.ties = Make<std::int32_t>(n);
    args.result = Make<CollectivesResult>(1);
  }
  ~DeviceArrays() {
    cudaFree(const_cast<std::int64_t*>(args.values));
    cudaFree(args.kept);
    cudaFree(args.sorted);
    cudaFree(args.front);
    cudaFree(args.narrow);
    cudaFree(args.ties);
    cudaFree(args.result);
  }

  template <class T>
  T* Make(std::size_t size) {
    void* array = nullptr;
    if (status == cudaSuccess) status = cudaMalloc(&array, (size + 1) * sizeof(T));
    return static_cast<T*>(array);
  }
  template <class T>
  void Copy(T* to, const T* from, std::size_t size, cudaMemcpyKind kind) {
    if (status == cudaSuccess) status = cudaMemcpy(to, from, size * sizeof(T), kind);
  }
};

}  // namespace

const char* RunCollectivesOnDevice(int threads, const CollectivesArgs& args) {
  DeviceArrays device(args);
  if (device.status == cudaSuccess) device.status = Launch(threads, device.args);
  device.Copy(args.result, device.args.result, 1, cudaMemcpyDeviceToHost);
  const auto n = static_cast<std::size_t>(args.size);
  device.Copy(args.sorted, device.args.sorted, n, cudaMemcpyDeviceToHost);
  if (device.status == cudaSuccess) {
    device.Copy(args.kept, device.args.kept, static_cast<std::size_t>(args.result->kept),
                cudaMemcpyDeviceToHost);
    device.Copy(args.front, device.args.front, static_cast<std::size_t>(args.result->front.size),
                cudaMemcpyDeviceToHost);
  }
  return device.status == cudaSuccess ? nullptr : cudaGetErrorString(device.status);
}

}  // namespace espalier
