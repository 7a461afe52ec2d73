#include "tests/failing_allocation.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>

namespace espalier {
namespace {

constexpr std::int64_t kNone = -1;

std::atomic<bool> every_thread{false};
thread_local bool this_thread = false;
std::atomic<std::int64_t> left{kNone};  // allocations that succeed before the one that fails

bool FailsNow() {
  if (!this_thread && !every_thread.load(std::memory_order_relaxed)) return false;
  std::int64_t now = left.load();
  while (now >= 0 && !left.compare_exchange_weak(now, now - 1)) {
  }
  return now == 0;
}

}  // namespace

FailingAllocation::FailingAllocation(std::int64_t number, AllocationsOf whose) {
  left = number;
  this_thread = whose == AllocationsOf::kThisThread;
  every_thread = whose == AllocationsOf::kEveryThread;
}

FailingAllocation::~FailingAllocation() { every_thread = this_thread = false; }

bool FailingAllocation::failed() const { return left == kNone; }

namespace {

void* Allocate(std::size_t size, std::size_t alignment) {
  const std::size_t padded = (size + alignment - 1) / alignment * alignment;
  void* memory =
      FailsNow() ? nullptr : std::aligned_alloc(alignment, padded > 0 ? padded : alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace
}  // namespace espalier

void* operator new(std::size_t size) { return espalier::Allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return espalier::Allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
