#include "service/wire/trace_context.hpp"

#include <gtest/gtest.h>

namespace espalier::trace_context_test {
namespace {

constexpr const char* kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr const char* kParent = "00f067aa0ba902b7";

TEST(TraceContext, IsReadAsTheRecommendationSays) {
  const TraceContext context{kTrace, kParent};
  const std::string base = std::string(kTrace) + "-" + kParent;
  EXPECT_EQ(ReadTraceParent("00-" + base + "-01"), context);
  EXPECT_EQ(ReadTraceParent("00-" + base + "-00"), context);
  EXPECT_EQ(ReadTraceParent("cc-" + base + "-01-what-comes-later"), context);
}

TEST(TraceContext, IsNoneWhereTheTextIsWrong) {
  const std::string base = std::string(kTrace) + "-" + kParent;
  const std::string zeros(32, '0');
  for (const std::string& text : {
           std::string(),
           "00-" + base,
           "00-" + base + "-0",
           "00-" + base + "-0g",
           "00-" + base + "-01-more",  // version 00 has no more
           "ff-" + base + "-01",
           "0-" + base + "-001",
           "00_" + base + "-01",
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + std::string(kParent) + "-01",
           "00-" + zeros + "-" + kParent + "-01",
           "00-" + std::string(kTrace) + "-" + zeros.substr(16) + "-01",
           "cc-" + base + "-01.what",
       }) {
    EXPECT_EQ(ReadTraceParent(text), TraceContext()) << text;
  }
}

}  // namespace
}  // namespace espalier::trace_context_test
