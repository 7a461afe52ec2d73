#include "service/wire/answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/wire/wire_samples.hpp"

namespace espalier::answers_test {
namespace {

TEST(AnswerBatch, RoundTripKeepsEveryAnswer) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const auto requests = SampleRequests(seed, 20);
    const auto answers = SampleAnswers(requests, seed);
    const auto message = ToProto(requests, answers, {});
    ASSERT_TRUE(message) << message.error().message;
    v1::AnswerBatch received;
    ASSERT_TRUE(received.ParseFromString(message->SerializeAsString()));
    WorkBudget budget(kPlenty);
    const auto decoded = FromProto(requests, received, budget);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, answers) << "seed " << seed;
  }
}

struct OnePlaced {
  OnePlaced() {
    requests[0].pod_sets.emplace_back().flavor = "gpu";
    answers[0].pod_sets.push_back(
        {"", "gpu", TopologyAssignment{{"block", "host"}, {{{"b", "h1"}, 2}, {{"b", "old"}, 3}}},
         std::nullopt});
  }
  std::vector<WorkloadRequest> requests{1};
  std::vector<WorkloadAnswer> answers{1};
};

TEST(AnswerBatch, LeavesGoByIndexAndOthersByName) {
  const OnePlaced placed;
  const auto message =
      ToProto(placed.requests, placed.answers,
              [](const std::string& flavor,
                 const std::vector<std::string>& values) -> std::optional<std::int32_t> {
                EXPECT_EQ(flavor, "gpu");
                if (values.back() == "h1") return 41;
                return std::nullopt;
              });
  ASSERT_TRUE(message);
  ASSERT_EQ(message->domains_size(), 2);
  EXPECT_EQ(message->domains(0), 41);
  EXPECT_EQ(message->domains(1), -1);
  ASSERT_EQ(message->named_domains_size(), 1);
  EXPECT_EQ(message->strings(static_cast<int>(message->named_domains(0).values(1)) - 1), "old");
}

TEST(AnswerBatch, AnAnswerToAnotherRequestIsABug) {
  OnePlaced placed;
  placed.answers[0].pod_sets[0].name = "unknown";
  const auto message = ToProto(placed.requests, placed.answers, {});
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().error_class, ErrorClass::kInternal);
}

// R21.8: of a replacement only the pods that moved are new.
TEST(AnswerBatch, SaysWhichPodsAReplacementAdds) {
  OnePlaced placed;
  ReplacementContext& replacement = placed.requests[0].replacement.emplace();
  replacement.unhealthy_nodes = {"gone"};
  replacement.admitted.emplace_back().topology_assignment =
      TopologyAssignment{{"block", "host"}, {{{"b", "gone"}, 2}, {{"b", "old"}, 3}}};
  const auto message = ToProto(placed.requests, placed.answers, {});
  ASSERT_TRUE(message);
  EXPECT_THAT(message->counts(), testing::ElementsAre(2, 3));
  EXPECT_THAT(message->added_counts(), testing::ElementsAre(2, 0));
}

// R16.1: of a resize only the pods beyond the previous assignment are new.
TEST(AnswerBatch, SaysWhichPodsAResizeAdds) {
  OnePlaced placed;
  placed.requests[0].pod_sets[0].previous_assignment =
      TopologyAssignment{{"block", "host"}, {{{"b", "h1"}, 2}, {{"b", "old"}, 1}}};
  placed.requests.emplace_back();
  placed.answers.emplace_back();
  const auto message = ToProto(placed.requests, placed.answers, {});
  ASSERT_TRUE(message);
  EXPECT_THAT(message->added_counts(), testing::ElementsAre(0, 2));
}

TEST(AnswerBatch, OfNewWorkloadsAllPodsAreNewWithoutSayingSo) {
  const OnePlaced placed;
  EXPECT_TRUE(ToProto(placed.requests, placed.answers, {})->added_counts().empty());
}

struct HostileCase {
  const char* name;
  void (*spoil)(v1::AnswerBatch&);
  const char* error;
};

class HostileAnswers : public testing::TestWithParam<HostileCase> {};

TEST_P(HostileAnswers, AreRefusedWithTheFieldPath) {
  const OnePlaced placed;
  auto message = ToProto(placed.requests, placed.answers, {});
  ASSERT_TRUE(message);
  GetParam().spoil(*message);
  WorkBudget budget(kPlenty);
  const auto decoded = FromProto(placed.requests, *message, budget);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message, GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    , HostileAnswers,
    testing::Values(
        HostileCase{"UnknownOutcome",
                    [](auto& m) { m.set_outcomes(0, static_cast<v1::PodSetOutcome>(77)); },
                    "answers.outcomes[0]: is 77, which is no known outcome"},
        HostileCase{"Truncated", [](auto& m) { m.clear_outcomes(); },
                    "answers.outcomes: has 0 entries; 1 expected"},
        HostileCase{"PlacedWithoutLevels", [](auto& m) { m.set_levels(0, 0); },
                    "answers.levels[0]: is 0; a placed pod set has levels"},
        HostileCase{"NoSuchDomain",
                    [](auto& m) { m.set_domains(1, std::numeric_limits<std::int32_t>::min()); },
                    "answers.domains[1]: refers to row 2147483648 of a table of 2; references are "
                    "0 to 2"},
        HostileCase{"LeafByIndex", [](auto& m) { m.set_domains(1, 7); },
                    "answers.domains[1]: is 7, a leaf by index; domains named by their values were "
                    "asked for"},
        HostileCase{"OffsetsPastTheEnd", [](auto& m) { m.set_domain_offsets(1, 3); },
                    "answers.domain_offsets: ends at 3; the list it cuts has 2 elements"},
        HostileCase{"CountMissing", [](auto& m) { m.mutable_counts()->RemoveLast(); },
                    "answers.counts: has 1 entries; 2 expected"}),
    [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace espalier::answers_test
