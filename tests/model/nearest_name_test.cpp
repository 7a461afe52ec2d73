#include "host/model/nearest_name.hpp"

#include <array>

#include <gtest/gtest.h>

namespace espalier::nearest_name_test {
namespace {

TEST(SpellingDistance, CountsLettersAndSwapsWhateverTheCase) {
  EXPECT_EQ(SpellingDistance("paralelism", "parallelism", 2), 1u);
  EXPECT_EQ(SpellingDistance("topologyname", "topologyName", 2), 0u);
  EXPECT_EQ(SpellingDistance("tempalte", "template", 2), 1u);
  EXPECT_EQ(SpellingDistance("count", "counts", 2), 1u);
  EXPECT_EQ(SpellingDistance("cpu", "gpu", 2), 1u);
  EXPECT_EQ(SpellingDistance("", "ab", 2), 2u);
  EXPECT_EQ(SpellingDistance("abcdef", "uvwxyz", 2), 3u);
  EXPECT_EQ(SpellingDistance("a", "abcdef", 2), 3u);
}

TEST(NearestName, IsOnlyWhatMayHaveBeenMeant) {
  constexpr std::array<std::string_view, 4> kNames = {"count", "minCount", "template", "name"};
  EXPECT_EQ(NearestName("cuont", kNames), "count");
  EXPECT_EQ(NearestName("mincout", kNames), "minCount");
  EXPECT_EQ(NearestName("temlpaet", kNames), "template");
  EXPECT_EQ(NearestName("nodes", kNames), "");
  EXPECT_EQ(NearestName("", kNames), "");
}

}  // namespace
}  // namespace espalier::nearest_name_test
