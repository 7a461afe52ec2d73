#include <cuda_runtime.h>

#include "kernels/team/block_team.cuh"
#include "tests/cuda/scores.hpp"

namespace espalier {
namespace {

constexpr int kThreads = 128;

// Grid: one block.
__global__ void __launch_bounds__(kThreads) scores_kernel(const ScoresArgs args) {
  __shared__ BlockTeam<kThreads>::Scratch scratch;
  BlockTeam<kThreads> team(scratch);
  RunScores(team, args);
}

}  // namespace

const char* ScoresOnDevice(const ScoresArgs& args) {
  const std::size_t bytes = static_cast<std::size_t>(args.size) * sizeof(double);
  ScoresArgs device = args;
  cudaError_t status = cudaMalloc(&device.scores, bytes);
  if (status == cudaSuccess) {
    scores_kernel<<<1, kThreads>>>(device);
    status = cudaGetLastError();
    if (status == cudaSuccess) {
      status = cudaMemcpy(args.scores, device.scores, bytes, cudaMemcpyDeviceToHost);
    }
    cudaFree(device.scores);
  }
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace espalier
