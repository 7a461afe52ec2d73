// Changes of memory that several thread blocks make at the same time, with the result that any
// order gives.
#pragma once

#include <cstdint>

#include "kernels/macros.hpp"

namespace espalier {

// Sets a flag. Returns whether this call was the first to do so.
ESPALIER_HD inline bool Raise(std::int32_t& flag) {
#ifdef __CUDA_ARCH__
  return atomicExch(&flag, 1) == 0;
#else
  return __atomic_exchange_n(&flag, 1, __ATOMIC_RELAXED) == 0;
#endif
}

// Adds to a number, 0 or more.
ESPALIER_HD inline void AddTo(std::int64_t& sum, std::int64_t more) {
#ifdef __CUDA_ARCH__
  atomicAdd(reinterpret_cast<unsigned long long*>(&sum), static_cast<unsigned long long>(more));
#else
  __atomic_fetch_add(&sum, more, __ATOMIC_RELAXED);
#endif
}

}  // namespace espalier
