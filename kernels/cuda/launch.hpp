// Launch functions of the kernels; only where CUDA is compiled in. None of them waits: each queues
// its kernel on `stream` and reports whether the launch was accepted. A grid without blocks is not
// launched.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/cuda/decide_blocks.hpp"

namespace espalier {

// Blocks of the decide kernel that a processor holds at the same time.
inline constexpr int kDecideBlocks = 2;

cudaError_t Launch(const ScatterArgs& args, cudaStream_t stream);
cudaError_t Launch(const CountLeavesArgs& args, cudaStream_t stream);
cudaError_t Launch(const CountShapeBatchesArgs& args, cudaStream_t stream);
cudaError_t Launch(const RollUpArgs& args, cudaStream_t stream);
cudaError_t Launch(const DecideArgs& args, cudaStream_t stream);
cudaError_t Launch(const ExclusionsArgs& args, cudaStream_t stream);
cudaError_t Launch(const OffsetsArgs& args, cudaStream_t stream);
cudaError_t Launch(const CompactArgs& args, cudaStream_t stream);

// Returns why this build has no code for this device, or success when it has; so does
// CheckDecideKernel.
cudaError_t CheckBulkKernels();
cudaError_t CheckDecideKernel();

}  // namespace espalier
