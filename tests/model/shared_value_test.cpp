#include "host/model/shared_value.hpp"

#include <string>

#include <gtest/gtest.h>

namespace espalier::shared_value_test {
namespace {

using Text = SharedValue<std::string>;

TEST(SharedValue, CopiesShareTheValue) {
  const Text text = std::string("long enough to need memory of its own");
  const Text copy = text;  // NOLINT(performance-unnecessary-copy-initialization): is the point
  EXPECT_EQ(&*copy, &*text);
  EXPECT_EQ(copy, text);
}

TEST(SharedValue, ChangesAreTheChangersOwn) {
  Text text = std::string("a");
  const Text copy = text;
  text.Mutable() += "b";
  EXPECT_EQ(*text, "ab");
  EXPECT_EQ(*copy, "a");
  const std::string* const place = &*text;
  text.Mutable() += "c";  // nobody else has it by now
  EXPECT_EQ(&*text, place);
}

TEST(SharedValue, ComparesByValue) {
  EXPECT_EQ(Text(std::string("a")), Text(std::string("a")));
  EXPECT_NE(Text(std::string("a")), Text(std::string("b")));
  EXPECT_NE(Text(), Text(std::string()));
  EXPECT_EQ(Text(), Text(std::nullopt));
}

TEST(SharedValue, MayHaveNone) {
  Text text;
  EXPECT_FALSE(text);
  EXPECT_EQ(text.Mutable(), "");
  EXPECT_TRUE(text.has_value());
  text.reset();
  EXPECT_FALSE(text.has_value());
}

}  // namespace
}  // namespace espalier::shared_value_test
