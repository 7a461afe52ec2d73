#include "kernels/decisions/histogram.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "tests/generated/random.hpp"
#include "tests/kernels/random_values.hpp"
#include "tests/kernels/teams.hpp"

namespace espalier::histogram_test {
namespace {

Histogram Of(const std::vector<StoredCount>& values) {
  return Histogram(values.data(), static_cast<std::int32_t>(values.size()));
}

void ExpectHolds(const Histogram& histogram, const std::vector<StoredCount>& values) {
  ASSERT_TRUE(histogram.fits());
  const StoredCount most = values.empty() ? 0 : *std::ranges::max_element(values);
  EXPECT_EQ(histogram.most(), most);
  for (StoredCount value = 0; value <= most; ++value) {
    EXPECT_EQ(histogram[value], std::ranges::count(values, value)) << value;
  }
  EXPECT_EQ(histogram.Sum(), std::accumulate(values.begin(), values.end(), Count{0}));
}

TEST(HistogramTest, CountsValuesOfAnyNumber) {
  Random random(11);
  for (const std::int32_t size : kAwkwardSizes) {
    for (const std::uint32_t end : {1u, 2u, 9u, 1024u}) {
      const std::vector<StoredCount> values = RandomValues(random, size, end);
      ExpectHolds(Of(values), values);
    }
  }
  const std::vector<StoredCount> many = RandomValues(random, 5000, 40);
  ExpectHolds(Of(many), many);
}

TEST(HistogramTest, IsAddedToAndCleared) {
  Random random(12);
  Histogram histogram;
  std::vector<StoredCount> all;
  for (const std::uint32_t end : {3u, 500u, 20u}) {
    const std::vector<StoredCount> more = RandomValues(random, 70, end);
    histogram.Add(more.data(), static_cast<std::int32_t>(more.size()));
    all.insert(all.end(), more.begin(), more.end());
    ExpectHolds(histogram, all);
  }
  histogram.Clear();
  histogram.Add(all.data(), 1);
  ExpectHolds(histogram, {all[0]});
}

TEST(HistogramTest, FollowsEveryChange) {
  Random random(13);
  std::vector<StoredCount> values = RandomValues(random, 30, 12);
  Histogram histogram = Of(values);
  for (int i = 0; i < 500; ++i) {
    StoredCount& value = values[random.Below(values.size())];
    const auto to = static_cast<StoredCount>(random.Below(i % 50 == 0 ? 900 : 12));
    histogram.Replace(value, to);
    value = to;
    ExpectHolds(histogram, values);
  }
}

TEST(HistogramTest, DoesNotFitLargeValues) {
  EXPECT_TRUE(Of({Histogram::kMost}).fits());
  EXPECT_FALSE(Of({0, Histogram::kMost + 1}).fits());
  EXPECT_FALSE(Of({kMaxStored}).fits());
}

}  // namespace
}  // namespace espalier::histogram_test
