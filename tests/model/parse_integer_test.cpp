#include "host/model/parse_integer.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace espalier::parse_integer_test {
namespace {

TEST(ParseInteger, TakesWhatGoTakes) {
  EXPECT_EQ(ParseInteger<std::int32_t>("4"), 4);
  EXPECT_EQ(ParseInteger<std::int32_t>("+4"), 4);
  EXPECT_EQ(ParseInteger<std::int32_t>("-4"), -4);
  EXPECT_EQ(ParseInteger<std::int32_t>("004"), 4);
  EXPECT_EQ(ParseInteger<std::int32_t>("2147483647"), 2147483647);
  EXPECT_EQ(ParseInteger<std::uint64_t>("18446744073709551615"), 18446744073709551615U);
}

TEST(ParseInteger, TakesNothingElse) {
  for (const char* text : {"", "+", "-", "+-4", "++4", "4 ", " 4", "4x", "0x4", "4.0", "1e3"}) {
    EXPECT_EQ(ParseInteger<std::int32_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseInteger<std::int32_t>("2147483648"), std::nullopt);
  EXPECT_EQ(ParseInteger<std::uint64_t>("-1"), std::nullopt);
}

}  // namespace
}  // namespace espalier::parse_integer_test
