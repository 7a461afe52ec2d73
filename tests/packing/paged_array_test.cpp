#include "host/packing/paged_array.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace espalier::paged_array_test {
namespace {

using Numbers = PagedArray<std::int64_t>;
constexpr std::size_t kMany = std::size_t{1} << 20;

// The bytes of an array that are in memory now.
std::size_t Resident(const Numbers& numbers) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((numbers.size() * sizeof(std::int64_t) + page - 1) / page);
  EXPECT_EQ(::mincore(const_cast<std::int64_t*>(numbers.data()), pages.size() * page, pages.data()),
            0);
  std::size_t resident = 0;
  for (const unsigned char flags : pages) resident += (flags & 1U) * page;
  return resident;
}

Numbers WithThreeNumbers() {
  Numbers numbers(kMany, true);
  for (const std::size_t at : {std::size_t{0}, kMany / 2, kMany - 1}) {
    EXPECT_TRUE(numbers.Use(at));
    EXPECT_FALSE(numbers.Use(at));
    numbers[at] = static_cast<std::int64_t>(at) + 1;
  }
  return numbers;
}

TEST(PagedArray, SparseOnesAreZeroUntilTheyAreWritten) {
  const Numbers numbers = WithThreeNumbers();
  const Numbers copy =
      numbers;  // NOLINT(performance-unnecessary-copy-initialization): is the point
  for (const Numbers* of : {&numbers, &copy}) {
    EXPECT_EQ((*of)[0], 1);
    EXPECT_EQ((*of)[1], 0);
    EXPECT_EQ((*of)[kMany / 2], static_cast<std::int64_t>(kMany) / 2 + 1);
    EXPECT_EQ((*of)[kMany / 3], 0);
    EXPECT_EQ((*of)[kMany - 1], static_cast<std::int64_t>(kMany));
  }
}

TEST(PagedArray, PagesNobodyUsedTakeNoMemory) {
  const Numbers numbers = WithThreeNumbers();
  const Numbers copy =
      numbers;  // NOLINT(performance-unnecessary-copy-initialization): is the point
  const std::size_t most = 3 * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_LE(Resident(numbers), most);
  EXPECT_LE(Resident(copy), most);
  EXPECT_EQ(copy.Bytes(), Numbers::FirstBytes(kMany, true) + 3 * 4096);
}

TEST(PagedArray, SmallOnesAreDense) {
  Numbers numbers(1000, true);
  EXPECT_FALSE(numbers.sparse());
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 0), 1000);
  EXPECT_FALSE(numbers.Use(7));
  int visits = 0;
  numbers.ForEachUsed(1, 999, [&](std::size_t begin, std::size_t end) {
    EXPECT_EQ(begin, 1U);
    EXPECT_EQ(end, 999U);
    ++visits;
  });
  EXPECT_EQ(visits, 1);
}

TEST(PagedArray, UsedStretchesAreVisitedInOrder) {
  const Numbers numbers = WithThreeNumbers();
  std::vector<std::pair<std::size_t, std::size_t>> visited;
  numbers.ForEachUsed(
      5, kMany - 3, [&](std::size_t begin, std::size_t end) { visited.emplace_back(begin, end); });
  const std::vector<std::pair<std::size_t, std::size_t>> expected = {
      {5, 512}, {kMany / 2, kMany / 2 + 512}, {kMany - 512, kMany - 3}};
  EXPECT_EQ(visited, expected);
}

TEST(PagedArray, DenseOnesAreCopiedWhole) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kMany + 7}) {
    Numbers numbers(size, false);
    for (std::size_t i = 0; i < size; ++i) numbers[i] = static_cast<std::int64_t>(i);
    Numbers copy = numbers;
    const Numbers moved = std::move(copy);
    EXPECT_FALSE(moved.sparse());
    EXPECT_EQ(moved.Bytes(), static_cast<std::int64_t>(8 * size));
    EXPECT_TRUE(std::equal(numbers.begin(), numbers.end(), moved.begin(), moved.end()));
  }
}

}  // namespace
}  // namespace espalier::paged_array_test
