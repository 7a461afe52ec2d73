// The decisions that are more than a warp's: one block answers one evaluation at a time.
#include "kernels/cuda/launch.cuh"

namespace espalier {
namespace {

// Grid: as many blocks as there are workspaces, at most one a job; block b decides the jobs b,
// b + gridDim.x and so on. Counts in pods and slices, shares in leaves.
__global__ void __launch_bounds__(kDecideThreads, kDecideBlocks)
    decide_kernel(const DecideArgs args) {
  RunThisBlock<kDecideThreads>(args);
}

}  // namespace

cudaError_t Launch(const DecideArgs& args, cudaStream_t stream) {
  return LaunchChecked(decide_kernel, kDecideThreads, args, stream);
}

template <>
cudaError_t CheckKernel<DecideArgs>() {
  return CheckCode(decide_kernel);
}

cudaError_t DecideBlocksPerProcessor(int& blocks) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, decide_kernel, kDecideThreads, 0);
}

}  // namespace espalier
