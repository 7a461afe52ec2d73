#include "fallback_cpu/reused.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace espalier::reused_test {
namespace {

TEST(Reused, LendsWhatCameBackLastAsItWas) {
  Reused<std::vector<int>> reused;
  const std::vector<int>* first = nullptr;
  {
    const auto one = reused.Lend();
    const auto other = reused.Lend();
    EXPECT_NE(&*one, &*other) << "both are in use";
    one->assign(100, 7);
    first = &*one;
  }
  const auto again = reused.Lend();
  EXPECT_EQ(&*again, first) << "it ended last";
  EXPECT_EQ(again->size(), 100u);
}

}  // namespace
}  // namespace espalier::reused_test
