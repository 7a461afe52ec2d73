#include "kernels/decisions/fits.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace espalier::fits_test {
namespace {

constexpr Amount kMin = std::numeric_limits<Amount>::min();
constexpr Amount kMax = std::numeric_limits<Amount>::max();

TEST(FitsTest, R5_9_QuotientTruncatesAndClamps) {
  struct Row {
    Amount request, capacity;
    Count fit;
  };
  const Row rows[] = {
      {1000, 2500, 2},    {1000, 999, 0},  {1000, 1000, 1},     {7, 0, 0},
      {7, -1, 0},         {1, -kMax, 0},   {1, kMin, 0},        {1, 2147483646, 2147483646},
      {1, kMax, kMaxFit}, {kMax, kMax, 1}, {kMax, kMax - 1, 0}, {2, 4294967294, kMaxFit},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(FitOne(row.request, row.capacity), row.fit)
        << row.capacity << " for requests of " << row.request;
  }
}

TEST(FitsTest, R5_9_ZeroRequestAllowsTheMaximum) {
  for (const Amount capacity : {kMin, Amount{-1}, Amount{0}, kMax}) {
    EXPECT_EQ(FitOne(0, capacity), kMaxFit);
  }
}

// Nothing in the arithmetic may trap, whatever the input says.
TEST(FitsTest, R5_9_NegativeRequestsDivideLikeAnyOther) {
  EXPECT_EQ(FitOne(-1, kMin), 0);  // the quotient that leaves int64
  EXPECT_EQ(FitOne(-1, -5), 5);
  EXPECT_EQ(FitOne(-1, 5), 0);
  EXPECT_EQ(FitOne(-1, -kMax), kMaxFit);
  EXPECT_EQ(FitOne(-2, -9), 4);
  EXPECT_EQ(FitOne(kMin, kMin), 1);
}

class RequestTest : public ::testing::Test {
 protected:
  Fit FitFor(const std::vector<Amount>& requests, const std::vector<Amount>& remaining) {
    columns_.assign(requests.size(), 0);
    const RequestView view{static_cast<std::int32_t>(requests.size()), columns_.data(),
                           requests.data()};
    return FitAll(view, [&](std::int32_t i) { return remaining[static_cast<std::size_t>(i)]; });
  }

 private:
  std::vector<std::int32_t> columns_;
};

TEST_F(RequestTest, R5_9_MinimumOverResources) {
  const Fit fit = FitFor({1000, 8, 1}, {2500, 64, 10});  // E4, node n4
  EXPECT_EQ(fit.count, 2);
  EXPECT_EQ(fit.limiting, 0);
}

TEST_F(RequestTest, R5_9_EmptyRequestFitsNothing) { EXPECT_EQ(FitFor({}, {}).count, 0); }

// Entries are in byte-wise order of the names, so the first of equal minima is the smallest name.
TEST_F(RequestTest, R5_10_SmallestNameLimitsAmongEqualMinima) {
  EXPECT_EQ(FitFor({1000, 8, 1}, {500, 64, 0}).limiting, 0);   // E4, n5: cpu before pods
  EXPECT_EQ(FitFor({1000, 8, 1}, {8000, 7, 0}).limiting, 1);   // E4, n6: memory before pods
  EXPECT_EQ(FitFor({1000, 8, 1}, {8000, 64, 0}).limiting, 2);  // pods alone
}

TEST_F(RequestTest, R5_10_ZeroRequestsTakePart) {
  const Fit fit = FitFor({0, 0}, {-5, 3});
  EXPECT_EQ(fit.count, kMaxFit);
  EXPECT_EQ(fit.limiting, 0);
}

TEST_F(RequestTest, R5_10_TheFirstWithoutRoomIsWhatLimitsWhereNothingFits) {
  const std::vector<Amount> amounts = {kMin, kMin + 1, -3, -1, 0, 1, 2, 3, kMax - 1, kMax};
  const std::vector<std::int32_t> columns = {0, 1};
  const auto expect = [&](const std::vector<Amount>& request, const std::vector<Amount>& left) {
    const RequestView view{static_cast<std::int32_t>(request.size()), columns.data(),
                           request.data()};
    const auto remaining = [&](std::int32_t i) { return left[static_cast<std::size_t>(i)]; };
    const Fit fit = FitAll(view, remaining);
    EXPECT_EQ(FirstWithoutRoom(view, remaining), fit.count == 0 ? fit.limiting : -1);
  };
  expect({}, {});
  for (const Amount request : amounts) {
    for (const Amount other : amounts) {
      for (const Amount left : amounts) {
        for (const Amount other_left : amounts) expect({request, other}, {left, other_left});
      }
    }
  }
}

}  // namespace
}  // namespace espalier::fits_test
