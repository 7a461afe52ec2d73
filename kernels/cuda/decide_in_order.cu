// Decisions in order: all blocks run at the same time, each on a piece of the tree.
#include "kernels/cuda/in_order_blocks.hpp"
#include "kernels/cuda/launch.cuh"

namespace espalier {
namespace {

extern __shared__ Amount in_order_memory[];  // InOrderMemory

// Grid: a block for each piece, one a processor, launched to run together. Capacity in canonical
// units, [columns][leaves]; counts in pods and slices, shares in leaves.
__global__ void __launch_bounds__(kInOrderThreads, 1)
    decide_in_order_kernel(const DecideInOrderArgs args) {
  __shared__ typename BlockTeam<kInOrderThreads>::Scratch scratch;
  BlockTeam<kInOrderThreads> team(scratch);
  RunBlock(team, args, Grid{static_cast<std::int32_t>(blockIdx.x), 0},
           reinterpret_cast<std::byte*>(in_order_memory));
}

}  // namespace

cudaError_t Launch(const DecideInOrderArgs& args, cudaStream_t stream) {
  const Grid grid = GridOf(args);
  if (grid.x <= 0) return cudaSuccess;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(grid.x));
  config.blockDim = dim3(kInOrderThreads);
  config.dynamicSmemBytes = InOrderMemory(args.extent, nullptr).bytes;
  config.stream = stream;
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  config.attrs = &together;
  config.numAttrs = 1;
  const cudaError_t launched = cudaLaunchKernelEx(&config, decide_in_order_kernel, args);
  return launched == cudaSuccess ? CheckLaunched(stream) : launched;
}

template <>
cudaError_t CheckKernel<DecideInOrderArgs>() {
  return CheckCode(decide_in_order_kernel);
}

cudaError_t AllowInOrder(int device, int& blocks, std::size_t& bytes) {
  blocks = 0;
  bytes = 0;
  int together = 0;
  int processors = 0;
  int most_bytes = 0;
  cudaFuncAttributes attributes{};
  cudaError_t status = cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, device);
  if (status == cudaSuccess) {
    status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  }
  if (status == cudaSuccess) {
    status = cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  }
  if (status == cudaSuccess) status = cudaFuncGetAttributes(&attributes, decide_in_order_kernel);
  if (status != cudaSuccess || together == 0) return status;
  bytes = static_cast<std::size_t>(most_bytes) - attributes.sharedSizeBytes;
  status = cudaFuncSetAttribute(decide_in_order_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(bytes));
  int of_processor = 0;
  if (status == cudaSuccess) {
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_processor, decide_in_order_kernel,
                                                           kInOrderThreads, bytes);
  }
  blocks = of_processor > 0 ? processors : 0;
  return status;
}

}  // namespace espalier
