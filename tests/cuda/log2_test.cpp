// The logarithm of the entropy order (R14.15).
#include "kernels/decisions/log2.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace espalier::log2_test {
namespace {

TEST(Log2Test, IsExactForPowersOfTwo) {
  for (int exponent = -1000; exponent <= 1000; ++exponent) {
    EXPECT_EQ(Log2(std::ldexp(1.0, exponent)), exponent);
  }
}

TEST(Log2Test, IsCloseForEveryShare) {
  for (int total = 1; total <= 300; ++total) {
    for (int pods = 1; pods <= total; ++pods) {
      const double share = static_cast<double>(pods) / total;
      const double right = std::log2(share);
      const double ulp = std::nextafter(std::abs(right), HUGE_VAL) - std::abs(right);
      EXPECT_NEAR(Log2(share), right, 2 * ulp) << pods << "/" << total;
    }
  }
}

}  // namespace
}  // namespace espalier::log2_test
