// Passes that decide nothing: new amounts in, counting, roll-up, indices, readings, answers out.
#include "kernels/cuda/launch.cuh"

namespace espalier {
namespace {

// Grid: x over portions of the changed leaves, y over columns. Amounts in canonical units.
__global__ void __launch_bounds__(kBulkThreads, kBulkBlocks)
    scatter_kernel(const ScatterArgs args) {
  RunThisBlock<kBulkThreads>(args);
}

// Grid: x over kShapesPerBlock new shapes each, of hundreds of bytes.
__global__ void __launch_bounds__(kBulkThreads, kBulkBlocks)
    move_shapes_kernel(const MoveShapesArgs args) {
  RunThisBlock<kBulkThreads>(args);
}

// Grid: x over portions of the leaves, y over kShapesPerBlock shapes each. Reads
// [columns][leaves] amounts, writes [shapes][leaves] counts of pods and slices.
__global__ void __launch_bounds__(kBulkThreads, kBulkBlocks)
    count_leaves_kernel(const CountLeavesArgs args) {
  RunThisBlock<kBulkThreads>(args);
}

// Does the same for shapes whose numbers allow counting without division; y over their batches.
__global__ void __launch_bounds__(kBulkThreads, kBulkBlocks)
    count_shape_batches_kernel(const CountShapeBatchesArgs args) {
  RunThisBlock<kBulkThreads>(args);
}

// Grid: x over portions of the groups of leaves, y over shapes. A thread counts the leaves of a
// group and writes what they hold together.
__global__ void __launch_bounds__(kBulkThreads, kBulkBlocks)
    count_groups_kernel(const CountGroupsArgs args) {
  RunThisBlock<kBulkThreads>(args);
}

// Does the same for shapes whose numbers allow counting without division; y over their batches.
__global__ void __launch_bounds__(kBulkThreads, kGroupBlocks)
    count_group_batches_kernel(const CountGroupBatchesArgs args) {
  RunThisBlock<kBulkThreads>(args);
}

// Grid: x over the shapes of a batch, y over batches. A thread counts one leaf of a class.
__global__ void __launch_bounds__(kBulkThreads, kBulkBlocks)
    count_classes_kernel(const CountClassesArgs args) {
  RunThisBlock<kBulkThreads>(args);
}

// Grid: x over portions of the groups of leaves, y over batches. A thread adds up what its leaves
// hold by their classes.
__global__ void __launch_bounds__(kBulkThreads, kBulkBlocks)
    sum_classes_kernel(const SumClassesArgs args) {
  RunThisBlock<kBulkThreads>(args);
}

// Grid: x over portions of one level's domains, y over shapes. A thread sums the
// children of a domain.
__global__ void __launch_bounds__(kBulkThreads, kBulkBlocks) roll_up_kernel(const RollUpArgs args) {
  RunThisBlock<kBulkThreads>(args);
}

// Grid: x over the levels above the leaves, y over shapes. A block indexes the domains of a
// level.
__global__ void __launch_bounds__(kBulkThreads, kBulkBlocks) index_kernel(const IndexArgs args) {
  RunThisBlock<kBulkThreads>(args);
}

// Grid: x over readings, y over levels. A block reads what the domains of a level hold of a shape
// and writes their sum, and a bit for each.
__global__ void __launch_bounds__(kBulkThreads, kBulkBlocks)
    read_domains_kernel(const ReadDomainsArgs args) {
  RunThisBlock<kBulkThreads>(args);
}

// Grid: x over portions of the leaves, y over kShapesPerLook shapes each; those of which nothing
// failed are passed over.
__global__ void __launch_bounds__(kBulkThreads, kBulkBlocks)
    exclusions_kernel(const ExclusionsArgs args) {
  RunThisBlock<kBulkThreads>(args);
}

// Grid: x over kJobsPerBlock jobs each, a warp a job; moves shares to their compacted place.
__global__ void __launch_bounds__(kBulkThreads, kBulkBlocks)
    compact_kernel(const CompactArgs args) {
  RunThisBlock<kBulkThreads>(args);
}

}  // namespace

cudaError_t Launch(const ScatterArgs& args, cudaStream_t stream) {
  return LaunchChecked(scatter_kernel, kBulkThreads, args, stream);
}
cudaError_t Launch(const MoveShapesArgs& args, cudaStream_t stream) {
  return LaunchChecked(move_shapes_kernel, kBulkThreads, args, stream);
}
cudaError_t Launch(const CountLeavesArgs& args, cudaStream_t stream) {
  return LaunchChecked(count_leaves_kernel, kBulkThreads, args, stream);
}
cudaError_t Launch(const CountShapeBatchesArgs& args, cudaStream_t stream) {
  return LaunchChecked(count_shape_batches_kernel, kBulkThreads, args, stream);
}
cudaError_t Launch(const CountGroupsArgs& args, cudaStream_t stream) {
  return LaunchChecked(count_groups_kernel, kBulkThreads, args, stream);
}
cudaError_t Launch(const CountGroupBatchesArgs& args, cudaStream_t stream) {
  return LaunchChecked(count_group_batches_kernel, kBulkThreads, args, stream);
}
cudaError_t Launch(const CountClassesArgs& args, cudaStream_t stream) {
  return LaunchChecked(count_classes_kernel, kBulkThreads, args, stream);
}
cudaError_t Launch(const SumClassesArgs& args, cudaStream_t stream) {
  return LaunchChecked(sum_classes_kernel, kBulkThreads, args, stream);
}
cudaError_t Launch(const RollUpArgs& args, cudaStream_t stream) {
  return LaunchChecked(roll_up_kernel, kBulkThreads, args, stream);
}
cudaError_t Launch(const IndexArgs& args, cudaStream_t stream) {
  return LaunchChecked(index_kernel, kBulkThreads, args, stream);
}
cudaError_t Launch(const ReadDomainsArgs& args, cudaStream_t stream) {
  return LaunchChecked(read_domains_kernel, kBulkThreads, args, stream);
}
cudaError_t Launch(const ExclusionsArgs& args, cudaStream_t stream) {
  return LaunchChecked(exclusions_kernel, kBulkThreads, args, stream);
}
cudaError_t Launch(const CompactArgs& args, cudaStream_t stream) {
  return LaunchChecked(compact_kernel, kBulkThreads, args, stream);
}

template <>
cudaError_t CheckKernel<ScatterArgs>() {
  return CheckCode(scatter_kernel);
}
template <>
cudaError_t CheckKernel<MoveShapesArgs>() {
  return CheckCode(move_shapes_kernel);
}
template <>
cudaError_t CheckKernel<CountLeavesArgs>() {
  return CheckCode(count_leaves_kernel);
}
template <>
cudaError_t CheckKernel<CountShapeBatchesArgs>() {
  return CheckCode(count_shape_batches_kernel);
}
template <>
cudaError_t CheckKernel<CountGroupsArgs>() {
  return CheckCode(count_groups_kernel);
}
template <>
cudaError_t CheckKernel<CountGroupBatchesArgs>() {
  return CheckCode(count_group_batches_kernel);
}
template <>
cudaError_t CheckKernel<CountClassesArgs>() {
  return CheckCode(count_classes_kernel);
}
template <>
cudaError_t CheckKernel<SumClassesArgs>() {
  return CheckCode(sum_classes_kernel);
}
template <>
cudaError_t CheckKernel<RollUpArgs>() {
  return CheckCode(roll_up_kernel);
}
template <>
cudaError_t CheckKernel<IndexArgs>() {
  return CheckCode(index_kernel);
}
template <>
cudaError_t CheckKernel<ReadDomainsArgs>() {
  return CheckCode(read_domains_kernel);
}
template <>
cudaError_t CheckKernel<ExclusionsArgs>() {
  return CheckCode(exclusions_kernel);
}
template <>
cudaError_t CheckKernel<CompactArgs>() {
  return CheckCode(compact_kernel);
}

}  // namespace espalier
