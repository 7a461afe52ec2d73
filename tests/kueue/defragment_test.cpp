#include "host/what_if/defragment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/planning/admitted_gangs.hpp"
#include "tests/engine/requests.hpp"
#include "tests/kueue/running_cluster.hpp"

namespace espalier::defragment_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DefragmentTest : public testing::Test {
 protected:
  Result<DefragmentPlan> TryToPlan(const DefragmentOptions& options) {
    gangs_ = *AdmittedGangs(cluster_, {});
    return PlanDefragment(*ClusterState::Build(BuildClusterStateInput(cluster_, {})), gangs_,
                          options, Engine(MakeCpuBackend(1), {}));
  }

  DefragmentPlan Plan(std::size_t most_moves = 10) {
    auto plan = TryToPlan({.level = "rack", .most_moves = most_moves});
    if (!plan) ADD_FAILURE() << plan.error().message;
    return *std::move(plan);
  }

  std::vector<std::string> Moves(const DefragmentPlan& plan) const {
    std::vector<std::string> moves;
    for (const FreedDomain& freed : plan.freed) {
      for (const DefragmentMove& move : freed.moves) {
        moves.push_back(freed.values.back() + ": " + gangs_[move.gang].key.name + " " +
                        Texts(move.answer).front());
      }
    }
    return moves;
  }

  Cluster cluster_ = ThreeRacks();
  std::vector<PlacedGang> gangs_;  // of the last plan
};

TEST_F(DefragmentTest, MovesWhatFitsElsewhere) {
  cluster_.workloads = {RunningOn("one", 0, {{"a", 1}}), RunningOn("two", 0, {{"b", 2}}),
                        RunningOn("three", 0, {{"c", 3}})};
  const DefragmentPlan plan = Plan();
  EXPECT_EQ(plan.flavor, "tas");
  EXPECT_EQ(plan.domains, 3);
  EXPECT_EQ(plan.free_already, 0);
  EXPECT_EQ(plan.moves, 1u);
  EXPECT_EQ(plan.out_of_reach, 2);
  EXPECT_THAT(Moves(plan), ElementsAre("r1: one main -> c:1"));
}

TEST_F(DefragmentTest, StopsWhereverMemoryEnds) {
  cluster_.workloads = {RunningOn("one", 0, {{"a", 1}}), RunningOn("two", 0, {{"b", 2}}),
                        RunningOn("three", 0, {{"c", 3}})};
  gangs_ = *AdmittedGangs(cluster_, {});
  int stopped = 0;
  for (std::int64_t bytes = 0;; bytes += 250) {
    WorkBudget budget(bytes);
    const auto plan =
        PlanDefragment(*ClusterState::Build(BuildClusterStateInput(cluster_, {})), gangs_,
                       {.level = "rack", .most_moves = 10}, Engine(MakeCpuBackend(1), {}, budget));
    if (plan) break;
    ASSERT_EQ(plan.error().error_class, ErrorClass::kExhausted) << bytes;
    ++stopped;
  }
  EXPECT_GT(stopped, 3);
}

TEST_F(DefragmentTest, WhatWasFreedStaysFree) {
  cluster_.workloads = {RunningOn("one", 0, {{"a", 1}}), RunningOn("two", 0, {{"b", 1}}),
                        RunningOn("three", 0, {{"c", 1}})};
  EXPECT_THAT(Moves(Plan()), ElementsAre("r1: one main -> b:1", "r3: three main -> b:1"));
}

TEST_F(DefragmentTest, KeepsToTheMostMoves) {
  cluster_.workloads = {RunningOn("one", 0, {{"a", 1}}), RunningOn("two", 0, {{"b", 1}}),
                        RunningOn("three", 0, {{"c", 1}})};
  EXPECT_THAT(Moves(Plan(1)), ElementsAre("r1: one main -> b:1"));
  const DefragmentPlan none = Plan(0);
  EXPECT_EQ(none.moves, 0u);
  EXPECT_EQ(none.out_of_reach, 3);
}

TEST_F(DefragmentTest, SmallGangsMoveFirst) {
  cluster_.workloads = {RunningOn("large", 0, {{"a", 2}}), RunningOn("small", 0, {{"b", 1}}),
                        RunningOn("other", 0, {{"c", 1}})};
  EXPECT_THAT(Moves(Plan(1)), ElementsAre("r2: small main -> a:1"));
}

// A domain is freed of all its gangs or of none.
TEST_F(DefragmentTest, HalfADomainIsNoUse) {
  cluster_.workloads = {RunningOn("small", 0, {{"a", 1}}), RunningOn("large", 0, {{"a", 3}}),
                        RunningOn("b", 0, {{"b", 3}}), RunningOn("c", 0, {{"c", 3}})};
  const DefragmentPlan plan = Plan();
  EXPECT_THAT(Moves(plan), ElementsAre());
  EXPECT_EQ(plan.out_of_reach, 3);
}

TEST_F(DefragmentTest, FreeDomainsAreCountedAndOneGangMayBeInSeveral) {
  cluster_.workloads = {RunningOn("wide", 0, {{"a", 2}, {"b", 1}})};
  const DefragmentPlan plan = Plan();
  EXPECT_EQ(plan.free_already, 1);
  EXPECT_THAT(Moves(plan), ElementsAre("r1: wide main -> b:3"));
  EXPECT_EQ(plan.out_of_reach, 1);
}

// A workload whose queue is gone moves on the flavor that it has.
TEST_F(DefragmentTest, MovesWhoseQueueIsGone) {
  cluster_.workloads = {RunningOn("one", 0, {{"a", 1}}), RunningOn("lost", 0, {{"b", 1}}),
                        RunningOn("three", 0, {{"c", 1}})};
  const std::vector<std::string> moves = Moves(Plan());
  EXPECT_FALSE(moves.empty());
  cluster_.workloads[1].queue_name = "gone";
  EXPECT_EQ(Moves(Plan()), moves);
}

// A workload that is not understood does not say what it would ask for elsewhere.
TEST_F(DefragmentTest, TellsWhoStaysAsNothingSaysWhatItAsksFor) {
  cluster_.workloads = {RunningOn("one", 0, {{"a", 1}}), RunningOn("lost", 0, {{"b", 1}}),
                        RunningOn("three", 0, {{"c", 1}})};
  cluster_.workloads[1].refusal = "its claims are not understood";
  const DefragmentPlan plan = Plan();
  ASSERT_EQ(plan.staying.size(), 1u);
  EXPECT_EQ(plan.staying[0].name, "lost");
  EXPECT_THAT(Moves(plan), ElementsAre("r1: one main -> b:1", "r3: three main -> b:1"));
  EXPECT_EQ(plan.out_of_reach, 1);
}

// Room that another flavor holds on the same nodes is not free (R5.6).
TEST_F(DefragmentTest, CountsWhatAnotherFlavorHoldsOnTheSameNodes) {
  cluster_.flavors.push_back(cluster_.flavors[0]);
  cluster_.flavors[1].name = "zas";
  cluster_.cluster_queues[0].resource_groups[0].flavors.push_back(
      {"zas", {{"gpu", 100, std::nullopt}}});
  cluster_.workloads = {RunningOn("one", 0, {{"a", 2}}), RunningOn("two", 0, {{"b", 2}})};
  const DefragmentPlan alone = *TryToPlan({.level = "rack", .flavor = "tas"});
  cluster_.workloads.push_back(RunningOn("other", 0, {{"a", 2}, {"b", 1}, {"c", 4}}));
  cluster_.workloads[2].admission->pod_set_assignments[0].flavors = {{"gpu", "zas"}};
  EXPECT_EQ(alone.moves, 1u);
  const DefragmentPlan beside = *TryToPlan({.level = "rack", .flavor = "tas"});
  EXPECT_EQ(beside.moves, 0u);
  EXPECT_EQ(beside.out_of_reach, 2);
}

TEST_F(DefragmentTest, SaysThatNoFlavorHasTheLevel) {
  const auto plan = TryToPlan({.level = "row"});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("no flavor with a topology has the level row"));
}

}  // namespace
}  // namespace espalier::defragment_test
