#include <cuda_runtime.h>

#include "kernels/team/block_team.cuh"
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

cudaError_t Launch(int threads, const CollectivesArgs& args) {
  switch (threads) {
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

// Unified memory for the arrays; freed at the end.
struct SharedArrays {
  CollectivesArgs args;
  cudaError_t status = cudaSuccess;

  explicit SharedArrays(const CollectivesArgs& host) : args(host) {
    const auto n = static_cast<std::size_t>(host.size);
    std::int64_t* values = nullptr;
    Make(&values, n);
    Make(&args.kept, n);
    Make(&args.sorted, n);
    Make(&args.result, 1);
    for (std::size_t i = 0; status == cudaSuccess && i < n; ++i) values[i] = host.values[i];
    args.values = values;
  }
  ~SharedArrays() {
    cudaFree(const_cast<std::int64_t*>(args.values));
    cudaFree(args.kept);
    cudaFree(args.sorted);
    cudaFree(args.result);
  }

  template <class T>
  void Make(T** array, std::size_t size) {
    *array = nullptr;
    if (status == cudaSuccess) status = cudaMallocManaged(array, (size + 1) * sizeof(T));
  }
};

}  // namespace

const char* RunCollectivesOnDevice(int threads, const CollectivesArgs& args) {
  SharedArrays device(args);
  if (device.status == cudaSuccess) device.status = Launch(threads, device.args);
  if (device.status == cudaSuccess) device.status = cudaDeviceSynchronize();
  if (device.status != cudaSuccess) return cudaGetErrorString(device.status);
  *args.result = *device.args.result;
  for (std::int32_t i = 0; i < args.size; ++i) args.sorted[i] = device.args.sorted[i];
  for (std::int32_t i = 0; i < args.result->kept; ++i) args.kept[i] = device.args.kept[i];
  return nullptr;
}

}  // namespace espalier
