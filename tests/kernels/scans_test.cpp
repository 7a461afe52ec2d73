#include "kernels/decisions/scans.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/generated/random.hpp"
#include "tests/kernels/teams.hpp"

namespace espalier::scans_test {
namespace {

// Returns the position, as it is said: of the values that suffice the least, of those the least
// tie, of those the first; -1: none suffices.
std::int32_t Expected(const std::vector<StoredCount>& values, const std::vector<StoredCount>& ties,
                      Count need) {
  std::optional<std::pair<StoredCount, StoredCount>> least;
  std::int32_t first = -1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::pair key(values[i], ties.empty() ? 0 : ties[i]);
    if (values[i] < need || (least && key >= *least)) continue;
    least = key;
    first = static_cast<std::int32_t>(i);
  }
  return first;
}

void ExpectFound(const std::vector<StoredCount>& values, const std::vector<StoredCount>& ties,
                 Count need) {
  RunOnTeams([&](const TeamRunner& runner) {
    const std::int32_t found = runner.Ask([&](auto& team) {
      return FirstTightest(team, values.data(), ties.empty() ? nullptr : ties.data(),
                           static_cast<std::int32_t>(values.size()), need);
    });
    EXPECT_EQ(found, Expected(values, ties, need)) << "need " << need;
  });
}

TEST(ScansTest, R9_5_TheFirstOfTheLeastThatSuffices) {
  ExpectFound({7, 3, 5, 3, 9}, {}, 3);
  ExpectFound({7, 3, 5, 3, 9}, {}, 4);
  ExpectFound({7, 3, 5, 3, 9}, {}, 10);  // nothing suffices
  ExpectFound({0, 0}, {}, 0);
}

TEST(ScansTest, R10_3_TiesBreakEqualValues) {
  ExpectFound({4, 4, 4, 6}, {9, 2, 2, 1}, 4);
  ExpectFound({4, 4, 4, 6}, {9, 2, 2, 1}, 5);
}

TEST(ScansTest, R1_6_CountsAtTheirLimitAreFoundAndNothingAboveIt) {
  ExpectFound({1, kMaxStored, kMaxStored}, {}, 2);
  ExpectFound({1, kMaxStored, kMaxStored}, {5, kMaxStored, 3}, kMaxStored);
  ExpectFound({1, kMaxStored}, {}, Count{kMaxStored} + 1);
}

TEST(ScansTest, AwkwardSizes) {
  Random random(7);
  for (const std::int32_t size : kAwkwardSizes) {
    for (int round = 0; round < 8; ++round) {
      const std::uint32_t values_end = round % 2 == 0 ? 4 : 100;
      std::vector<StoredCount> values;
      std::vector<StoredCount> ties;
      for (std::int32_t i = 0; i < size; ++i) {
        values.push_back(static_cast<StoredCount>(random.Below(values_end)));
        ties.push_back(static_cast<StoredCount>(random.Below(3)));
      }
      const Count need = random.Below(values_end + 1);
      ExpectFound(values, {}, need);
      if (size > 0) ExpectFound(values, ties, need);
    }
  }
}

}  // namespace
}  // namespace espalier::scans_test
