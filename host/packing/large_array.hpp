// A vector for arrays of megabytes.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace espalier {

// Returns memory of whole huge pages where the system has them, of ordinary pages where it has not:
// an address of an array in random order is translated from a handful of entries instead of
// thousands. Memory that is given back is kept for the next array of its size, up to a limit,
// because handing pages out costs as much as filling them. Thread-safe. `bytes` are positive; the
// memory is not initialised.
void* TakeLargeMemory(std::size_t bytes);
void GiveLargeMemory(void* memory, std::size_t bytes);

// Leaves numbers without an initial value uninitialised: LargeArray<float>(n) is n floats to be
// written first.
template <class T>
class LargeArrayAllocator {
 public:
  using value_type = T;

  LargeArrayAllocator() = default;
  template <class Other>
  LargeArrayAllocator(const LargeArrayAllocator<Other>& /*other*/) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    return static_cast<T*>(bytes >= kLarge ? TakeLargeMemory(bytes)
                                           : ::operator new(bytes, kAlignment));
  }
  void deallocate(T* memory, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    bytes >= kLarge ? GiveLargeMemory(memory, bytes) : ::operator delete(memory, kAlignment);
  }

  template <class Item>
  void construct(Item* item) {
    ::new (static_cast<void*>(item)) Item;
  }
  template <class Item, class... Values>
  void construct(Item* item, Values&&... values) {
    std::construct_at(item, std::forward<Values>(values)...);
  }

  bool operator==(const LargeArrayAllocator& /*other*/) const { return true; }

 private:
  static constexpr std::size_t kLarge = std::size_t{1} << 21;
  static constexpr std::align_val_t kAlignment{64};
  static_assert(alignof(T) <= 64);
};

template <class T>
using LargeArray = std::vector<T, LargeArrayAllocator<T>>;

}  // namespace espalier
