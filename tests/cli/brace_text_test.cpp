#include "service/cli/options/brace_text.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace espalier::brace_text_test {
namespace {

struct Case {
  std::vector<std::string> names;
  std::string expected;
};

TEST(BraceText, WritesWhatAShellWouldExpand) {
  for (const Case& c : std::vector<Case>{
           {{}, ""},
           {{"rack-1"}, "rack-1"},
           {{"rack-1", "rack-1"}, "rack-1"},
           {{"rack-1", "rack-2"}, "rack-{1,2}"},
           {{"rack-1", "rack-2", "rack-3"}, "rack-{1..3}"},
           {{"n08", "n09", "n10"}, "n{08..10}"},
           {{"n8", "n9", "n10", "n12"}, "n{8..10,12}"},
           {{"n099", "n100", "n101"}, "n{099..101}"},
           {{"n09", "n010", "n011"}, "n{09,010,011}"},  // not the same padding: no range
           {{"gpu-a-01.example", "gpu-a-02.example"}, "gpu-a-{01,02}.example"},
           {{"n1", "n11"}, "n{1,11}"},
           {{"r", "r1"}, "r{,1}"},
           {{"east", "west"}, "{ea,we}st"},
           {{"a", "b", "c"}, "{a,b,c}"},
           {{"n9", "n3", "n4", "n5"}, "n{9,3..5}"},  // the order is kept
           {{"x999999999999999999999", "x1000000000000000000000"},
            "x{999999999999999999999,1000000000000000000000}"},
       }) {
    EXPECT_EQ(BraceText(c.names), c.expected);
  }
}

TEST(BraceText, LeavesOutWhatIsBeyondTheLimit) {
  EXPECT_EQ(BraceText(std::vector<std::string>{"n1", "n3", "n5", "n7"}, 2), "n{1,3,+2 more}");
  EXPECT_EQ(BraceText(std::vector<std::string>{"n1", "n2", "n3", "n7"}, 2), "n{1..3,7}");
}

}  // namespace
}  // namespace espalier::brace_text_test
