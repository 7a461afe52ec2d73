#include "host/cuda/pinned_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::ptrdiff_t kMostHeld = 8;

}  // namespace

DeviceResult<void> PinnedMemory::Reserve(std::size_t bytes) {
  if (bytes <= size_) return {};
  Release();
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
  void* memory = std::aligned_alloc(kPage, whole);
  if (memory == nullptr) {
    return tl::unexpected(
        DeviceError{DeviceFault::kOutOfMemory, fmt::format("no host memory for {} bytes", whole)});
  }
  if (auto pinned = device_->Pin(memory, whole); !pinned) {
    std::free(memory);
    return pinned;
  }
  data_ = static_cast<std::byte*>(memory);
  size_ = whole;
  return {};
}

bool PinnedMemory::Detach() noexcept {
  std::byte* memory = std::exchange(data_, nullptr);
  size_ = 0;
  return memory == nullptr || device_->Unpin(memory);
}

void PinnedMemory::Release() noexcept {
  std::byte* memory = data_;
  if (Detach()) std::free(memory);
}

// Freed by the last of those that hold it and the device's blocks.
struct AnswerBlocks::Block {
  explicit Block(Device& device) : pinned(device) {}
  ~Block() {
    if (left_behind != nullptr) std::free(left_behind);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  static bool IsHeld(const std::shared_ptr<Block>& block) {
    return block->held.load(std::memory_order_acquire);
  }

  PinnedMemory pinned;               // until the device goes
  std::byte* left_behind = nullptr;  // the memory after that, where it may be freed
  std::atomic<bool> held = false;    // by somebody else than the device's blocks
};

AnswerBlocks::~AnswerBlocks() {
  for (const std::shared_ptr<Block>& block : blocks_) {
    std::byte* memory = block->pinned.data();
    if (block->pinned.Detach()) block->left_behind = memory;
  }
}

DeviceResult<std::shared_ptr<std::byte>> AnswerBlocks::Take(std::size_t bytes) {
  auto block = std::ranges::find_if_not(blocks_, &Block::IsHeld);
  if (block == blocks_.end()) {
    blocks_.push_back(std::make_shared<Block>(*device_));
    block = std::prev(blocks_.end());
  }
  if (auto grown = (*block)->pinned.Reserve(bytes); !grown) return tl::unexpected(grown.error());
  std::shared_ptr<std::byte> memory((*block)->pinned.data(),
                                    [held = *block](std::byte* /*memory*/) {
                                      held->held.store(false, std::memory_order_release);
                                    });
  (*block)->held.store(true, std::memory_order_relaxed);
  return memory;
}

bool AnswerBlocks::Scarce() const {
  return std::ranges::count_if(blocks_, &Block::IsHeld) > kMostHeld;
}

}  // namespace espalier
