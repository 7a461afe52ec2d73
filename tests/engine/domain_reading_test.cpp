// What is read of the counts of domains is what integers say of each, up to the largest counts.
#include "host/engine/domain_reading.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace espalier::domain_reading_test {
namespace {

// One level of domains.
class DomainReadings : public testing::Test {
 protected:
  DomainReadings() {
    for (const StoredCount near : {1, 7, 1000, 1 << 30, kMaxStored - 8}) {
      for (StoredCount held = near - 1; held <= near + 8 && held >= 0; ++held) {
        slices_.push_back(held);
        if (held == kMaxStored) break;
      }
    }
    level_begin_ = {0, static_cast<std::int32_t>(slices_.size())};
    tree_.level_count = 1;
    tree_.level_begin = level_begin_.data();
    counts_.pods = counts_.slices = slices_.data();
    counts_.pods_with_leader = counts_.slices_with_leader = slices_.data();
    needs_ = {1,
              2,
              3,
              7,
              999,
              1000,
              (1 << 30) - 1,
              1 << 30,
              kMaxStored - 1,
              kMaxStored,
              Count{kMaxStored} + 1,
              std::numeric_limits<Count>::max()};
  }

  Count Read(const DomainQuestion& asked, std::int32_t* marks = nullptr, std::int32_t mark = 0) {
    LevelCounts held = {};
    ReadDomains(tree_, counts_, {0, asked, held.data(), nullptr, marks, mark});
    return held[0];
  }

  std::vector<StoredCount> slices_;
  std::vector<std::int32_t> level_begin_;
  std::vector<Count> needs_;
  TreeView tree_;
  CountsView counts_;
};

TEST_F(DomainReadings, CountHowOftenDomainsHoldSomeSlices) {
  for (const Count need : needs_) {
    SCOPED_TRACE(need);
    Count times = 0;
    for (const StoredCount held : slices_) times += held / need;
    EXPECT_EQ(Read({.slices = need, .repeatedly = true}), times);
    std::vector<std::int32_t> marks(slices_.size(), 5);
    EXPECT_EQ(Read({.slices = need, .repeatedly = true}, marks.data(), 3), times);
    for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_EQ(marks[i], slices_[i] >= need ? 3 : 5);
  }
}

TEST_F(DomainReadings, MarkDomainsThatHoldTheSlices) {
  for (const Count need : needs_) {
    SCOPED_TRACE(need);
    std::vector<std::int32_t> marks;
    std::vector<std::int32_t> right;
    Count domains = 0;
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      const auto before = static_cast<std::int32_t>(i % 4);
      const bool holds = slices_[i] >= need;
      marks.push_back(before);
      right.push_back(holds && before > 2 ? 2 : before);
      domains += holds ? 1 : 0;
    }
    EXPECT_EQ(Read({.slices = need}), domains);
    EXPECT_EQ(Read({.slices = need}, marks.data(), 2), domains);
    EXPECT_EQ(marks, right);
    EXPECT_EQ(Read({.slices = need, .leaders = 1}), 0) << "the counts have none";
  }
}

TEST_F(DomainReadings, BesideALeaderOnlyDomainsWithOneHoldTheSlices) {
  std::vector<StoredCount> with_leader = slices_;
  std::vector<std::uint8_t> leaders(slices_.size(), 1);
  leaders[3] = 0;
  with_leader[3] = 0;
  for (StoredCount& held : with_leader) held = std::max(held - 1, 0);
  counts_.slices_with_leader = with_leader.data();
  counts_.leaders = leaders.data();
  Count domains = 0;
  Count sum = 0;
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    domains += leaders[i] != 0 && with_leader[i] >= 7 ? 1 : 0;
    sum += std::max(slices_[i], with_leader[i]);
  }
  LevelCounts held = {};
  Count slices = 0;
  ReadDomains(tree_, counts_, {0, {.slices = 7, .leaders = 1}, held.data(), &slices, nullptr, 0});
  EXPECT_EQ(held[0], domains);
  EXPECT_EQ(slices, sum) << "past 31 bits";
  EXPECT_GT(slices, kMaxStored);
}

TEST(ReadingsOfJobs, AreThoseOfOneJob) {
  std::vector<DomainReading> readings(5);
  readings[0].job = 1;
  readings[1].job = readings[2].job = 3;
  readings[3].job = readings[4].job = 6;
  EXPECT_EQ(ReadingsOf(readings, 0).size(), 0u);
  EXPECT_EQ(ReadingsOf(readings, 1).size(), 1u);
  EXPECT_EQ(ReadingsOf(readings, 3).data(), &readings[1]);
  EXPECT_EQ(ReadingsOf(readings, 3).size(), 2u);
  EXPECT_EQ(ReadingsOf(readings, 6).size(), 2u);
  EXPECT_EQ(ReadingsOf(readings, 7).size(), 0u);
}

}  // namespace
}  // namespace espalier::domain_reading_test
