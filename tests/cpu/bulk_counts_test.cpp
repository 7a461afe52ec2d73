// Every compiled form of the bulk counting against the plain decision, leaf by leaf.
#include "fallback_cpu/bulk_counts.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/decisions/leaf_counts.hpp"
#include "tests/differential/random.hpp"

namespace espalier {
namespace {

using differential::Random;

constexpr std::int32_t kSizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 130};
constexpr StoredCount kUntouched = -55;

// Random capacities and requests in both forms of input.
struct Input {
  Input(std::uint64_t seed, std::int32_t leaf_count, bool with_leader, bool with_bitmap,
        Amount most)
      : leaves(leaf_count) {
    Random random(seed);
    const auto resources = static_cast<std::size_t>(random.Between(1, 4));
    const auto stride = static_cast<std::size_t>(leaves + kBulkReadAhead);
    capacity.assign(resources * stride, 0);
    for (Amount& amount : capacity) {
      amount = random.Chance(30) ? random.Between(-3, 12) : random.Between(-most, most);
    }
    for (std::size_t r = 0; r < resources; ++r) {
      columns.push_back(static_cast<std::int32_t>(r));
      workers.push_back(random.Chance(50) ? random.Between(1, 9) : random.Between(1, most));
      leader.push_back(random.Chance(50) ? random.Between(1, 9) : random.Between(1, most));
      // Capacities one below, at and one above a multiple are where a quotient goes wrong.
      for (std::size_t leaf = 0; leaf < stride; leaf += 2) {
        const Amount times = random.Between(0, most / workers[r]);
        const Amount near = workers[r] * times + random.Between(-1, 1);
        if (near < kExactLimit) capacity[r * stride + leaf] = near;
      }
    }
    for (int word = 0; word < 3; ++word) bitmap.push_back(random.Next());
    plain.capacity = {capacity.data(), static_cast<std::int64_t>(stride)};
    plain.workers = {static_cast<std::int32_t>(resources), columns.data(), workers.data()};
    if (with_leader) {
      plain.leader = {static_cast<std::int32_t>(resources), columns.data(), leader.data()};
      plain.leader_on_workers = leader.data();
    }
    plain.matches = with_bitmap ? bitmap.data() : nullptr;
    plain.domain = {0, leaves};
    for (std::size_t r = 0; r < resources; ++r) {
      const Amount* column = capacity.data() + r * stride;
      bulk.workers.push_back({column, workers[r], BulkInverse(workers[r]),
                              with_leader ? static_cast<double>(leader[r]) : 0});
      if (with_leader) bulk.leader.push_back({column, leader[r], 0, 0});
    }
    bulk.matches = plain.matches;
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  LeafCounts Expected(std::int32_t leaf) const {
    return Matches(plain, leaf) ? CountLeaf(plain, leaf) : LeafCounts{};
  }

  std::int32_t leaves;
  std::vector<Amount> capacity;
  std::vector<std::int32_t> columns;
  std::vector<Amount> workers;
  std::vector<Amount> leader;
  std::vector<std::uint64_t> bitmap;
  LeafInput plain;
  BulkRequest bulk;
};

// Leaves [begin, end) by one form; everything else must stay as it was.
void ExpectCounts(const BulkCounts& form, const Input& input, std::int32_t begin,
                  std::int32_t end) {
  const std::size_t size = static_cast<std::size_t>(input.leaves) + 1;
  std::vector<StoredCount> pods(size, kUntouched);
  std::vector<StoredCount> pods_with_leader(size, kUntouched);
  std::vector<std::uint8_t> leaders(size, 77);
  form.count(input.bulk, begin, end, pods.data(), pods_with_leader.data(), leaders.data());
  std::vector<std::int32_t> limited_by(input.workers.size(), 0);
  std::vector<std::int32_t> expected_limited(input.workers.size(), 0);
  form.limit(input.bulk, begin, end, limited_by.data());
  for (std::int32_t leaf = 0; leaf <= input.leaves; ++leaf) {
    const auto i = static_cast<std::size_t>(leaf);
    const bool counted = leaf >= begin && leaf < end;
    const LeafCounts expected = counted ? input.Expected(leaf) : LeafCounts{};
    ASSERT_EQ(pods[i], counted ? expected.pods : kUntouched) << "leaf " << leaf;
    if (counted && Matches(input.plain, leaf) && expected.pods == 0) {
      ++expected_limited[static_cast<std::size_t>(expected.limiting)];
    }
    if (input.plain.leader.size == 0) continue;
    ASSERT_EQ(leaders[i], counted ? expected.leaders : 77) << "leaf " << leaf;
    ASSERT_EQ(pods_with_leader[i], counted ? expected.pods_with_leader : kUntouched)
        << "leaf " << leaf;
  }
  ASSERT_EQ(limited_by, expected_limited);
}

TEST(BulkCountsTest, R7_11_EveryFormCountsAsTheDecisionDoes) {
  for (const BulkCounts& form : SupportedBulkCounts()) {
    SCOPED_TRACE(std::string(form.name));
    std::uint64_t seed = 1;
    for (const std::int32_t leaves : kSizes) {
      for (const bool with_leader : {false, true}) {
        for (const bool with_bitmap : {false, true}) {
          for (const Amount most : {Amount{20}, Amount{1} << 31, kExactLimit - 1}) {
            SCOPED_TRACE("seed " + std::to_string(seed));
            const Input input(seed++, leaves, with_leader, with_bitmap, most);
            ExpectCounts(form, input, 0, leaves);
            if (leaves >= 3) ExpectCounts(form, input, 1, leaves - 1);
          }
        }
      }
    }
  }
}

// The widest quotients that promise to be exact.
TEST(BulkCountsTest, R5_9_ExactUpToTheLimit) {
  for (const BulkCounts& form : SupportedBulkCounts()) {
    SCOPED_TRACE(std::string(form.name));
    for (std::uint64_t seed = 1000; seed < 1200; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      ExpectCounts(form, Input(seed, 33, true, false, kExactLimit - 1), 0, 33);
    }
  }
}

TEST(BulkCountsTest, PlainFormIsAlwaysThere) {
  ASSERT_FALSE(SupportedBulkCounts().empty());
  EXPECT_EQ(SupportedBulkCounts().back().name, "plain");
}

}  // namespace
}  // namespace espalier
