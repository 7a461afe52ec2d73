#include "host/packing/large_array.hpp"

#include <cstdint>
#include <mutex>

#include <sys/mman.h>

#include "host/packing/paged_array.hpp"

namespace espalier {
namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;
constexpr std::size_t kMostKept = std::size_t{64} << 20;
// Blocks that are kept, less one: there is always room for another without an allocation.
constexpr std::size_t kMostBlocks = 256;

// Rounds up to whole pages of the largest size that systems use, huge ones aside: what does not
// fill a huge page stays on these.
std::size_t WholePages(std::size_t bytes) {
  constexpr std::size_t kPage = std::size_t{1} << 16;
  return (bytes + kPage - 1) / kPage * kPage;
}

// Maps whole pages, the first of which begins a huge one.
void* Map(std::size_t bytes) {
  const std::size_t mapped = bytes + kHugePage;
  void* memory =
      ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* begin = static_cast<std::byte*>(memory);
  const std::size_t before =
      (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) ::munmap(begin, before);
  ::munmap(begin + before + bytes, kHugePage - before);
#ifdef MADV_HUGEPAGE
  ::madvise(begin + before, bytes, MADV_HUGEPAGE);  // where it is refused, small pages serve
#endif
  return begin + before;
}

class FreeBlocks {
 public:
  FreeBlocks() { kept_.reserve(kMostBlocks); }

  // Memory of just this size, or null.
  void* Take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = kept_.size(); i-- > 0;) {
      if (kept_[i].bytes != bytes) continue;
      void* memory = kept_[i].memory;
      kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
      bytes_ -= bytes;
      return memory;
    }
    return nullptr;
  }

  // The oldest give way.
  void Keep(void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    kept_.push_back({memory, bytes});
    bytes_ += bytes;
    while (bytes_ > kMostKept || kept_.size() == kMostBlocks) {
      ::munmap(kept_.front().memory, kept_.front().bytes);
      bytes_ -= kept_.front().bytes;
      kept_.erase(kept_.begin());
    }
  }

 private:
  struct Block {
    void* memory;
    std::size_t bytes;
  };
  std::mutex mutex_;
  std::vector<Block> kept_;  // oldest first
  std::size_t bytes_ = 0;
};

// Returns the free blocks of the process. They are never destroyed: arrays of static objects may
// outlive them otherwise.
FreeBlocks& TheFreeBlocks() {
  static auto& kept = *new FreeBlocks;
  return kept;
}

}  // namespace

void* TakeZeroPages(std::size_t bytes) {
  // Without a reservation: what is never written is never needed.
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_NOHUGEPAGE
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);  // one number must not take 2 MiB
#endif
  return memory;
}

void GiveZeroPages(void* memory, std::size_t bytes) { ::munmap(memory, bytes); }

void* TakeLargeMemory(std::size_t bytes) {
  const std::size_t pages = WholePages(bytes);
  void* memory = TheFreeBlocks().Take(pages);
  return memory != nullptr ? memory : Map(pages);
}

void GiveLargeMemory(void* memory, std::size_t bytes) {
  TheFreeBlocks().Keep(memory, WholePages(bytes));
}

}  // namespace espalier
