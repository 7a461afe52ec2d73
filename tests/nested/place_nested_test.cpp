// Nested gangs by hand: for each rule of section 25 the smallest cluster that shows it.
#include "host/nested/place_nested.hpp"

#include <algorithm>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "fallback_cpu/nested_cpu.hpp"
#include "host/engine/assignments.hpp"
#include "host/engine/booked_usage.hpp"
#include "tests/nested/nested_cluster.hpp"

namespace espalier::place_nested_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<NestedAnswer> Ask(const Blocks& blocks, std::vector<NestedRequest> requests,
                              PlacementMode mode = PlacementMode::kSequential,
                              NestedProfile profile = NestedProfile::kEspalier) {
  auto state = ClusterState::Build(ClusterOf(blocks));
  EXPECT_TRUE(state) << state.error().message;
  const auto runner = MakeNestedCpuRunner();
  for (NestedRequest& request : requests) request.profile = profile;
  return PlaceNested(*runner, *state, requests, mode);
}

NestedAnswer Ask(const Blocks& blocks, NestedGroup root,
                 NestedProfile profile = NestedProfile::kEspalier) {
  return Ask(blocks, {RequestOf(std::move(root))}, PlacementMode::kNominate, profile).front();
}

// "path level=domain host:pods host:pods" of every group.
std::vector<std::string> Lines(const NestedAnswer& answer) {
  std::vector<std::string> lines;
  for (const NestedGroupAnswer& group : answer.groups) {
    std::string line = group.path.empty() ? "." : group.path;
    if (!IsPlaced(group.status)) line += fmt::format(" {}", Name(group.status));
    if (group.level) line += fmt::format(" in {}", group.values.back());
    if (group.assignment) {
      for (const TopologyDomainAssignment& domain : group.assignment->domains) {
        line += fmt::format(" {}:{}", domain.values.back(), domain.count);
      }
    }
    lines.push_back(line);
  }
  return lines;
}

// R25.2: two racks of eight in one block; the tightest rack of the cluster is in the wrong block.
TEST(PlaceNested, R25_2_AnInnerRequirementIsMetInsideTheOuterDomain) {
  const Blocks blocks = {{{4, 4}, {2, 2}}, {{4, 5}, {4, 4, 1}}};
  const NestedAnswer answer = Ask(
      blocks, Required(kBlock, Group("w", {Copies(2, 2, Required(kRack, Pods("replica", 8)))})));
  EXPECT_EQ(answer.status, NestedStatus::kPlaced) << answer.reason;
  EXPECT_THAT(Lines(answer), ElementsAre(". in b1", "replica[0] in b1-r0 b1-r0-h0:3 b1-r0-h1:5",
                                         "replica[1] in b1-r1 b1-r1-h0:4 b1-r1-h1:4"));
}

// Three levels of requirements: eight pods on a host, two such hosts in a rack, two racks in a
// block.
TEST(PlaceNested, R25_2_AtEveryLevel) {
  const Blocks blocks = {{{8, 8}, {8, 7, 8}}, {{8, 7}, {8, 8}}};
  const NestedGroup host = Copies(2, 2, Required(kHost, Pods("host", 8)));
  const NestedGroup rack = Copies(2, 2, Required(kRack, Group("rack", {host})));
  const NestedAnswer answer = Ask(blocks, Required(kBlock, Group("w", {rack})));
  EXPECT_THAT(Lines(answer),
              ElementsAre(". in b0", "rack[0] in b0-r0", "rack[0]/host[0] in b0-r0-h0 b0-r0-h0:8",
                          "rack[0]/host[1] in b0-r0-h1 b0-r0-h1:8", "rack[1] in b0-r1",
                          "rack[1]/host[0] in b0-r1-h0 b0-r1-h0:8",
                          "rack[1]/host[1] in b0-r1-h2 b0-r1-h2:8"));
}

// The required level bounds, the preferred one guides inside it.
TEST(PlaceNested, R25_2_RequiredAndPreferredAtOnce) {
  NestedGroup group = Required(kBlock, Preferred(kRack, Group("w", {Pods("pods", 6)})));
  EXPECT_THAT(Lines(Ask({{{6}, {3, 3, 1}}}, group)),
              ElementsAre(". in b0-r0", "pods in b0-r0 b0-r0-h0:6"));
  EXPECT_THAT(Lines(Ask({{{4}, {3, 1}}, {{5}}}, group)),
              ElementsAre(". in b0", "pods in b0 b0-r0-h0:4 b0-r1-h0:2"));
  EXPECT_EQ(Ask({{{4}}, {{5}}}, group).status, NestedStatus::kNever);
}

TEST(PlaceNested, R25_2_PreferredAloneEndsAnywhere) {
  const NestedAnswer answer = Ask({{{4}}, {{5}}}, Preferred(kRack, Group("w", {Pods("pods", 6)})));
  EXPECT_THAT(Lines(answer), ElementsAre(".", "pods b0-r0-h0:1 b1-r0-h0:5"));
}

// R25.4: a rack that may hold all ten comes before the tightest one for the four that are required.
TEST(PlaceNested, R25_4_WhoHoldsMoreOfWhatIsWantedComesFirst) {
  const NestedAnswer answer =
      Ask({{{4}, {9}, {12}, {11}}}, Required(kRack, Group("w", {Pods("pods", 4, 10)})));
  EXPECT_EQ(answer.status, NestedStatus::kPlaced);
  EXPECT_THAT(Lines(answer), ElementsAre(". in b0-r3", "pods in b0-r3 b0-r3-h0:10"));
}

// Replicas that are not required count where they would be: the larger block has no room for any.
TEST(PlaceNested, R25_4_CopiesAreCountedInDomainsOfTheirOwn) {
  const NestedAnswer answer =
      Ask({{{3}, {3}, {3}, {3}}, {{4}}},
          Required(kBlock, Group("w", {Copies(2, 0, Required(kRack, Pods("replica", 4)))})));
  EXPECT_THAT(Lines(answer),
              ElementsAre(". in b1", "replica[0] in b1-r0 b1-r0-h0:4", "replica[1] Undecided"));
}

// R25.3, R25.8: the minimum of every group comes before what is above any minimum.
// Copies that need nothing have room anywhere: their pods are counted instead.
TEST(PlaceNested, R25_4_CopiesThatNeedNothingGoWhereTheirPodsHaveRoom) {
  const NestedAnswer answer =
      Ask({{{0}, {1}}, {{4}, {4}}},
          Required(kBlock, Group("w", {Copies(1, 0, Required(kRack, Pods("replica", 0, 4)))})));
  EXPECT_THAT(Lines(answer), ElementsAre(". in b1", "replica in b1-r0 b1-r0-h0:4"));
}

// A group without pods is in no domain.
TEST(PlaceNested, AGroupWithoutPodsIsNowhere) {
  const NestedAnswer answer =
      Ask({{{4}}}, Group("w", {Required(kRack, Pods("a", 0, 0)), Required(kRack, Pods("b", 1))}));
  EXPECT_THAT(Lines(answer), ElementsAre(".", "a", "b in b0-r0 b0-r0-h0:1"));
}

TEST(PlaceNested, R25_8_WhatIsAboveTheMinimumNeverCostsAMinimum) {
  const NestedAnswer answer = Ask({{{10}}}, Group("w", {Pods("a", 2, 8), Pods("b", 4, 6)}));
  EXPECT_EQ(answer.status, NestedStatus::kPlacedInPart);
  EXPECT_EQ(answer.reason, "10 of 14 pods are placed");
  EXPECT_THAT(Lines(answer), ElementsAre(".", "a b0-r0-h0:4", "b b0-r0-h0:6"));
}

// Replicas that are gangs of their own: whole ones only, as many as fit.
TEST(PlaceNested, R25_8_CopiesThatAreNotRequiredArePlacedWhole) {
  const NestedAnswer answer =
      Ask({{{4}, {3}, {4}}}, Group("w", {Copies(3, 0, Required(kRack, Pods("replica", 4)))}));
  EXPECT_EQ(answer.status, NestedStatus::kPlacedInPart);
  EXPECT_THAT(Lines(answer), ElementsAre(".", "replica[0] in b0-r0 b0-r0-h0:4",
                                         "replica[1] in b0-r2 b0-r2-h0:4", "replica[2] Never"));
}

TEST(PlaceNested, R25_8_GangsInStartOrderStopAtTheFirstThatWaits) {
  NestedGroup root = Group("w", {Copies(1, 0, Pods("init", 2)), Copies(1, 0, Pods("train", 9)),
                                 Copies(1, 0, Pods("report", 1))});
  EXPECT_THAT(Lines(Ask({{{8}}}, root)),
              ElementsAre(".", "init b0-r0-h0:2", "train Never", "report b0-r0-h0:1"));
  root.in_order = true;
  EXPECT_EQ(Lines(Ask({{{8}}}, root))[1], "init b0-r0-h0:2");
  EXPECT_EQ(Ask({{{8}}}, root).groups[3].assignment, std::nullopt);
}

// R25.7: 5 and 4 go to the racks of 5 and 6, although 4 would be tightest in the rack of 5 had it
// gone first; and where only another place of the first helps, the second search finds it.
TEST(PlaceNested, R25_5_TheLargerGroupGoesFirst) {
  const NestedAnswer answer =
      Ask({{{5}, {6}}},
          Group("w", {Required(kRack, Pods("small", 4)), Required(kRack, Pods("large", 5))}));
  EXPECT_THAT(Lines(answer),
              ElementsAre(".", "small in b0-r1 b0-r1-h0:4", "large in b0-r0 b0-r0-h0:5"));
}

TEST(PlaceNested, R25_7_TheSecondSearchMovesSiblings) {
  // 4 goes to the rack of 6 first, where then the 3 do not fit beside the other 3.
  const NestedAnswer answer =
      Ask({{{6}, {7}}}, Group("w", {Required(kRack, Pods("a", 4)), Required(kRack, Pods("b", 3)),
                                    Required(kRack, Pods("c", 3)), Required(kRack, Pods("d", 3))}));
  EXPECT_THAT(Lines(answer), ElementsAre(".", "a in b0-r1 b0-r1-h0:4", "b in b0-r1 b0-r1-h0:3",
                                         "c in b0-r0 b0-r0-h0:3", "d in b0-r0 b0-r0-h0:3"));
}

// R25.9: rank 0, the leader, and its workers on neighbouring leaves.
TEST(PlaceNested, R25_9_RanksOverTwoPodSetsAreContiguous) {
  NestedGroup ranked = Group("rg", {Pods("leader", 1, 1, 2), Pods("workers", 5)});
  ranked.ranks = RankPlacement::kContiguous;
  const NestedAnswer answer = Ask({{{1, 3, 4, 8}}}, Group("w", {ranked}));
  EXPECT_THAT(Lines(answer),
              ElementsAre(".", "rg", "rg/leader b0-r0-h1:1", "rg/workers b0-r0-h1:1 b0-r0-h2:4"))
      << "the leader takes two GPUs";
}

// R25.10: ranks of one number of two groups on one host.
TEST(PlaceNested, R25_10_RanksOfOneNumberAreTogether) {
  NestedGroup pair = Group("pair", {Pods("actor", 3, 3, 3), Pods("learner", 3, 3, 1)});
  pair.ranks = RankPlacement::kTogether;
  pair.rank_level = kHost;
  const NestedAnswer answer = Ask({{{3, 4, 7, 8}}}, Group("w", {pair}));
  EXPECT_THAT(Lines(answer), ElementsAre(".", "pair", "pair/actor b0-r0-h1:1 b0-r0-h2:1 b0-r0-h3:1",
                                         "pair/learner b0-r0-h1:1 b0-r0-h2:1 b0-r0-h3:1"));
}

TEST(PlaceNested, R25_11_RanksAreBalancedOrStriped) {
  NestedGroup ranked = Group("rg", {Pods("workers", 7)});
  ranked.ranks = RankPlacement::kBalanced;
  ranked.rank_level = kRack;
  EXPECT_EQ(Lines(Ask({{{4}, {1}, {4}}}, Group("w", {ranked})))[2],
            "rg/workers b0-r0-h0:3 b0-r1-h0:1 b0-r2-h0:3");
  ranked.ranks = RankPlacement::kStriped;
  EXPECT_EQ(Lines(Ask({{{4}, {1}, {4}}}, Group("w", {ranked})))[2],
            "rg/workers b0-r0-h0:1 b0-r1-h0:1 b0-r2-h0:1 b0-r0-h0:1 b0-r2-h0:1 b0-r0-h0:1 "
            "b0-r2-h0:1");
}

// R25.12: what replaces a failed pod goes where the others still run.
TEST(PlaceNested, R25_12_TheDomainContainsTheNodesThatPodsRunOn) {
  NestedGroup group = Required(kRack, Group("w", {Pods("pods", 2)}));
  group.running_on = {"b0-r1-h0"};
  EXPECT_EQ(Lines(Ask({{{2}, {3, 1}}}, group))[1], "pods in b0-r1 b0-r1-h0:2");
  group.running_on = {"b0-r1-h0", "b0-r0-h0"};
  EXPECT_FALSE(IsPlaced(Ask({{{2}, {3, 1}}}, group).status));
}

// R25.12: pods that run on a cordoned node bind others to its rack, and to its host alone not at
// all.
TEST(PlaceNested, R25_12_ANodeThatTakesNoPartIsInItsRackAllTheSame) {
  ClusterStateInput input = ClusterOf({{{4}, {4, 4}}});
  input.nodes[1].unschedulable = true;  // b0-r1-h0
  NestedGroup group = Required(kRack, Group("w", {Pods("pods", 2)}));
  group.running_on = {"b0,b0-r1,b0-r1-h0"};
  const auto ask = [&] {
    auto state = ClusterState::Build(input);
    EXPECT_TRUE(state);
    const std::vector<NestedRequest> requests = {RequestOf(group)};
    return PlaceNested(*MakeNestedCpuRunner(), *state, requests, PlacementMode::kNominate).front();
  };
  EXPECT_EQ(Lines(ask())[1], "pods in b0-r1 b0-r1-h1:2");
  group.required = kHost;
  EXPECT_EQ(ask().status, NestedStatus::kBadRequest);
  input.nodes[1].unschedulable = false;
  EXPECT_EQ(Lines(ask())[1], "pods in b0-r1-h0 b0-r1-h0:2");
}

// R25.12: also where a group asks for no finer level than the one around it.
TEST(PlaceNested, R25_12_GroupsThatStayWhereTheirParentIsSeeToTheirOwnRunningPods) {
  const Blocks blocks = {{{2}, {3, 1}}};
  for (const NestedProfile profile : {NestedProfile::kEspalier, NestedProfile::kKep5732}) {
    for (const auto& required : {std::optional<std::string>(), std::optional(kRack)}) {
      NestedGroup inner = Pods("pods", 2);
      inner.required = required;
      inner.running_on = {"b0-r1-h0"};
      const NestedAnswer answer = Ask(blocks, Required(kRack, Group("w", {inner})), profile);
      EXPECT_EQ(answer.status, NestedStatus::kPlaced);
      EXPECT_EQ(Lines(answer).back(), "pods in b0-r1 b0-r1-h0:2");
      inner.running_on = {"b0-r0-h0", "b0-r1-h0"};
      EXPECT_FALSE(IsPlaced(Ask(blocks, Required(kRack, Group("w", {inner})), profile).status));
      EXPECT_EQ(IsPlaced(Ask(blocks, Group("w", {inner}), profile).status), !required);
    }
  }
}

// R25.13: the rack that is fullest afterwards, by share and not by pods.
TEST(PlaceNested, R25_13_TheHighestShareInUseComesFirst) {
  const NestedGroup group = Required(kRack, Group("w", {Pods("pods", 4)}));
  auto input = ClusterOf({{{8}, {64}}});
  input.tas_usage = {{"gpu", "b0-r1-h0", {{kGpu, 59}, {"pods", 1}}},
                     {"gpu", "b0-r0-h0", {{kGpu, 4}, {"pods", 1}}}};
  auto state = ClusterState::Build(input);
  ASSERT_TRUE(state);
  const auto runner = MakeNestedCpuRunner();
  std::vector<NestedRequest> requests = {RequestOf(group)};
  requests[0].profile = NestedProfile::kKep5732;
  const auto answer = PlaceNested(*runner, *state, requests, PlacementMode::kNominate);
  EXPECT_EQ(Lines(answer.front())[0], ". in b0-r0");
}

// R25.14: full now, too small ever.
TEST(PlaceNested, R25_14_NotNowIsNotNever) {
  const NestedGroup group = Required(kRack, Group("w", {Pods("pods", 6)}));
  const auto answers =
      Ask({{{8}}}, {RequestOf(group), RequestOf(group), RequestOf(Required(kRack, Pods("w", 9)))});
  EXPECT_EQ(answers[0].status, NestedStatus::kPlaced);
  EXPECT_EQ(answers[1].status, NestedStatus::kNotNow);
  EXPECT_EQ(answers[1].reason, "no domain of cloud/rack has room for the workload, 6 pods now");
  EXPECT_EQ(answers[2].status, NestedStatus::kNever);
  EXPECT_EQ(answers[2].reason,
            "no domain of cloud/rack has room for the workload, 9 pods, and none were all nodes "
            "empty");
}

// Two shapes that each fit alone and not together: neither found nor ruled out.
TEST(PlaceNested, R25_14_WhatIsNotProvenIsUndecided) {
  const NestedAnswer answer =
      Ask({{{8}}}, Required(kHost, Group("w", {Pods("a", 1, 1, 8), Pods("b", 1, 1, 4)})));
  EXPECT_EQ(answer.status, NestedStatus::kUndecided);
  EXPECT_EQ(
      Ask({{{8}}}, Required(kHost, Group("w", {Pods("a", 1, 1, 8), Pods("b", 1, 1, 9)}))).status,
      NestedStatus::kNever);
}

// The first gang is in the way of the second, which alone would have a place.
TEST(PlaceNested, R25_14_WhatFitsAloneIsNotNever) {
  const NestedAnswer answer =
      Ask({{{10}}}, Group("w", {Copies(1, 0, Pods("a", 5)), Copies(1, 0, Pods("b", 9))}));
  EXPECT_THAT(Lines(answer), ElementsAre(".", "a Undecided", "b b0-r0-h0:9"));
}

// The least processor time of three that so many groups without a place take.
std::clock_t TimeOfGroupsThatNeverFit(int groups) {
  NestedGroup root = Group("w", {});
  for (int i = 0; i < groups; ++i) {
    root.groups.push_back(Copies(1, 0, Required(kHost, Pods(fmt::format("g{}", i), 9))));
  }
  std::clock_t least = std::numeric_limits<std::clock_t>::max();
  for (int i = 0; i < 3; ++i) {
    const std::clock_t before = std::clock();
    EXPECT_EQ(Ask({{{8}}}, root).groups.back().status, NestedStatus::kNever);
    least = std::min(least, std::clock() - before);
  }
  return least;
}

TEST(PlaceNested, R25_14_VerdictsOnAGroupDoNotCostMoreForThoseBesideIt) {
  EXPECT_LT(TimeOfGroupsThatNeverFit(4000), 3 * 8 * TimeOfGroupsThatNeverFit(500));
}

TEST(PlaceNested, NominationLeavesNothingBehind) {
  const NestedRequest request = RequestOf(Required(kRack, Pods("w", 6)));
  const auto answers = Ask({{{8}}}, {request, request}, PlacementMode::kNominate);
  EXPECT_EQ(answers[0], answers[1]);
  EXPECT_EQ(answers[0].status, NestedStatus::kPlaced);
}

// The pods of all copies of a pod set are one assignment of the workload's, and what is booked.
TEST(PlaceTrees, UsageOfAnAnswerIsWhatItBooked) {
  auto state = ClusterState::Build(ClusterOf({{{8}, {8}}}));
  auto other = ClusterState::Build(ClusterOf({{{8}, {8}}}));
  ASSERT_TRUE(state && other);
  WorkloadRequest request;
  request.key = {"team", "w"};
  NestedGroup replica = Pods("replica", 3, 5, 2);
  replica.pods->pod_set = 0;
  request.tree = RequestOf(Group("w", {Copies(2, 1, Required(kRack, replica))}));
  request.pod_sets = {
      {.name = "main", .flavor = "gpu", .count = 10, .requests = replica.pods->requests}};
  const Engine engine(MakeCpuBackend(1), FeatureGates());
  const auto answers = engine.PlaceInOrder(*state, {&request, 1});
  ASSERT_EQ(answers.size(), 1u);
  ASSERT_EQ(answers[0].FirstFailure(), nullptr);
  ASSERT_EQ(answers[0].pod_sets.size(), 1u);
  ASSERT_TRUE(answers[0].tree);
  std::int64_t pods = 0;
  for (const NestedGroupAnswer& group : answers[0].tree->groups) {
    if (group.assignment) pods += TotalPods(*group.assignment);
  }
  EXPECT_EQ(TotalPods(*answers[0].pod_sets[0].assignment), pods);
  const auto usage = BookedUsage(request, answers[0]);
  EXPECT_FALSE(usage.empty());
  other->AddUsage(usage);
  const FlavorState& booked = *state->Find("gpu");
  const FlavorState& added = *other->Find("gpu");
  for (std::size_t i = 0; i < booked.remaining().size(); ++i) {
    EXPECT_EQ(booked.remaining()[i], added.remaining()[i]) << i;
  }
}

// A copy is told from a group of that name, and a group from one inside another.
TEST(PlaceNested, PathsNameTheGroups) {
  const NestedGroup root =
      Group("w/x[0]", {Copies(2, 2, Group("a", {Pods("b", 1), Pods("bc", 1)})), Pods("ab", 1)});
  EXPECT_EQ(GroupAt(root, ""), &root);
  EXPECT_EQ(GroupAt(root, "a[1]/bc"), &root.groups[0].groups[1]);
  EXPECT_EQ(GroupAt(root, "ab"), &root.groups[1]);
  EXPECT_EQ(GroupAt(root, "a[1]/c"), nullptr);
  EXPECT_EQ(Ask({{{8}}}, root).status, NestedStatus::kPlaced) << "the root is in no path";
}

TEST(PlaceNested, PodsOfATreeAreCountedAsFarAsNumbersGo) {
  EXPECT_EQ(MostPods(Group("w", {Copies(3, 0, Pods("a", 1, 2)), Pods("b", 4)})), 10);
  NestedGroup deep = Copies(1 << 30, 0, Pods("pods", 0, 1 << 30));
  for (int i = 0; i < 4; ++i) {
    std::vector<NestedGroup> children(2, deep);
    deep = Copies(1 << 30, 0, Group("g", std::move(children)));
  }
  EXPECT_EQ(MostPods(deep), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(MostPods(Copies(-1, 0, Pods("a", 0, 3))), 0);
}

TEST(PlaceNested, MakesNoAnswersOnceItsBudgetIsStopped) {
  auto state = ClusterState::Build(ClusterOf({{{8}}}));
  ASSERT_TRUE(state);
  const auto runner = MakeNestedCpuRunner();
  const std::vector<NestedRequest> requests(3, RequestOf(Required(kRack, Pods("w", 6))));
  for (std::int64_t bytes = 1; bytes < 2000; bytes += 50) {
    WorkBudget budget(bytes);
    const auto answers = PlaceNested(*runner, *state, requests, PlacementMode::kNominate, budget);
    EXPECT_EQ(answers.size() < requests.size(), budget.stopped()) << bytes;
    for (const NestedAnswer& answer : answers) EXPECT_EQ(answer.status, NestedStatus::kPlaced);
  }
}

// Two pods that fit on no host together are tried on all pairs of hosts, with three more.
TEST(PlaceNested, AsksWithinASearchWhetherToGoOn) {
  auto state = ClusterState::Build(ClusterOf({{{9, 9, 9}, {9, 9, 9}}, {{9, 9, 9}, {9, 9, 9}}}));
  ASSERT_TRUE(state);
  const auto runner = MakeNestedCpuRunner();
  NestedGroup root = Required(kRack, Group("w", {}));
  for (const char* name : {"a", "b", "c", "d"}) {
    root.groups.push_back(Required(kHost, Pods(name, 1, 1, 5)));
  }
  const std::vector<NestedRequest> requests = {RequestOf(root)};
  WorkBudget budget;
  int asked = 0;
  constexpr int kPatience = 50;
  budget.OnPause([&] {
    if (++asked == kPatience) budget.Stop({ErrorClass::kCancelled, "nobody waits"});
  });
  budget.RequestPause();
  const auto answers = PlaceNested(*runner, *state, requests, PlacementMode::kSequential, budget);
  EXPECT_TRUE(answers.empty());
  EXPECT_GE(asked, kPatience);
  EXPECT_LT(asked, kPatience + 20);
}

struct Bad {
  std::string name;
  NestedGroup root;
  std::string text;
};

NestedGroup SomeOf(std::int32_t least, NestedGroup group) {
  group.min_groups = least;
  return group;
}

// R25.16: the groups that have a place are placed, whichever these are; of fewer none is.
TEST(PlaceNested, R25_16_SomeOfTheGroupsWillDo) {
  const auto group = [](const std::string& name, std::int32_t pods) {
    return Required(kRack, Pods(name, pods));
  };
  const NestedGroup two_of_three =
      SomeOf(2, Group("w", {group("a", 9), group("b", 4), group("c", 8)}));
  const NestedAnswer placed = Ask({{{8}, {4}}}, two_of_three);
  EXPECT_THAT(Lines(placed),
              ElementsAre(".", "a Never", "b in b0-r1 b0-r1-h0:4", "c in b0-r0 b0-r0-h0:8"));
  EXPECT_EQ(placed.status, NestedStatus::kPlacedInPart);
  EXPECT_EQ(Ask({{{8}, {4}}}, SomeOf(3, two_of_three)).status, NestedStatus::kNever);
  EXPECT_EQ(Ask({{{8}}}, two_of_three).status, NestedStatus::kUndecided);
  EXPECT_EQ(Ask({{{3}}}, two_of_three).status, NestedStatus::kNever);
  // All of them, where there is room; the group inside counts as one.
  EXPECT_EQ(Ask({{{8}, {4}, {9}}}, two_of_three).status, NestedStatus::kPlaced);
  EXPECT_THAT(Lines(Ask({{{4}, {4}}},
                        SomeOf(1, Group("w", {SomeOf(1, Group("x", {group("a", 4), group("b", 9)})),
                                              group("c", 9)})))),
              ElementsAre(".", "x", "x/a in b0-r0 b0-r0-h0:4", "x/b Never", "c Never"));
}

TEST(PlaceNested, R25_16_ManyEqualGroupsAreNoManyChoices) {
  NestedGroup root = Group("w", {});
  for (int i = 0; i < 100; ++i) {
    root.groups.push_back(Required(kHost, Pods("g" + std::to_string(i), 4)));
  }
  const NestedAnswer answer = Ask({{{200}, {7, 4}}}, SomeOf(52, root));
  EXPECT_EQ(answer.reason, "208 of 400 pods are placed");
  EXPECT_EQ(Ask({{{200}, {7, 4}}}, SomeOf(53, root)).status, NestedStatus::kUndecided);
}

// R25.17: a rack for each copy, also where one would hold them all.
TEST(PlaceNested, R25_17_CopiesThatAreApartHaveADomainEach) {
  NestedGroup job = Required(kRack, Pods("job", 2));
  job.apart = true;
  EXPECT_THAT(Lines(Ask({{{8}, {2}}}, Group("w", {Copies(2, 2, job)}))),
              ElementsAre(".", "job[0] in b0-r1 b0-r1-h0:2", "job[1] in b0-r0 b0-r0-h0:2"));
  EXPECT_EQ(Ask({{{8}, {2}}}, Group("w", {Copies(3, 3, job)})).status, NestedStatus::kNever);
  // Not required ones too, and other groups beside them.
  NestedGroup other = Required(kBlock, Pods("other", 1));
  other.apart = true;
  EXPECT_THAT(
      Lines(Ask({{{8}}, {{8}}}, Group("w", {Copies(2, 1, job), other}))),
      ElementsAre(".", "job[0] in b0-r0 b0-r0-h0:2", "job[1] Undecided", "other in b1 b1-r0-h0:1"));
  // There is room for one where the group around them is in one domain of the level already.
  EXPECT_EQ(Ask({{{8}}}, Required(kRack, Group("w", {Copies(2, 2, job)}))).status,
            NestedStatus::kNever);
}

TEST(PlaceNested, R25_15_SaysWhatIsWrongWithARequest) {
  NestedGroup ranked = Group("rg", {Required(kRack, Pods("pods", 2))});
  ranked.ranks = RankPlacement::kContiguous;
  NestedGroup level = Group("w", {Pods("pods", 2)});
  level.rank_level = kRack;
  NestedGroup running = Pods("w", 1);
  running.running_on = {"nowhere"};
  NestedGroup least = Group("w", {Pods("in", 1)});
  least.min_groups = 2;
  NestedGroup apart = Group("w", {Pods("in", 1)});
  apart.groups[0].apart = true;
  const std::vector<Bad> bads = {
      {"min_groups", least, "min_groups is 2: it must be from 0 to the number of groups inside, 1"},
      {"apart", apart, "group in: apart is true: copies are apart in domains of a level"},
      {"level", Required("rack", Pods("w", 1)),
       "workload ns/train: required is rack: topology tree has the levels cloud/block, cloud/rack, "
       "kubernetes.io/hostname"},
      {"above", Required(kRack, Group("w", {Required(kBlock, Pods("in", 1))})),
       "group in: required is cloud/block: it must not be above cloud/rack, which the workload "
       "around it requires"},
      {"preferred", Required(kRack, Preferred(kBlock, Pods("w", 1))),
       "preferred is cloud/block: it must not be above the required level cloud/rack"},
      {"copies", Group("w", {Copies(0, 0, Pods("in", 1))}), "copies is 0: it must be at least 1"},
      {"min_copies", Group("w", {Copies(2, 3, Pods("in", 1))}),
       "min_copies is 3: it must be from 0 to copies, 2"},
      {"count", Pods("w", 3, 2), "min_count is 3: it must be from 0 to max_count, 2"},
      {"negative", Pods("w", 1, 1, -1), "requests of nvidia.com/gpu is -1"},
      {"names", Group("w", {Pods("in", 1), Pods("in", 1)}), "groups inside a group need different"},
      {"slash", Group("w", {Group("in", {Pods("a/b", 1)})}),
       "workload ns/train, group in: a group's name is a/b: it must have no '/'"},
      {"index", Group("w", {Copies(2, 2, Pods("a", 1)), Pods("a[0]", 1)}),
       "workload ns/train: a group's name is a[0]: it must have no '/' and no '['"},
      {"ranked", Group("w", {ranked}), "group rg/pods: the topology request is set"},
      {"rank_level", level, "rank_level is cloud/rack: only ranks together, balanced or striped"},
      {"running", running, "running_on is nowhere: flavor gpu has no such node"},
      {"pods", Group("w", {Copies(1000, 1000, Pods("in", 1'000'000))}), "more than 16777216"},
      {"groups", Group("w", {Copies(100'000, 1, Pods("in", 1))}), "more than 65536"},
  };
  for (const Bad& bad : bads) {
    const NestedAnswer answer = Ask({{{8}}}, bad.root);
    EXPECT_EQ(answer.status, NestedStatus::kBadRequest) << bad.name;
    EXPECT_THAT(answer.reason, HasSubstr(bad.text)) << bad.name;
  }
  NestedRequest unknown = RequestOf(Pods("w", 1));
  unknown.flavor = "cpu";
  EXPECT_THAT(Ask({{{8}}}, std::vector{unknown}).front().reason,
              HasSubstr("flavor is cpu: flavors with a topology are gpu"));
}

}  // namespace
}  // namespace espalier::place_nested_test
