#include "host/readers/slice_constraints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::slice_constraints_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParseSliceConstraints, ReadsTopologyAndSize_R20_11) {
  EXPECT_THAT(
      ParseSliceConstraints(R"([{"topology":"rack","size":4},{"topology":"host"},{}])").value(),
      ElementsAre(SliceConstraint{"rack", 4}, SliceConstraint{"host", 0}, SliceConstraint{}));
}

TEST(ParseSliceConstraints, RefusesOtherForms) {
  for (const std::string_view text : {"", "{}", "[", "4", "[1]", "[{\"topology\":1}]"}) {
    EXPECT_FALSE(ParseSliceConstraints(text)) << text;
  }
  for (const std::string_view size : {"\"4\"", "4.5", "3000000000", "true"}) {
    const auto parsed =
        ParseSliceConstraints(R"([{"topology":"rack","size":)" + std::string(size) + "}]");
    ASSERT_FALSE(parsed) << size;
    EXPECT_THAT(parsed.error().message, HasSubstr("size of entry 0 is not a 32-bit integer"));
  }
}

}  // namespace
}  // namespace espalier::slice_constraints_test
