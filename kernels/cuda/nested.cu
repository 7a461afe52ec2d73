// Nested gangs: one block decides one request.
#include "kernels/cuda/launch.cuh"

namespace espalier {
namespace {

__global__ void __launch_bounds__(kDecideThreads, kDecideBlocks)
    nested_kernel(const NestedArgs args) {
  RunThisBlock<kDecideThreads>(args);
}

}  // namespace

cudaError_t Launch(const NestedArgs& args, cudaStream_t stream) {
  return LaunchChecked(nested_kernel, kDecideThreads, args, stream);
}

}  // namespace espalier
