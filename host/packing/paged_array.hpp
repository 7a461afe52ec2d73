// Large arrays, most of which may be zeros.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "host/packing/large_array.hpp"
#include "host/packing/parallel_for.hpp"

namespace espalier {

// Returns pages that take no memory and read as zeros until they are written; `bytes` are positive.
// They go back to the system with their contents.
void* TakeZeroPages(std::size_t bytes);
void GiveZeroPages(void* memory, std::size_t bytes);

// An array of numbers, or of plain structs of them, of a fixed size. A dense array is a LargeArray,
// whose items have no value until they are written. The items of a sparse array are 0 until then,
// and unused pages take neither memory nor time to copy.
template <class T>
class PagedArray {
 public:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kPageItems = kPageBytes / sizeof(T);
  static_assert(kPageBytes % sizeof(T) == 0);

  // Returns whether an array that is to be `sparse` becomes so. Small arrays are always dense, but
  // are filled with zeros when `sparse` was requested.
  static bool IsSparse(std::size_t size, bool sparse) {
    constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
    return sparse && size * sizeof(T) >= kLeastBytes;
  }

  PagedArray() = default;
  PagedArray(std::size_t size, bool sparse) : size_(size) {
    if (!IsSparse(size, sparse)) {
      dense_ = sparse ? LargeArray<T>(size, T{}) : LargeArray<T>(size);
      data_ = dense_.data();
    } else {
      used_.resize((size + kPageItems - 1) / kPageItems);
      pages_ = used_.data();
      data_ = static_cast<T*>(TakeZeroPages(used_.size() * kPageBytes));
    }
  }
  PagedArray(const PagedArray& other) : PagedArray(other.size_, other.sparse()) {
    if (sparse()) {
      std::ranges::copy(other.used_, used_.begin());
      for (std::size_t page = 0; page < used_.size(); ++page) {
        if (used_[page] == 0) continue;
        std::copy_n(other.data_ + page * kPageItems, kPageItems, data_ + page * kPageItems);
      }
      return;
    }
    constexpr std::size_t kItems = (std::size_t{1} << 19) / sizeof(T);  // of a part
    ParallelFor((size_ + kItems - 1) / kItems, size_ * sizeof(T) / 8, [&](std::size_t part) {
      const std::size_t begin = part * kItems;
      std::copy_n(other.data_ + begin, std::min(kItems, size_ - begin), data_ + begin);
    });
  }
  PagedArray(PagedArray&& other) noexcept { *this = std::move(other); }
  PagedArray& operator=(PagedArray&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    std::swap(dense_, other.dense_);
    std::swap(used_, other.used_);
    std::swap(pages_, other.pages_);
    return *this;
  }
  PagedArray& operator=(const PagedArray&) = delete;
  ~PagedArray() {
    if (sparse()) GiveZeroPages(data_, used_.size() * kPageBytes);
  }

  bool sparse() const { return pages_ != nullptr; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  const T* begin() const { return data_; }
  T* end() { return data_ + size_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t at) { return data_[at]; }
  const T& operator[](std::size_t at) const { return data_[at]; }

  // Prepares to write an item. Returns whether its page, in a sparse array, begins to take memory.
  bool Use(std::size_t at) {
    return sparse() && std::exchange(pages_[at / kPageItems], std::uint8_t{1}) == 0;
  }

  // Calls visit(begin, end) for the used stretches of [begin, end), in ascending order.
  template <class Visit>
  void ForEachUsed(std::size_t begin, std::size_t end, const Visit& visit) const {
    if (!sparse()) return visit(begin, end);
    for (std::size_t at = begin; at < end;) {
      const std::size_t page = at / kPageItems;
      const std::size_t next = std::min((page + 1) * kPageItems, end);
      if (used_[page] != 0) visit(at, next);
      at = next;
    }
  }

  bool operator==(const PagedArray& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

  // Returns the bytes of memory that it takes.
  std::int64_t Bytes() const {
    const auto pages = std::count(used_.begin(), used_.end(), std::uint8_t{1});
    return FirstBytes(size_, sparse()) + pages * static_cast<std::int64_t>(kPageBytes);
  }
  // Returns the bytes that an array takes when it is made; for a sparse one these are the records
  // of used pages, and the tables by which the system finds its pages.
  static std::int64_t FirstBytes(std::size_t size, bool sparse) {
    const std::size_t bytes = size * sizeof(T);
    return static_cast<std::int64_t>(
        IsSparse(size, sparse) ? bytes / kPageBytes * (1 + sizeof(void*)) : bytes);
  }

 private:
  std::size_t size_ = 0;
  T* data_ = nullptr;
  LargeArray<T> dense_;
  std::vector<std::uint8_t> used_;  // by page; empty: a dense array
  std::uint8_t* pages_ =
      nullptr;  // used_.data(), or null for a dense array: Use() reads one pointer
};

}  // namespace espalier
