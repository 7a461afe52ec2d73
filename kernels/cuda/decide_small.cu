// The decisions that a warp makes, several of them a block.
#include "kernels/cuda/launch.cuh"
#include "kernels/team/warp_team.cuh"

namespace espalier {
namespace {

constexpr int kWarps = kDecideThreads / WarpTeam::kLanes;

// Grid: a warp for each workspace, at most one a job; warp w decides the jobs w, w + workspaces and
// so on. Counts in pods and slices, shares in leaves.
__global__ void __launch_bounds__(kDecideThreads, kDecideSmallBlocks)
    decide_small_kernel(const DecideSmallArgs args) {
  const auto warp = static_cast<std::int32_t>(blockIdx.x) * kWarps + WarpTeam::warp_of_block();
  if (warp >= GridOf(args).x) return;
  WarpTeam team;
  RunBlock(team, args, Grid{warp, 0});
}

}  // namespace

cudaError_t Launch(const DecideSmallArgs& args, cudaStream_t stream) {
  return LaunchChecked(decide_small_kernel, kDecideThreads, args, stream, kWarps);
}

template <>
cudaError_t CheckKernel<DecideSmallArgs>() {
  return CheckCode(decide_small_kernel);
}

cudaError_t DecideWarpsPerProcessor(int& warps) {
  const cudaError_t status =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&warps, decide_small_kernel, kDecideThreads, 0);
  warps *= kWarps;
  return status;
}

}  // namespace espalier
