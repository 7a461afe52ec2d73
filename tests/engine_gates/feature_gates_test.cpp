#include "host/engine/feature_gates.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::feature_gates_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FeatureGates, DefaultsSatisfyTheirDependencies) {
  EXPECT_TRUE(CheckFeatureGateDependencies(FeatureGates{}));
  EXPECT_EQ(ParseFeatureGates("").value(), FeatureGates{});
}

TEST(FeatureGates, NamesAreSortedAndEachCanBeSet) {
  const auto names = FeatureGateNames();
  EXPECT_TRUE(std::ranges::is_sorted(names));
  for (const std::string_view name : names) {
    FeatureGates on;
    FeatureGates off;
    ASSERT_TRUE(SetFeatureGate(on, name, true));
    ASSERT_TRUE(SetFeatureGate(off, name, false));
    EXPECT_NE(on, off) << name;
  }
}

TEST(FeatureGates, ParsesKueuesCommandLineForm) {
  const auto gates = ParseFeatureGates("TASBalancedPlacement=true, TASProfileMixed=F,");
  ASSERT_TRUE(gates) << gates.error().message;
  EXPECT_TRUE(gates->balanced_placement);
  EXPECT_FALSE(gates->profile_mixed);
}

TEST(FeatureGates, UnknownNameSuggestsTheNearest) {
  const auto gates = ParseFeatureGates("TASBalancedPlacemnt=true");
  ASSERT_FALSE(gates);
  EXPECT_EQ(gates.error().error_class, ErrorClass::kBadInput);
  EXPECT_THAT(gates.error().message, HasSubstr("\"TASBalancedPlacemnt\""));
  EXPECT_THAT(gates.error().message, HasSubstr("did you mean TASBalancedPlacement?"));
}

TEST(FeatureGates, NameFarFromAllListsTheKnownOnes) {
  const auto gates = ParseFeatureGates(std::string(5000, 'x') + "=true");
  ASSERT_FALSE(gates);
  EXPECT_THAT(gates.error().message, HasSubstr("TASProfileMixed, TAS"));
  EXPECT_THAT(gates.error().message, Not(HasSubstr("did you mean")));
}

TEST(FeatureGates, ValueMustBeABoolean) {
  EXPECT_THAT(ParseFeatureGates("TASProfileMixed=yes").error().message,
              HasSubstr("\"yes\" is not true or false"));
  EXPECT_THAT(ParseFeatureGates("TASProfileMixed").error().message, HasSubstr("has no value"));
}

TEST(FeatureGates, ParentOffIsAnErrorNamingBoth_R2_1) {
  const auto gates = ParseFeatureGates("TopologyAwareScheduling=false");
  ASSERT_FALSE(gates);
  EXPECT_THAT(gates.error().message, HasSubstr("TopologyAwareScheduling is off"));
  EXPECT_THAT(gates.error().message, HasSubstr("TASProfileMixed"));
  EXPECT_THAT(gates.error().message, Not(HasSubstr("TASBalancedPlacement")));
}

TEST(FeatureGates, ElasticWithTasNeedsElasticJobs_R2_1) {
  EXPECT_TRUE(ParseFeatureGates("ElasticJobsViaWorkloadSlices=false"));
  EXPECT_TRUE(ParseFeatureGates("ElasticJobsViaWorkloadSlicesWithTAS=true"));
  const auto gates = ParseFeatureGates(
      "ElasticJobsViaWorkloadSlices=false,ElasticJobsViaWorkloadSlicesWithTAS=true");
  ASSERT_FALSE(gates);
  EXPECT_THAT(gates.error().message, HasSubstr("ElasticJobsViaWorkloadSlices is off"));
}

}  // namespace
}  // namespace espalier::feature_gates_test
