#include "host/model/flat_map.hpp"

#include <gtest/gtest.h>

#include "host/model/resources.hpp"

namespace espalier::flat_map_test {
namespace {

TEST(FlatMap, MergesEveryOrderOfKeys) {
  const auto append = [](std::string& text, const std::string& more) { text += more; };
  const StringMap all{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}};
  for (int mine = 0; mine < 16; ++mine) {
    for (int theirs = 0; theirs < 16; ++theirs) {
      StringMap merged;
      StringMap other;
      StringMap expected;
      int bit = 1;
      for (const auto& [key, value] : all) {
        if ((mine & bit) != 0) merged.Set(key, value);
        if ((theirs & bit) != 0) other.Set(key, "x");
        const std::string sum = ((mine & bit) != 0 ? value : "") + ((theirs & bit) != 0 ? "x" : "");
        if (!sum.empty()) expected.Set(key, sum);
        bit *= 2;
      }
      merged.Merge(other, append);
      EXPECT_EQ(merged, expected) << mine << " " << theirs;
    }
  }
}

TEST(FlatMap, MergesWithItself) {
  Resources amounts{{"cpu", 2}, {"pods", 3}};
  AddTo(amounts, amounts);
  EXPECT_EQ(amounts, (Resources{{"cpu", 4}, {"pods", 6}}));
}

// Fails only by taking hours where each key that is new moves all others.
TEST(FlatMap, R1_7_AddsLongListsThatInterleave) {
  constexpr int kNames = 300'000;
  std::vector<Resources::Entry> even;
  std::vector<Resources::Entry> odd;
  for (int i = 0; i < kNames; ++i) {
    even.emplace_back(std::to_string(10'000'000 + 2 * i), 1);
    odd.emplace_back(std::to_string(10'000'000 + 2 * i + 1), 2);
  }
  Resources total(std::move(even));
  AddTo(total, Resources(std::move(odd)));
  ASSERT_EQ(total.size(), 2U * kNames);
  EXPECT_EQ(*total.Find("10000001"), 2);
  EXPECT_EQ(*total.Find("10000002"), 1);
}

TEST(FlatMap, CopiesShareTheirKeysUntilOneOfThemHasOthers) {
  const Resources node{{"cpu", 1}, {"pods", 2}};
  Resources other = node;
  other.Set("cpu", 3);
  EXPECT_EQ(other.keys(), node.keys()) << "a value is no key";
  other.Set("memory", 4);
  EXPECT_NE(other.keys(), node.keys());
  EXPECT_EQ(other, (Resources{{"cpu", 3}, {"memory", 4}, {"pods", 2}}));
  Resources less = node;
  less.Erase("cpu");
  EXPECT_EQ(less, (Resources{{"pods", 2}}));
  EXPECT_EQ(node, (Resources{{"cpu", 1}, {"pods", 2}}));
}

TEST(FlatMap, EqualsWhateverListsHoldTheKeys) {
  EXPECT_EQ((Resources{{"cpu", 1}}), (Resources{{"cpu", 1}}));
  EXPECT_FALSE((Resources{{"cpu", 1}} == Resources{{"gpu", 1}}));
  EXPECT_FALSE((Resources{{"cpu", 1}} == Resources{{"cpu", 1}, {"gpu", 1}}));
  Resources emptied{{"cpu", 1}};
  emptied.Erase("cpu");
  EXPECT_EQ(emptied, Resources());
  EXPECT_EQ(emptied.begin(), emptied.end());
}

TEST(FlatMap, MergesIntoNothing) {
  const Resources amounts{{"cpu", 2}, {"pods", 3}};
  Resources total;
  AddTo(total, amounts);
  EXPECT_EQ(total, amounts);
  AddTo(total, Resources());
  EXPECT_EQ(total, amounts);
  EXPECT_EQ(Times(amounts, -2), (Resources{{"cpu", -4}, {"pods", -6}}));
}

TEST(RecentKeys, MapsOfEqualKeysShareTheList) {
  using Entries = std::vector<std::pair<std::string_view, Amount>>;
  RecentKeys recent;
  const Resources first(Entries{{"pods", 2}, {"cpu", 1}}, recent);
  const Resources second(Entries{{"cpu", 3}, {"pods", 9}, {"pods", 4}}, recent);
  EXPECT_EQ(second.keys(), first.keys());
  EXPECT_EQ(first, (Resources{{"cpu", 1}, {"pods", 2}}));
  EXPECT_EQ(second, (Resources{{"cpu", 3}, {"pods", 4}}));
  EXPECT_EQ(Resources(Entries{}, recent), Resources());
  for (const char* name : {"a", "b", "c", "d"}) Resources(Entries{{name, 1}}, recent);
  EXPECT_NE(Resources(Entries{{"cpu", 3}, {"pods", 4}}, recent).keys(), first.keys())
      << "only a few lists are remembered";
}

}  // namespace
}  // namespace espalier::flat_map_test
