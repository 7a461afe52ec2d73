// The one place where kernels are launched.
#pragma once

#include "kernels/cuda/launch.hpp"
#include "kernels/team/block_team.cuh"

namespace espalier {

inline constexpr int kBulkThreads = 256;     // passes over leaves, domains and shares
inline constexpr int kDecideThreads = 128;   // one evaluation: lists of dozens to thousands
inline constexpr int kInOrderThreads = 256;  // counting a piece, and one evaluation at a time
// Blocks a processor holds at least: without this the compiler saves registers and spills.
inline constexpr int kBulkBlocks = 4;
inline constexpr int kGroupBlocks = 2;  // whose threads keep sums of all shapes of a batch
inline constexpr int kDecideBlocks = 2;
inline constexpr int kDecideSmallBlocks = 3;

// Returns whether what was queued last was accepted; debug builds wait and check that it ran,
// unless the stream records a graph.
inline cudaError_t CheckLaunched(cudaStream_t stream) {
  const cudaError_t launched = cudaGetLastError();
#ifndef NDEBUG
  cudaStreamCaptureStatus recording = cudaStreamCaptureStatusNone;
  if (launched == cudaSuccess) cudaStreamIsCapturing(stream, &recording);
  if (launched == cudaSuccess && recording == cudaStreamCaptureStatusNone) {
    return cudaStreamSynchronize(stream);
  }
#else
  (void)stream;
#endif
  return launched;
}

// Queues one kernel, a block of which does the work of `teams` in the x direction, and checks it.
template <class Args>
cudaError_t LaunchChecked(void (*kernel)(Args), int threads, const Args& args, cudaStream_t stream,
                          int teams = 1) {
  Grid grid = GridOf(args);
  if (grid.x <= 0 || grid.y <= 0) return cudaSuccess;
  grid.x = BlocksFor(grid.x, teams);
  const dim3 blocks(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y));
  kernel<<<blocks, static_cast<unsigned>(threads), 0, stream>>>(args);
  return CheckLaunched(stream);
}

// Returns success when the current device can run the kernel.
template <class Args>
cudaError_t CheckCode(void (*kernel)(Args)) {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel));
}

// Runs the body of every kernel: this block's part on a team of all its threads.
template <int kThreads, class Args>
__device__ void RunThisBlock(const Args& args) {
  __shared__ typename BlockTeam<kThreads>::Scratch scratch;
  BlockTeam<kThreads> team(scratch);
  RunBlock(team, args,
           Grid{static_cast<std::int32_t>(blockIdx.x), static_cast<std::int32_t>(blockIdx.y)});
}

}  // namespace espalier
