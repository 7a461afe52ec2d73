#include "host/conformance/difference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::difference_test {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;

const FeatureGates kGates;

TopologyAssignment OnRacks(const std::vector<std::pair<std::string, std::int32_t>>& racks) {
  TopologyAssignment assignment{{"rack"}, {}};
  for (const auto& [rack, count] : racks) assignment.domains.push_back({{rack}, count});
  return assignment;
}

PodSetAnswer Placed(const TopologyAssignment& assignment) {
  return {"main", "f", assignment, std::nullopt};
}
PodSetAnswer Refused(const std::string& reason) {
  return {"main", "f", std::nullopt, PlacementFailure{reason, std::nullopt}};
}
ExpectedAnswer Expect(const ExpectedPodSet& pod_set) { return {{"main", pod_set}}; }

TEST(Difference, EqualAnswersHaveNone) {
  const auto racks = OnRacks({{"a", 1}});
  EXPECT_EQ(
      Difference(Expect({racks, EncodeAssignment(racks, kGates), {}}), {{Placed(racks)}}, kGates),
      std::nullopt);
  EXPECT_EQ(Difference(Expect({{}, {}, "why"}), {{Refused("why")}}, kGates), std::nullopt);
  EXPECT_EQ(Difference(Expect({}), {{PodSetAnswer{"main", "f", {}, {}}}}, kGates), std::nullopt);
  EXPECT_EQ(Difference(ExpectedAnswer{}, WorkloadAnswer{}, kGates), std::nullopt);
}

TEST(Difference, NamesTheFirstDomainThatDiffers) {
  EXPECT_THAT(Difference(OnRacks({{"a", 1}, {"b", 2}}), OnRacks({{"a", 1}, {"b", 3}})),
              Optional(HasSubstr("domain 1: want b:2, got b:3")));
  EXPECT_THAT(Difference(OnRacks({{"a", 1}, {"b", 2}}), OnRacks({{"a", 1}})),
              Optional(HasSubstr("domain 1: want b:2, got none")));
  EXPECT_THAT(Difference(OnRacks({{"a", 1}}), OnRacks({{"b", 1}, {"a", 1}})),
              Optional(HasSubstr("domain 0: want a:1, got b:1")));
  EXPECT_THAT(Difference(OnRacks({}), TopologyAssignment{{"host"}, {}}),
              Optional(Eq("levels: want rack\n got host")));
}

TEST(Difference, MarksTheFirstByteOfAReason) {
  EXPECT_THAT(Difference(Expect({{}, {}, "fit 3 of 4"}), {{Refused("fit 2 of 4")}}, kGates),
              Optional(Eq("pod set main: reason differs at byte 4\n"
                          "want fit 3 of 4\n"
                          " got fit 2 of 4\n"
                          "         ^")));
}

TEST(Difference, LongTextsAreCutAroundTheFirstByte) {
  const std::string same(5000, 'a');
  const auto difference = Difference(Expect({{}, {}, same + "x"}), {{Refused(same + "y")}}, kGates);
  ASSERT_TRUE(difference);
  EXPECT_LT(difference->size(), 500u);
  EXPECT_THAT(*difference, HasSubstr("differs at byte 5000"));
}

TEST(Difference, AnswersOfAnotherKindAreShownBoth) {
  EXPECT_THAT(Difference(Expect({{}, {}, "why"}), {{Placed(OnRacks({{"a", 1}}))}}, kGates),
              Optional(Eq("pod set main: want reason: why\n"
                          " got assignment of 1 domains, 1 pods: a:1")));
  EXPECT_THAT(Difference(Expect({}), {{Refused("why")}}, kGates),
              Optional(HasSubstr("want neither assignment nor reason")));
  EXPECT_THAT(Difference(Expect({}), WorkloadAnswer{}, kGates), Optional(HasSubstr("no answer")));
  EXPECT_THAT(Difference(ExpectedAnswer{}, {{Refused("why")}}, kGates),
              Optional(HasSubstr("want no answer")));
}

TEST(Difference, EncodedFormIsCompared) {
  const auto racks = OnRacks({{"a", 1}});
  const auto other = EncodeAssignment(OnRacks({{"b", 1}}), kGates);
  EXPECT_THAT(Difference(Expect({racks, other, {}}), {{Placed(racks)}}, kGates),
              Optional(HasSubstr("v1beta2 form differs at byte")));
}

TEST(Difference, Gang) {
  const auto racks = OnRacks({{"a", 1}});
  SequenceGang gang;
  gang.placed = {{"main", Digest(racks)}};
  EXPECT_EQ(Difference(gang, {{Placed(racks)}}), std::nullopt);
  EXPECT_THAT(Difference(gang, {{Placed(OnRacks({{"b", 1}}))}}),
              Optional(HasSubstr("1 domains, 1 pods: b:1")));
  EXPECT_THAT(Difference(gang, {{Refused("why")}}), Optional(HasSubstr("reason: why")));
  EXPECT_THAT(Difference(gang, WorkloadAnswer{}), Optional(HasSubstr("no answer")));
  gang = {};
  gang.reason = "why";
  EXPECT_EQ(Difference(gang, {{Refused("why")}}), std::nullopt);
  EXPECT_THAT(Difference(gang, {{Refused("who")}}), Optional(HasSubstr("differs at byte 2")));
  EXPECT_THAT(Difference(gang, {{Placed(racks)}}), Optional(HasSubstr("got a placement")));
}

TEST(Difference, UngatedPods) {
  const std::vector<UngatedPod> got = {{{"", "p"}, "a", {}}};
  EXPECT_EQ(Difference(StringMap{{"p", "a"}}, got), std::nullopt);
  EXPECT_THAT(Difference(StringMap{{"p", "b"}}, got), Optional(Eq("pod p: want b\n got a")));
  EXPECT_THAT(Difference(StringMap{{"p", "a"}, {"q", "a"}}, got),
              Optional(Eq("pod q: want a\n got still gated")));
  EXPECT_THAT(Difference(StringMap{}, got), Optional(Eq("pod p: want still gated\n got a")));
}

}  // namespace
}  // namespace espalier::difference_test
