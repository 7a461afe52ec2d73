// Large arrays are vectors whose memory begins a huge page and is used again.
#include "host/packing/large_array.hpp"

#include <array>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace espalier::large_array_test {
namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;

std::size_t PlaceIn(const void* memory, std::size_t page) {
  return reinterpret_cast<std::uintptr_t>(memory) % page;
}

TEST(LargeArrayTest, BeginsALineWhenSmallAndAHugePageWhenLarge) {
  for (const std::size_t bytes : {std::size_t{1}, kHugePage - 1}) {
    EXPECT_EQ(PlaceIn(LargeArray<char>(bytes).data(), 64), 0U) << bytes;
  }
  for (const std::size_t bytes : {kHugePage, kHugePage + 1, 5 * kHugePage - 1}) {
    EXPECT_EQ(PlaceIn(LargeArray<char>(bytes).data(), kHugePage), 0U) << bytes;
  }
}

// Across the size from which on memory comes from elsewhere.
TEST(LargeArrayTest, GrowsCopiesAndComparesAsAnyVector) {
  LargeArray<std::int64_t> grown;
  for (std::int64_t i = 0; i < 600'000; ++i) grown.push_back(i);
  LargeArray<std::int64_t> made(grown.size());
  std::iota(made.begin(), made.end(), 0);
  EXPECT_EQ(grown, made);
  LargeArray<std::int64_t> copy = grown;
  copy.back() = 7;
  EXPECT_NE(copy, made);
  EXPECT_EQ(grown, made);
  copy = LargeArray<std::int64_t>(grown.size(), 3);
  EXPECT_EQ(std::accumulate(copy.begin(), copy.end(), std::int64_t{0}), 1'800'000);
}

TEST(LargeArrayTest, TheNextArrayOfASizeTakesTheMemoryOfTheLast) {
  LargeArray<char> other(3 * kHugePage);
  const void* first = nullptr;
  {
    const LargeArray<char> array(kHugePage + 12345);
    first = array.data();
  }
  EXPECT_NE(static_cast<const void*>(LargeArray<char>(3 * kHugePage).data()), first);
  EXPECT_EQ(static_cast<const void*>(LargeArray<char>(kHugePage + 12345).data()), first);
}

// More than is kept: what gives way is not handed out again.
TEST(LargeArrayTest, ThreadsMayTakeAndGiveAtOnce) {
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([t, &wrong] {
      for (std::size_t round = 0; round < 20; ++round) {
        std::vector<LargeArray<std::size_t>> arrays;
        for (std::size_t i = 0; i < 8; ++i) {
          arrays.emplace_back(kHugePage / sizeof(std::size_t) * (1 + (t + i) % 3));
          for (std::size_t at = 0; at < arrays.back().size(); at += 4096) arrays.back()[at] = t + i;
        }
        for (std::size_t i = 0; i < arrays.size(); ++i) {
          for (std::size_t at = 0; at < arrays[i].size(); at += 4096) {
            wrong[t] += arrays[i][at] != t + i;
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::array<int, 4>{}));
}

}  // namespace
}  // namespace espalier::large_array_test
