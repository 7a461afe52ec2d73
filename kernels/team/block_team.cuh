// A CUDA thread block: collectives on CUB. Only this and warp_team.cuh are specific to GPUs in what
// decides.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "kernels/team/scanning.hpp"
#include "kernels/team/selecting.hpp"
#include "kernels/team/sorting.hpp"
#include "kernels/team/team.hpp"

namespace espalier {

// One-dimensional blocks of exactly `kThreads` threads. Shared memory: sizeof(Scratch).
template <int kThreads>
class BlockTeam {
  static constexpr std::size_t kScratchBytes = 64 * (kThreads / 32) + 512;

 public:
  // Shared by all collectives, one after the other: each ends in a barrier.
  struct Scratch {
    alignas(16) unsigned char bytes[kScratchBytes];
  };

  __device__ explicit BlockTeam(Scratch& scratch) : scratch_(scratch) {}

  static constexpr bool kOneLane = false;
  __device__ static const SliceIndex* slice_index() { return nullptr; }

  __device__ std::int32_t rank() const { return static_cast<std::int32_t>(threadIdx.x); }
  __device__ static constexpr std::int32_t size() { return kThreads; }
  __device__ void sync() { __syncthreads(); }

  template <class T>
  __device__ T broadcast(T value, std::int32_t root) {
    T& slot = As<T>();
    if (rank() == root) slot = value;
    __syncthreads();
    const T result = slot;
    __syncthreads();
    return result;
  }

  __device__ bool any(bool predicate) { return __syncthreads_or(predicate ? 1 : 0) != 0; }

  template <class T, class Op>
  __device__ T reduce(T value, T identity, Op op) {
    using Reduce = cub::BlockReduce<T, kThreads>;
    const T total = Reduce(As<typename Reduce::TempStorage>()).Reduce(value, op);
    __syncthreads();
    return broadcast(op(identity, total), 0);  // CUB gives the total to thread 0 only
  }

  template <class T>
  __device__ ScanResult<T> exclusive_sum(T value) {
    using Scan = cub::BlockScan<T, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
    ScanResult<T> result;
    Scan(As<typename Scan::TempStorage>()).ExclusiveSum(value, result.prefix, result.total);
    __syncthreads();
    return result;
  }

  template <class T, class Less>
  __device__ T minimum(T value, Less less) {
    using Reduce = cub::BlockReduce<T, kThreads>;
    const T least = Reduce(As<typename Reduce::TempStorage>()).Reduce(value, Lesser<T, Less>{less});
    __syncthreads();
    return broadcast(least, 0);
  }

  template <class T, class Less>
  __device__ void sort(T* first, std::int32_t n, Less less) {
    if (n <= kThreads) {
      RankSort(*this, first, n, less);
    } else {
      NetworkSort(*this, first, n, less);
    }
  }

  template <class T, class Make, class Weigh, class Order>
  __device__ SortedFront sort_front(T* front, std::int32_t n, Make make, Weigh weigh, Order order,
                                    std::int64_t need) {
    return SelectAndSort(*this, front, n, make, weigh, order, need);
  }

  __device__ std::int32_t first_tightest(const std::int32_t* values, const std::int32_t* ties,
                                         std::int32_t n, std::int32_t need) {
    return ScanForTightest(*this, values, ties, n, need);
  }

 private:
  template <class T>
  __device__ T& As() {
    static_assert(sizeof(T) <= kScratchBytes && alignof(T) <= 16);
    return *reinterpret_cast<T*>(scratch_.bytes);
  }

  Scratch& scratch_;
};

}  // namespace espalier
