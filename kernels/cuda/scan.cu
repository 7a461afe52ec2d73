// Scans over all jobs of a wave, by Thrust.
#include <cstddef>
#include <new>

#include <thrust/execution_policy.h>
#include <thrust/scan.h>
#include <thrust/system/system_error.h>

#include "kernels/cuda/launch.cuh"

namespace espalier {
namespace {

// Hands out the scratch memory of one call, once: allocating would wait, and cannot be recorded.
class Scratch {
 public:
  using value_type = std::byte;

  Scratch(std::byte* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}

  std::byte* allocate(std::ptrdiff_t bytes) {
    if (static_cast<std::size_t>(bytes) > bytes_) throw std::bad_alloc();
    bytes_ = 0;
    return memory_;
  }
  void deallocate(std::byte* /*memory*/, std::size_t /*bytes*/) {}

 private:
  std::byte* memory_;
  std::size_t bytes_;
};

}  // namespace

cudaError_t Launch(const ScanArgs& args, cudaStream_t stream) {
  try {
    Scratch scratch(args.scratch, ScanArgs::kScratchBytes);
    thrust::inclusive_scan(thrust::cuda::par_nosync(scratch).on(stream), args.counts,
                           args.counts + args.size, args.ends);
  } catch (const thrust::system_error& error) {
    return static_cast<cudaError_t>(error.code().value());
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  }
  return CheckLaunched(stream);
}

// A build has the code of Thrust for the architectures that it has all kernels for.
template <>
cudaError_t CheckKernel<ScanArgs>() {
  return cudaSuccess;
}

}  // namespace espalier
