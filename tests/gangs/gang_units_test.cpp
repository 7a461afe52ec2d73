// Tests which units are made of the gang workloads of an input.
#include "host/gangs/gang_units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::gang_units_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A gang of `pods` pods, of which there are so many replicas.
GangWorkload Gangs(std::int32_t pods, std::int32_t replicas) {
  GangWorkload workload;
  workload.head.key = {"team", "w"};
  workload.replica_mode = ReplicaMode::kReplicatedGangs;
  workload.replicas = replicas;
  GangGroup gang;
  gang.name = "gg";
  gang.min_count = pods;
  EqGroup group;
  group.name = "main";
  group.min_count = pods;
  group.max_count = pods;
  group.pod_template.emplace();
  gang.ranked_groups.push_back(
      {.name = "rg", .rank_from = "", .ranks = {}, .topology_request = {}, .eq_groups = {group}});
  workload.gang_groups.push_back(std::move(gang));
  return workload;
}

std::vector<std::string> Names(std::vector<GangWorkload> workloads, Trees trees = Trees::kNone,
                               bool has_room = true) {
  std::vector<std::string> names;
  for (const Workload& unit : UnitsOf(workloads, trees, [&](auto, auto) { return has_room; })) {
    names.push_back(unit.key.name);
  }
  return names;
}

TEST(UnitsOf, ReplicasWithAWorkloadAreLeftOut) {
  GangWorkload some = Gangs(2, 3);
  some.with_workload = 2;
  EXPECT_THAT(Names({Gangs(2, 2), some}), ElementsAre("w-0", "w-1", "w-2"));
  std::vector<GangWorkload> workloads = {some};
  const std::vector<Workload> trees =
      UnitsOf(workloads, Trees::kAll, [](auto, auto) { return false; });
  ASSERT_EQ(trees.size(), 1u);
  EXPECT_EQ(trees[0].tree->replicas, 1);
}

TEST(UnitsOf, WhatRunsOrHasFinishedHasNone) {
  GangWorkload runs = Gangs(2, 1);
  runs.running = true;
  GangWorkload finished = Gangs(2, 1);
  finished.head.conditions.push_back({"Finished", "True", "", ""});
  EXPECT_THAT(Names({runs, finished}), IsEmpty());
}

TEST(UnitsOf, ManyPartsAreMadeWhereThereIsRoom) {
  EXPECT_EQ(Names({Gangs(1, 65)}).size(), 65u);
  EXPECT_THAT(Names({Gangs(1, 65)}, Trees::kNone, false), IsEmpty());
  EXPECT_EQ(Names({Gangs(1, 64)}, Trees::kNone, false).size(), 64u);
  EXPECT_THAT(Names({Gangs(1, 65)}, Trees::kAll, false), ElementsAre("w"));
}

}  // namespace
}  // namespace espalier::gang_units_test
