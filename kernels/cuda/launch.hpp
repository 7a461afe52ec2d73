// Launch functions of the kernels; only where CUDA is compiled in. None of them waits: each queues
// its kernel on `stream` and reports whether the launch was accepted. A grid without blocks is not
// launched.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include "kernels/cuda/count_blocks.hpp"
#include "kernels/cuda/decide_blocks.hpp"
#include "kernels/cuda/group_blocks.hpp"
#include "kernels/cuda/in_order_blocks.hpp"
#include "kernels/cuda/reading_blocks.hpp"

namespace espalier {

cudaError_t Launch(const ScatterArgs& args, cudaStream_t stream);
cudaError_t Launch(const MoveShapesArgs& args, cudaStream_t stream);
cudaError_t Launch(const CountLeavesArgs& args, cudaStream_t stream);
cudaError_t Launch(const CountShapeBatchesArgs& args, cudaStream_t stream);
cudaError_t Launch(const CountGroupsArgs& args, cudaStream_t stream);
cudaError_t Launch(const CountGroupBatchesArgs& args, cudaStream_t stream);
cudaError_t Launch(const CountClassesArgs& args, cudaStream_t stream);
cudaError_t Launch(const SumClassesArgs& args, cudaStream_t stream);
cudaError_t Launch(const RollUpArgs& args, cudaStream_t stream);
cudaError_t Launch(const IndexArgs& args, cudaStream_t stream);
cudaError_t Launch(const ReadDomainsArgs& args, cudaStream_t stream);
cudaError_t Launch(const DecideArgs& args, cudaStream_t stream);
cudaError_t Launch(const DecideSmallArgs& args, cudaStream_t stream);
cudaError_t Launch(const DecideInOrderArgs& args, cudaStream_t stream);
cudaError_t Launch(const ExclusionsArgs& args, cudaStream_t stream);
cudaError_t Launch(const ScanArgs& args, cudaStream_t stream);
cudaError_t Launch(const CompactArgs& args, cudaStream_t stream);

// Returns why this build has no code of the kernel for the current device, or success when it has.
template <class Args>
cudaError_t CheckKernel();
template <>
cudaError_t CheckKernel<ScatterArgs>();
template <>
cudaError_t CheckKernel<MoveShapesArgs>();
template <>
cudaError_t CheckKernel<CountLeavesArgs>();
template <>
cudaError_t CheckKernel<CountShapeBatchesArgs>();
template <>
cudaError_t CheckKernel<CountGroupsArgs>();
template <>
cudaError_t CheckKernel<CountGroupBatchesArgs>();
template <>
cudaError_t CheckKernel<CountClassesArgs>();
template <>
cudaError_t CheckKernel<SumClassesArgs>();
template <>
cudaError_t CheckKernel<RollUpArgs>();
template <>
cudaError_t CheckKernel<IndexArgs>();
template <>
cudaError_t CheckKernel<ReadDomainsArgs>();
template <>
cudaError_t CheckKernel<DecideArgs>();
template <>
cudaError_t CheckKernel<DecideSmallArgs>();
template <>
cudaError_t CheckKernel<DecideInOrderArgs>();
template <>
cudaError_t CheckKernel<ExclusionsArgs>();
template <>
cudaError_t CheckKernel<ScanArgs>();
template <>
cudaError_t CheckKernel<CompactArgs>();

// Sets how many blocks of the decide kernel a processor of the current device holds at a time.
cudaError_t DecideBlocksPerProcessor(int& blocks);
// Sets how many warps of the kernel that decides small jobs it holds at a time.
cudaError_t DecideWarpsPerProcessor(int& warps);
// Sets how many blocks of the kernel that decides in order run on the device together, 0 where it
// cannot, and how many bytes of memory their lanes share in each at most; allows it these.
cudaError_t AllowInOrder(int device, int& blocks, std::size_t& bytes);

}  // namespace espalier
