// A CUDA warp: collectives on CUB, by shuffles.
#pragma once

#include <cstdint>

#include <cub/util_ptx.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#include "kernels/team/scanning.hpp"
#include "kernels/team/selecting.hpp"
#include "kernels/team/sorting.hpp"
#include "kernels/team/team.hpp"

namespace espalier {

// A warp of a one-dimensional block, all of whose threads take part. Needs no shared memory.
class WarpTeam {
 public:
  static constexpr std::int32_t kLanes = 32;

  // Returns the number of this warp in its block.
  __device__ static std::int32_t warp_of_block() {
    return static_cast<std::int32_t>(threadIdx.x) / kLanes;
  }

  static constexpr bool kOneLane = false;
  __device__ static const SliceIndex* slice_index() { return nullptr; }

  __device__ std::int32_t rank() const { return static_cast<std::int32_t>(threadIdx.x) % kLanes; }
  __device__ static constexpr std::int32_t size() { return kLanes; }
  // A shuffle shows no writes to memory: every collective begins with this.
  __device__ void sync() { __syncwarp(); }

  template <class T>
  __device__ T broadcast(T value, std::int32_t root) {
    sync();
    return cub::ShuffleIndex<kLanes>(value, root, kAll);
  }

  __device__ bool any(bool predicate) {
    sync();
    return __any_sync(kAll, predicate ? 1 : 0) != 0;
  }

  template <class T, class Op>
  __device__ T reduce(T value, T identity, Op op) {
    using Reduce = cub::WarpReduce<T>;
    typename Reduce::TempStorage none;
    return broadcast(op(identity, Reduce(none).Reduce(value, op)), 0);
  }

  template <class T>
  __device__ ScanResult<T> exclusive_sum(T value) {
    using Scan = cub::WarpScan<T>;
    typename Scan::TempStorage none;
    ScanResult<T> result;
    sync();
    Scan(none).ExclusiveSum(value, result.prefix, result.total);
    return result;
  }

  template <class T, class Less>
  __device__ T minimum(T value, Less less) {
    using Reduce = cub::WarpReduce<T>;
    typename Reduce::TempStorage none;
    return broadcast(Reduce(none).Reduce(value, Lesser<T, Less>{less}), 0);
  }

  template <class T, class Less>
  __device__ void sort(T* first, std::int32_t n, Less less) {
    if (n <= kLanes) {
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
  static constexpr unsigned kAll = 0xffffffff;
};

}  // namespace espalier
