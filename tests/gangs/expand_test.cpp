// From a tree as it was written to the canonical one (W1.7).
#include "host/gangs/expand.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::expand_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

GangWorkload With(GangGroup gang) {
  GangWorkload workload;
  workload.gang_groups.push_back(std::move(gang));
  Expand(workload);
  return workload;
}

EqGroup Pods(std::optional<std::int32_t> least, std::optional<std::int32_t> most) {
  EqGroup group;
  group.min_count = least;
  group.max_count = most;
  return group;
}

TEST(Expand, NamesWhatHasNoName) {
  GangGroup gang;
  gang.ranked_groups.resize(2);
  gang.ranked_groups[0].eq_groups = {Pods(1, 1)};
  gang.ranked_groups[1].eq_groups = {Pods(1, 1), Pods(1, 1)};
  const GangWorkload workload = With(gang);
  EXPECT_EQ(workload.gang_groups[0].name, "gg");
  EXPECT_EQ(workload.gang_groups[0].ranked_groups[1].name, "rg-1");
  EXPECT_EQ(workload.gang_groups[0].ranked_groups[0].eq_groups[0].name, "template");
  EXPECT_EQ(workload.gang_groups[0].ranked_groups[1].eq_groups[1].name, "template-1");
}

TEST(Expand, CountsOfAGangAreThoseOfItsPods) {
  GangGroup gang;
  gang.ranked_groups.resize(1);
  gang.ranked_groups[0].eq_groups = {Pods(2, 2), Pods(2, 3)};
  const GangWorkload workload = With(gang);
  EXPECT_EQ(workload.gang_groups[0].min_count, 4);
  EXPECT_EQ(workload.gang_groups[0].max_count, 5);
  EXPECT_EQ(workload.gang_groups[0].schedule_timeout_seconds, 60);
  EXPECT_EQ(workload.gang_groups[0].rescheduling_policy, "TerminateAll");
}

TEST(Expand, TheOnlyGapGetsWhatIsLeftOfTheGang) {
  GangGroup gang;
  gang.min_count = gang.max_count = 10;
  gang.ranked_groups.resize(1);
  gang.ranked_groups[0].eq_groups = {Pods(1, 1), Pods({}, {})};
  const GangWorkload workload = With(gang);
  EXPECT_EQ(workload.gang_groups[0].ranked_groups[0].eq_groups[1].min_count, 9);
  EXPECT_EQ(workload.gang_groups[0].ranked_groups[0].eq_groups[1].max_count, 9);
}

// W1.3.
TEST(Expand, AMinCountOfNoneIsNoGang) {
  GangGroup gang;
  gang.min_count = 0;
  EXPECT_EQ(With(gang).gang_groups[0].mode, GangMode::kOff);
  gang.min_count.reset();
  gang.ranked_groups.resize(1);
  gang.ranked_groups[0].eq_groups = {Pods(0, 5), Pods(0, 2)};
  EXPECT_EQ(With(gang).gang_groups[0].mode, GangMode::kOff) << "nor is it where no group needs any";
  gang.ranked_groups[0].eq_groups[1].min_count = 1;
  EXPECT_EQ(With(gang).gang_groups[0].mode, GangMode::kGang);
  EXPECT_EQ(With(GangGroup()).gang_groups[0].mode, GangMode::kGang);
}

TEST(Expand, CountsThatContradictEachOtherAreNoted) {
  GangGroup gang;
  gang.min_count = gang.max_count = 9;
  gang.ranked_groups.resize(1);
  gang.ranked_groups[0].eq_groups = {Pods(2, 2), Pods(2, 2)};
  EXPECT_THAT(With(gang).notes,
              ElementsAre("gangGroup gg: maxCount is 9, but its eqGroups have 4 pods in all",
                          "gangGroup gg: minCount is 9, but its eqGroups have 4 pods in all"));
}

TEST(Expand, WhatBindsPodsAndIsNotLookedAtIsNoted) {
  GangGroup gang;
  gang.ranked_groups.resize(1);
  gang.ranked_groups[0].eq_groups = {Pods(1, 1)};
  gang.ranked_groups[0].eq_groups[0].pod_template.emplace().ignored_constraints = {
      "pod anti-affinity", "2 host ports"};
  EXPECT_THAT(With(gang).notes, ElementsAre("eqGroup template: pod anti-affinity is not looked at",
                                            "eqGroup template: 2 host ports are not looked at"));
}

TEST(FromKueueWorkload, IsOneGangOfItsPodSets) {
  Workload kueue;
  kueue.key = {"team", "w"};
  kueue.owners = {{.api_version = "batch/v1", .kind = "Job", .name = "j", .controller = true}};
  kueue.pod_sets.push_back({.name = "main", .count = 4, .min_count = 2});
  kueue.pod_sets[0].topology_request = TopologyRequest{.required = "rack", .pod_index_label = "i"};
  const GangWorkload workload = FromKueueWorkload(kueue);
  EXPECT_EQ(workload.true_workload, (TrueWorkload{"batch", "Job", "j"}));
  ASSERT_EQ(workload.gang_groups.size(), 1u);
  const GangGroup& gang = workload.gang_groups[0];
  EXPECT_EQ(gang.min_count, 2);
  EXPECT_EQ(gang.max_count, 4);
  EXPECT_EQ(gang.ranked_groups.at(0).rank_from, "metadata.labels['i']");
  EXPECT_EQ(gang.ranked_groups[0].eq_groups.at(0).topology_request.levels->required, "rack");
  EXPECT_THAT(FromKueueWorkload(Workload()).gang_groups, IsEmpty());
}

}  // namespace
}  // namespace espalier::expand_test
