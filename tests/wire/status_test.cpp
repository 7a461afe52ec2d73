#include "service/wire/status.hpp"

#include <gtest/gtest.h>

#include "espalier/v1/error.pb.h"
#include "service/wire/feature_gates.hpp"

namespace espalier::status_test {
namespace {

TEST(Status, EveryErrorClassHasItsCode) {
  EXPECT_EQ(ToStatusCode(ErrorClass::kBadInput), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(ToStatusCode(ErrorClass::kNotFound), grpc::NOT_FOUND);
  EXPECT_EQ(ToStatusCode(ErrorClass::kStale), grpc::FAILED_PRECONDITION);
  EXPECT_EQ(ToStatusCode(ErrorClass::kUnavailable), grpc::UNAVAILABLE);
  EXPECT_EQ(ToStatusCode(ErrorClass::kExhausted), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ToStatusCode(ErrorClass::kCancelled), grpc::CANCELLED);
  EXPECT_EQ(ToStatusCode(ErrorClass::kDeviceFault), grpc::INTERNAL);
  EXPECT_EQ(ToStatusCode(ErrorClass::kInternal), grpc::INTERNAL);
}

// Longer than headers may be it would not reach the client at all.
TEST(Status, MessagesArePrintableAndFitIntoHeaders) {
  const Error error{ErrorClass::kStale, "\x1b[2J\n" + std::string(std::size_t{1} << 20, 'x')};
  for (const grpc::Status& status : {ToStatus(error), StaleStatus(error, {7, 12})}) {
    EXPECT_EQ(status.error_message().rfind("\\x1b[2J\\nxxx", 0), 0u);
    EXPECT_EQ(status.error_message().size(), 4096u);
    EXPECT_LT(status.error_details().size(), 5000u);
  }
}

TEST(Status, EveryCodeHasAClass) {
  for (const ErrorClass error_class :
       {ErrorClass::kBadInput, ErrorClass::kNotFound, ErrorClass::kStale, ErrorClass::kUnavailable,
        ErrorClass::kExhausted, ErrorClass::kCancelled, ErrorClass::kInternal}) {
    EXPECT_EQ(ToErrorClass(ToStatusCode(error_class)), error_class);
  }
  EXPECT_EQ(ToErrorClass(grpc::RESOURCE_EXHAUSTED), ErrorClass::kExhausted);
  EXPECT_EQ(ToErrorClass(grpc::DEADLINE_EXCEEDED), ErrorClass::kCancelled);
  EXPECT_EQ(ToErrorClass(grpc::UNIMPLEMENTED), ErrorClass::kNotFound);
  EXPECT_EQ(ToErrorClass(grpc::DATA_LOSS), ErrorClass::kInternal);
}

TEST(Status, StaleNamesTheCurrentState) {
  const grpc::Status status = StaleStatus(Error{ErrorClass::kStale, "stale"}, {7, 12});
  EXPECT_EQ(status.error_code(), grpc::FAILED_PRECONDITION);
  v1::ErrorStatus details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), grpc::FAILED_PRECONDITION);
  ASSERT_EQ(details.details_size(), 1);
  v1::StaleState stale;
  ASSERT_TRUE(details.details(0).UnpackTo(&stale));
  EXPECT_EQ(stale.current().epoch(), 7u);
  EXPECT_EQ(stale.current().generation(), 12u);
}

TEST(FeatureGateMap, CarriesEveryGate) {
  for (const std::string_view name : FeatureGateNames()) {
    FeatureGates gates;
    gates.handle_overlapping_flavors = false;
    const bool by_default = [&] {
      FeatureGates with = gates;
      (void)SetFeatureGate(with, name, true);
      return with == gates;
    }();
    ASSERT_TRUE(SetFeatureGate(gates, name, !by_default));
    if (!CheckFeatureGateDependencies(gates)) continue;
    FeatureGateMap values;
    WriteFeatureGates(gates, values);
    const auto applied = ApplyFeatureGates(values, FeatureGates());
    ASSERT_TRUE(applied) << applied.error().message;
    EXPECT_EQ(*applied, gates) << name;
  }
}

TEST(FeatureGateMap, UnknownGateIsRefused) {
  FeatureGateMap values;
  values["TASProfileMixd"] = true;
  const auto applied = ApplyFeatureGates(values, FeatureGates());
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().error_class, ErrorClass::kBadInput);
  EXPECT_NE(applied.error().message.find("TASProfileMixed"), std::string::npos);
}

}  // namespace
}  // namespace espalier::status_test
