#include "kernels/decisions/replacement.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace espalier {
namespace {

std::int32_t Incomplete(const std::vector<std::int32_t>& ancestors, const std::vector<Count>& pods,
                        Count lost, Count size) {
  return IncompleteSliceDomain(
      {static_cast<std::int32_t>(pods.size()), ancestors.data(), pods.data()}, lost, size);
}

TEST(ReplacementTest, R17_6_DomainWhoseSliceLostThePods) {
  // E11: x1 and x2 in rack 5, x4 in rack 6; two pods of a slice of four are gone.
  EXPECT_EQ(Incomplete({5, 5, 6}, {2, 2, 2}, 2, 4), 6);
  EXPECT_EQ(Incomplete({5, 6, 6}, {2, 2, 2}, 2, 4), 5);
}

TEST(ReplacementTest, R17_6_SmallestIdAmongSeveral) {
  EXPECT_EQ(Incomplete({3, 4, 5}, {4, 2, 2}, 2, 4), 4);
}

TEST(ReplacementTest, R17_6_NoneQualifies) {
  EXPECT_EQ(Incomplete({3, 4}, {4, 4}, 2, 4), -1);
  EXPECT_EQ(Incomplete({}, {}, 2, 4), -1);
}

TEST(ReplacementTest, R17_6_OnlyAncestorsThatStillHoldPods) {
  EXPECT_EQ(Incomplete({3, 4}, {0, 2}, 4, 2), 4);
  EXPECT_EQ(Incomplete({3}, {0}, 4, 2), -1);
}

}  // namespace
}  // namespace espalier
