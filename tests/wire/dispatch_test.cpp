#include "service/wire/dispatch.hpp"

#include <gtest/gtest.h>

namespace espalier::dispatch_test {
namespace {

const std::vector<std::vector<ClusterFit>> kFits = {
    {{1, FitStatus::kFits, "", {{"", "rack", 0, 2, 5}, {"", "", 0, 7, 0}}},
     {0, FitStatus::kUnknown, "nothing is known of its state", {}}},
    {{0, FitStatus::kUnknown, "nothing is known of its state", {}},
     {1, FitStatus::kDoesNotFit, "no room", {}}}};

TEST(DispatchMessages, RoundTrip) {
  const auto fits = FromProto(ToProto(kFits), 2, 2);
  ASSERT_TRUE(fits) << fits.error().message;
  EXPECT_EQ(*fits, kFits);
  EXPECT_EQ(FromProto(ToProto(std::vector<std::vector<ClusterFit>>()), 0, 0)->size(), 0U);
}

TEST(DispatchMessages, NoOtherAnswerIsRead) {
  EXPECT_FALSE(FromProto(ToProto(kFits), 3, 2));
  EXPECT_FALSE(FromProto(ToProto(kFits), 2, 1));
  v1::DispatchResponse response = ToProto(kFits);
  response.mutable_workloads(0)->mutable_fits(0)->set_status(v1::FIT_STATUS_UNSPECIFIED);
  EXPECT_FALSE(FromProto(response, 2, 2));
  response = ToProto(kFits);
  response.mutable_workloads(1)->mutable_fits(1)->set_reason(99);
  EXPECT_FALSE(FromProto(response, 2, 2));
  response = ToProto(kFits);
  response.mutable_workloads(0)->mutable_fits(0)->mutable_pod_sets(0)->set_level(99);
  EXPECT_FALSE(FromProto(response, 2, 2));
}

}  // namespace
}  // namespace espalier::dispatch_test
