// The scores of balanced placement have the same bits everywhere (R14.15).
#include "tests/cuda/scores.hpp"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace espalier::scores_test {
namespace {

// FNV-1a.
std::uint64_t HashOf(const std::vector<double>& values) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const double value : values) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    for (int i = 0; i < 8; ++i) hash = (hash ^ (bits >> (8 * i) & 0xFF)) * 0x100000001b3U;
  }
  return hash;
}

TEST(ScoresTest, HaveTheseBits) {
  std::vector<double> scores(10000);
  ScoresOnHost({static_cast<std::int32_t>(scores.size()), scores.data()});
  EXPECT_EQ(HashOf(scores), 0xa19274a9301b5748U);
}

}  // namespace
}  // namespace espalier::scores_test
