// A context is reset only where no device would lose what it has there.
#include "host/cuda/shared_context.hpp"

#include <gtest/gtest.h>

namespace espalier::shared_context_test {
namespace {

class SharedContextTest : public testing::Test {
 protected:
  bool Join() {
    return context_.Join([this] { return works_; },
                         [this] {
                           ++resets_;
                           works_ = true;
                         });
  }

  SharedContext context_;
  bool works_ = true;
  int resets_ = 0;
};

TEST_F(SharedContextTest, AContextThatWorksIsShared) {
  EXPECT_TRUE(Join());
  EXPECT_TRUE(Join());
  EXPECT_EQ(resets_, 0);
}

TEST_F(SharedContextTest, ABrokenOneIsResetWhereNobodyUsesIt) {
  ASSERT_TRUE(Join());
  context_.Leave();
  works_ = false;
  EXPECT_TRUE(Join());
  EXPECT_EQ(resets_, 1);
}

TEST_F(SharedContextTest, ABrokenOneIsLeftAloneUntilTheLastDeviceIsGone) {
  ASSERT_TRUE(Join());
  ASSERT_TRUE(Join());
  works_ = false;
  EXPECT_FALSE(Join());
  context_.Leave();
  EXPECT_FALSE(Join());
  EXPECT_EQ(resets_, 0);
  context_.Leave();
  EXPECT_TRUE(Join());
  EXPECT_EQ(resets_, 1);
}

}  // namespace
}  // namespace espalier::shared_context_test
