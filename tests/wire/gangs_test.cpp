#include "service/wire/gangs.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/wire/workloads.hpp"
#include "tests/server/small_cluster.hpp"
#include "tests/wire/wire_samples.hpp"

namespace espalier::gangs_test {
namespace {

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

std::optional<GangRequests> Read(const v1::WorkloadBatch& message, ResolvedShapeCache& known,
                                 const FeatureGates& gates = {}, std::int64_t bytes = kPlenty) {
  WorkBudget budget(bytes);
  return ReadGangs(message, *ClusterState::Build(SmallCluster()), gates, known, budget);
}

std::optional<GangRequests> Read(const v1::WorkloadBatch& message, std::int64_t bytes = kPlenty) {
  ResolvedShapeCache known;
  return Read(message, known, {}, bytes);
}

TEST(ReadGangs, WordsStandOncePerShape) {
  const auto requests = ThreeGangs();
  const auto gangs = Read(*ToProto(requests));
  ASSERT_TRUE(gangs);
  ASSERT_EQ(gangs->shapes.size(), 2u);
  EXPECT_EQ(gangs->shapes[0]->specification.workers, requests[0].pod_sets[0]);
  EXPECT_FALSE(gangs->shapes[0]->specification.leader);
  EXPECT_EQ(gangs->shapes[1]->specification.workers, requests[2].pod_sets[1]);
  EXPECT_EQ(gangs->shapes[1]->specification.leader, requests[2].pod_sets[0]);
  EXPECT_FALSE(gangs->shapes[0]->specification.leader_first);
  EXPECT_TRUE(gangs->shapes[1]->specification.leader_first);
  ASSERT_EQ(gangs->gangs.size(), 3u);
  for (std::size_t g = 0; g < 3; ++g) {
    EXPECT_EQ(gangs->gangs[g].shape, g == 2 ? 1 : 0);
    EXPECT_EQ(gangs->gangs[g].pods, static_cast<std::int32_t>(g) + 2);
  }
}

// R15.5: the larger pod set is the workers', the first of two equal ones.
TEST(ReadGangs, CountsSayWhoLeads) {
  auto requests = ThreeGangs();
  requests[2].pod_sets[0].count = 4;
  auto gangs = Read(*ToProto(requests));
  ASSERT_TRUE(gangs);
  EXPECT_EQ(gangs->shapes[1]->specification.workers, requests[2].pod_sets[0]);
  EXPECT_FALSE(gangs->shapes[1]->specification.leader_first);
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
  auto requests = ThreeGangs();
  GetParam().change(requests);
  const auto message = ToProto(requests);
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
              [](auto& gangs) { gangs[1].pod_sets[0].previous_assignment.Mutable(); }},
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
  WorkBudget budget(kPlenty);
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

// Whatever the names, the order and the numbers of pods of the workloads.
TEST(ReadGangs, KnowsShapesAgainByTheirWords) {
  ResolvedShapeCache known;
  const auto first = Read(*ToProto(ThreeGangs()), known);
  auto requests = ThreeGangs();
  std::ranges::reverse(requests);
  for (WorkloadRequest& gang : requests) {
    gang.key.name += "-again";
    gang.pod_sets.back().count += 3;
  }
  const auto second = Read(*ToProto(requests), known);
  ASSERT_TRUE(first && second);
  EXPECT_THAT(second->shapes, testing::ElementsAre(first->shapes[1], first->shapes[0]));
}

struct Change {
  const char* name;
  void (*change)(WorkloadRequest& gang, FeatureGates& gates);
};

class AnotherShape : public testing::TestWithParam<Change> {};

TEST_P(AnotherShape, IsNotTakenForAKnownOne) {
  ResolvedShapeCache known;
  auto requests = ThreeGangs();
  FeatureGates gates;
  requests.erase(requests.begin(), requests.begin() + 2);
  const auto before = Read(*ToProto(requests), known, gates);
  GetParam().change(requests[0], gates);
  const auto after = Read(*ToProto(requests), known, gates);
  ASSERT_TRUE(before && after);
  EXPECT_NE(after->shapes[0], before->shapes[0]);
  const bool leader_first = requests[0].pod_sets[1].count > requests[0].pod_sets[0].count;
  PodSetRequest workers = after->shapes[0]->specification.workers;
  workers.count = requests[0].pod_sets[leader_first ? 1 : 0].count;
  EXPECT_EQ(workers, requests[0].pod_sets[leader_first ? 1 : 0]);
}

INSTANTIATE_TEST_SUITE_P(
    , AnotherShape,
    testing::Values(
        Change{"Name", [](auto& gang, auto&) { gang.pod_sets[0].name = "first"; }},
        Change{"Group",
               [](auto& gang, auto&) {
                 for (PodSetRequest& pod_set : gang.pod_sets) pod_set.group = "apart";
               }},
        Change{"Leader", [](auto& gang, auto&) { gang.pod_sets[0].count = 9; }},
        Change{"Implied", [](auto& gang, auto&) { gang.pod_sets[1].implied = true; }},
        Change{"Amount", [](auto& gang, auto&) { gang.pod_sets[1].requests.Set("cpu", 1); }},
        Change{"Resource", [](auto& gang, auto&) { gang.pod_sets[1].requests.Set("gpu", 0); }},
        Change{"Topology",
               [](auto& gang, auto&) { gang.pod_sets[1].topology_request->required = "block"; }},
        Change{"NoTopology", [](auto& gang, auto&) { gang.pod_sets[1].topology_request.reset(); }},
        Change{"Slices",
               [](auto& gang, auto&) { gang.pod_sets[1].topology_request->slice_size = 1; }},
        Change{"Toleration",
               [](auto& gang, auto&) {
                 gang.pod_sets[1].pod_template.tolerations = {{"reserved", "Exists", "", ""}};
               }},
        Change{"NodeSelector",
               [](auto& gang, auto&) {
                 gang.pod_sets[1].pod_template.node_selector = {{"disk", "ssd"}};
               }},
        Change{"Gates", [](auto&, FeatureGates& gates) { gates.profile_mixed = false; }}),
    [](const auto& param_info) { return param_info.param.name; });

// A row that no workload uses is read nevertheless, to say what is wrong with it.
TEST(ReadGangs, KnownShapesHideNoBadRow) {
  ResolvedShapeCache known;
  auto message = *ToProto(ThreeGangs());
  ASSERT_TRUE(Read(message, known));
  message.add_resources()->add_names(1);
  EXPECT_FALSE(Read(message, known));
  message = *ToProto(ThreeGangs());
  message.add_node_constraints()->mutable_node_selector()->add_keys(99);
  EXPECT_FALSE(Read(message, known));
  message = *ToProto(ThreeGangs());
  message.add_assignments()->add_levels(99);
  EXPECT_FALSE(Read(message, known));
}

// Charges a long string as often as a few bytes name it.
TEST(ReadGangs, StringsThatRepeatAreCharged) {
  auto message = *ToProto(ThreeGangs());
  const std::string repeated(std::size_t{1} << 20, 'a');
  message.add_strings(repeated);
  v1::ResourceVector& row = *message.mutable_resources(0);
  for (int i = 0; i < 100000; ++i) {
    row.add_names(static_cast<std::uint32_t>(message.strings_size()));
    row.add_amounts(1);
  }
  std::string key;
  WorkBudget budget(kPlenty / 16);
  EXPECT_FALSE(ShapeKeyReader(message, {}, budget).Read(0, key));
  EXPECT_LT(key.size(), repeated.size());
  EXPECT_FALSE(Read(message, kPlenty / 16));
}

TEST(ResolvedShapeCache, HoldsSoManyShapes) {
  ResolvedShapeCache known;
  const auto shape = std::make_shared<const ResolvedGangShape>();
  for (std::size_t i = 0; i < ResolvedShapeCache::kMostShapes; ++i) {
    known.Keep(std::to_string(i), shape);
  }
  EXPECT_EQ(known.Find("0"), shape);
  known.Keep("one more", shape);
  EXPECT_EQ(known.Find("1"), nullptr) << "0 was asked for since";
  EXPECT_EQ(known.Find("0"), shape);
  EXPECT_EQ(known.Find("one more"), shape);
  EXPECT_EQ(known.size(), ResolvedShapeCache::kMostShapes);
}

TEST(ResolvedShapeCache, HoldsSoManyBytesOfKeys) {
  ResolvedShapeCache known;
  const auto shape = std::make_shared<const ResolvedGangShape>();
  const std::string half(ResolvedShapeCache::kMostBytes / 2, 'a');
  known.Keep(half, shape);
  known.Keep(half, shape);  // the same again adds nothing
  known.Keep(std::string(half.size(), 'b'), shape);
  EXPECT_EQ(known.Find(half), shape);
  known.Keep("c", shape);
  EXPECT_EQ(known.Find(std::string(half.size(), 'b')), nullptr);
  EXPECT_EQ(known.Find(half), shape);
  known.Keep(std::string(ResolvedShapeCache::kMostBytes + 1, 'd'), shape);
  EXPECT_EQ(known.Find("c"), shape);
}

}  // namespace
}  // namespace espalier::gangs_test
