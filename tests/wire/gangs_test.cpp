#include "service/wire/gangs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/wire/workloads.hpp"
#include "tests/server/small_cluster.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kPlenty = std::int64_t{1} << 30;

std::vector<WorkloadRequest> ThreeGangs() {
  std::vector<WorkloadRequest> gangs = {MakeGang("a", 2), MakeGang("b", 3), MakeGang("c", 4)};
  gangs[2].pod_sets[0].group = "together";
  PodSetRequest leader = gangs[2].pod_sets[0];
  leader.name = "leader";
  leader.count = 1;
  leader.requests = {{"cpu", 1000}};
  gangs[2].pod_sets.insert(gangs[2].pod_sets.begin(), leader);
  return gangs;
}

std::optional<GangRequests> Read(const v1::WorkloadBatch& message, std::int64_t bytes = kPlenty) {
  ExpansionBudget budget{bytes};
  return ReadGangs(message, *ClusterState::Build(SmallCluster()), budget);
}

TEST(ReadGangs, WordsStandOncePerShape) {
  const auto words = ThreeGangs();
  const auto gangs = Read(*ToProto(words));
  ASSERT_TRUE(gangs);
  ASSERT_EQ(gangs->shapes.size(), 2u);
  EXPECT_EQ(gangs->shapes[0].workers, words[0].pod_sets[0]);
  EXPECT_FALSE(gangs->shapes[0].leader);
  EXPECT_EQ(gangs->shapes[1].workers, words[2].pod_sets[1]);
  EXPECT_EQ(gangs->shapes[1].leader, words[2].pod_sets[0]);
  EXPECT_THAT(gangs->leader_first, testing::ElementsAre(false, true));
  ASSERT_EQ(gangs->gangs.size(), 3u);
  for (std::size_t g = 0; g < 3; ++g) {
    EXPECT_EQ(gangs->gangs[g].shape, g == 2 ? 1 : 0);
    EXPECT_EQ(gangs->gangs[g].pods, static_cast<std::int32_t>(g) + 2);
  }
}

// R15.5: the larger pod set is the workers', the first of two equal ones.
TEST(ReadGangs, CountsSayWhoLeads) {
  auto words = ThreeGangs();
  words[2].pod_sets[0].count = 4;
  auto gangs = Read(*ToProto(words));
  ASSERT_TRUE(gangs);
  EXPECT_EQ(gangs->shapes[1].workers, words[2].pod_sets[0]);
  EXPECT_FALSE(gangs->leader_first[1]);
}

TEST(ReadGangs, AnEmptyBatchHasNone) {
  const auto gangs = Read({});
  ASSERT_TRUE(gangs);
  EXPECT_TRUE(gangs->gangs.empty());
}

struct Other {
  const char* name;
  void (*change)(std::vector<WorkloadRequest>& gangs);
};

class MoreThanGangs : public testing::TestWithParam<Other> {};

TEST_P(MoreThanGangs, AreLeftToFromProto) {
  auto words = ThreeGangs();
  GetParam().change(words);
  const auto message = ToProto(words);
  ASSERT_TRUE(message);
  EXPECT_FALSE(Read(*message));
}

INSTANTIATE_TEST_SUITE_P(
    , MoreThanGangs,
    testing::Values(
        Other{"SimulateEmpty", [](auto& gangs) { gangs[1].simulate_empty = true; }},
        Other{"ScoresConsumed", [](auto& gangs) { gangs[1].affinity_scores_consumed = true; }},
        Other{"AssumedUsage",
              [](auto& gangs) {
                gangs[1].assumed_usage = {{"host-0", {{"cpu", 1}}}};
              }},
        Other{"Replacement",
              [](auto& gangs) { gangs[1].replacement.emplace().unhealthy_nodes = {"host-0"}; }},
        Other{"PreviousAssignment",
              [](auto& gangs) { gangs[1].pod_sets[0].previous_assignment.emplace(); }},
        Other{"Updates",
              [](auto& gangs) {
                gangs[1].pod_sets[0].updates = {{"main", {{"team", "a"}}, {}, {}, {}}};
              }},
        Other{"NoPodSet", [](auto& gangs) { gangs[1].pod_sets.clear(); }},
        Other{"ThreePodSets",
              [](auto& gangs) { gangs[2].pod_sets.push_back(gangs[2].pod_sets.back()); }},
        Other{"TwoWithoutGroup",
              [](auto& gangs) {
                for (PodSetRequest& pod_set : gangs[2].pod_sets) pod_set.group.reset();
              }},
        Other{"TwoGroups", [](auto& gangs) { gangs[2].pod_sets[0].group = "apart"; }},
        Other{"TwoFlavors", [](auto& gangs) { gangs[2].pod_sets[0].flavor = "spot"; }},
        Other{"TwoOfOneName", [](auto& gangs) { gangs[2].pod_sets[0].name = "main"; }},
        Other{"UnknownFlavor", [](auto& gangs) { gangs[1].pod_sets[0].flavor = "spot"; }}),
    [](const auto& param_info) { return param_info.param.name; });

struct Spoiled {
  const char* name;
  void (*spoil)(v1::WorkloadBatch& message);
};

class SpoiledGangs : public testing::TestWithParam<Spoiled> {};

TEST_P(SpoiledGangs, AreLeftToFromProtoWhichSaysWhatIsWrong) {
  auto message = *ToProto(ThreeGangs());
  GetParam().spoil(message);
  EXPECT_FALSE(Read(message));
  ExpansionBudget budget{kPlenty};
  EXPECT_FALSE(FromProto(message, budget));
}

INSTANTIATE_TEST_SUITE_P(
    , SpoiledGangs,
    testing::Values(Spoiled{"Namespace", [](auto& m) { m.set_namespaces(1, 99); }},
                    Spoiled{"Name", [](auto& m) { m.set_names(1, 99); }},
                    Spoiled{"PodSetName", [](auto& m) { m.set_pod_set_names(1, 99); }},
                    Spoiled{"Requests", [](auto& m) { m.set_pod_set_requests(1, 99); }},
                    Spoiled{"Count", [](auto& m) { m.set_pod_set_counts(1, -1); }},
                    Spoiled{"Column", [](auto& m) { m.add_pod_set_counts(1); }},
                    Spoiled{"Offsets", [](auto& m) { m.set_pod_set_offsets(1, 9); }},
                    Spoiled{"Tables", [](auto& m) { m.mutable_resources(0)->add_names(99); }}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(ReadGangs, TakesNoMoreThanItsBudget) { EXPECT_FALSE(Read(*ToProto(ThreeGangs()), 100)); }

}  // namespace
}  // namespace espalier
