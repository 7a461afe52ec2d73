#include "host/kueue/cycle/flavor_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/kueue/objects/topology_request.hpp"
#include "tests/kueue/objects.hpp"

namespace espalier::flavor_choice_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kPrefix = "couldn't assign flavors to pod set main: ";

class FlavorChoiceTest : public ::testing::Test {
 protected:
  FlavorAssignment Choose() {
    const ClusterLookup lookup(cluster_);
    const Quota* quota = quota_ ? &*quota_ : nullptr;
    return ChooseFlavors(workload_, PendingCounts(workload_),
                         {lookup, queue_, quota, slice_ ? &*slice_ : nullptr, next_flavors_});
  }
  PodSet& pod_set() { return workload_.pod_sets.front(); }

  // The text behind the prefix, of a workload that got no flavor.
  std::string Refusal() {
    const FlavorAssignment assignment = Choose();
    EXPECT_EQ(assignment.Mode(), AssignmentMode::kNoFit);
    const std::string message = assignment.Message();
    EXPECT_TRUE(message.starts_with(kPrefix)) << message;
    return message.substr(std::string(kPrefix).size());
  }

  // The slice with `count` pods of `workload_` that runs on `flavor`.
  Workload OldSlice(const std::string& flavor, std::int32_t count) const {
    Workload old = MakeWorkload("old", "gpu", {workload_.pod_sets.front()});
    old.pod_sets[0].count = count;
    Admit(old, "q", flavor, OnHosts({{"a1", count}}));
    return old;
  }
  // Takes `pods` times the request of one pod from the quota.
  void Occupy(std::int64_t pods) {
    quota_.emplace(queue_);
    quota_->Add({{{"gpu", "cpu"}, 1000 * pods}, {{"gpu", "gpu"}, pods}});
  }

  Cluster cluster_ = MakeCluster();
  ClusterQueue queue_ = MakeQueue("q", {"gpu"}, 10'000, 16);
  std::optional<Quota> quota_;
  std::optional<Workload> slice_;  // that workload_ replaces
  FlavorCursors next_flavors_;
  Workload workload_ = MakeWorkload(
      "w", "gpu", {MakePodSet("main", 2, {{"cpu", 1000}, {"gpu", 1}}, Required(kRack))});
};

TEST_F(FlavorChoiceTest, TakesTheFirstFlavorThatGoes) {
  queue_ = MakeQueue("q", {"cpu", "gpu"});
  const FlavorAssignment assignment = Choose();
  EXPECT_EQ(assignment.Mode(), AssignmentMode::kFit);
  EXPECT_EQ(assignment.Message(), "");
  ASSERT_EQ(assignment.pod_sets.size(), 1U);
  EXPECT_EQ(assignment.pod_sets[0].flavors, (StringMap{{"cpu", "gpu"}, {"gpu", "gpu"}}));
  EXPECT_EQ(assignment.pod_sets[0].requests, (Resources{{"cpu", 2000}, {"gpu", 2}}));
}

TEST_F(FlavorChoiceTest, TopologyRequestNeedsAFlavorWithATopology) {  // R20.9
  queue_ = MakeQueue("q", {"cpu"});
  EXPECT_EQ(Refusal(), "Flavor \"cpu\" does not support TopologyAwareScheduling");
}

TEST_F(FlavorChoiceTest, QuotaOnlyResourceGroupsNeedNoTopology) {  // R20.9
  queue_.resource_groups.push_back({{"pods"}, {{"cpu", {{"pods", 100, std::nullopt}}}}});
  const FlavorAssignment assignment = Choose();
  EXPECT_EQ(assignment.Mode(), AssignmentMode::kFit);
  EXPECT_EQ(*assignment.pod_sets[0].flavors.Find("pods"), "cpu");
  EXPECT_EQ(*assignment.pod_sets[0].requests.Find("pods"), 2);
}

TEST_F(FlavorChoiceTest, TopologyMissingInTheCluster) {  // R20.9
  cluster_.topologies.clear();
  EXPECT_EQ(Refusal(), "Flavor \"gpu\" information missing in TAS cache");
}

TEST_F(FlavorChoiceTest, RequestedLevelsMustExist) {  // R20.9
  for (const TopologyRequest& request :
       {Required("block"), Unconstrained(false),
        TopologyRequest{.required = kRack, .slice_topology = "block", .slice_size = 1},
        TopologyRequest{.required = kRack, .slice_constraints = {{kRack, 2}, {"nvlink", 1}}}}) {
    pod_set().topology_request = request;
    EXPECT_EQ(Refusal(), "Flavor \"gpu\" does not contain the requested level");
  }
}

TEST_F(FlavorChoiceTest, ImpliedRequestsGoOnlyWithTasOnlyQueues) {  // R20.1, R20.9
  pod_set().topology_request.reset();
  EXPECT_EQ(Choose().Mode(), AssignmentMode::kFit);
  queue_ = MakeQueue("q", {"gpu", "cpu"});
  EXPECT_EQ(*Choose().pod_sets[0].flavors.Find("cpu"), "cpu");
  pod_set().pod_template.node_selector = {{"pool", "gpu"}};
  EXPECT_EQ(Refusal(),
            "Flavor \"gpu\" supports only TopologyAwareScheduling, flavor cpu doesn't match node "
            "affinity");
}

TEST_F(FlavorChoiceTest, NodeSelectorOnTheFlavorsOwnLabels) {  // R21.12
  pod_set().pod_template.node_selector = {{"other", "x"}, {"pool", "gpu"}};
  EXPECT_EQ(Choose().Mode(), AssignmentMode::kFit);
  pod_set().pod_template.node_selector = {{"pool", "h200"}};
  EXPECT_EQ(Refusal(), "flavor gpu doesn't match node affinity");
}

TEST_F(FlavorChoiceTest, RequiredAffinityOnTheFlavorsOwnLabels) {  // R21.12
  NodeSelectorTerm other_pool{{{"pool", "NotIn", {"gpu"}}}, {}};
  auto& required = pod_set().pod_template.affinity.required.emplace();
  required.push_back(other_pool);
  EXPECT_EQ(Refusal(), "flavor gpu doesn't match node affinity");
  required.push_back({{{"zone", "In", {"z1"}}}, {}});  // says nothing about the flavor's labels
  EXPECT_EQ(Choose().Mode(), AssignmentMode::kFit);
}

TEST_F(FlavorChoiceTest, FlavorTaintsNeedATolerationOfPodOrFlavor) {  // R20.9
  cluster_.flavors[0].node_taints = {{"soft", "", "PreferNoSchedule"}, {"team", "a", "NoSchedule"}};
  EXPECT_EQ(Refusal(), "untolerated taint {team a NoSchedule <nil>} in flavor gpu");
  pod_set().pod_template.tolerations = {{"team", "Exists", "", ""}};
  EXPECT_EQ(Choose().Mode(), AssignmentMode::kFit);
  pod_set().pod_template.tolerations.clear();
  cluster_.flavors[0].tolerations = {{"team", "", "a", "NoSchedule"}};
  EXPECT_EQ(Choose().Mode(), AssignmentMode::kFit);
}

TEST_F(FlavorChoiceTest, UncoveredResources) {  // R21.12
  pod_set().pod_template.requests.Set("vpc.amazonaws.com/efa", 32);
  EXPECT_EQ(Refusal(), "resource vpc.amazonaws.com/efa unavailable in ClusterQueue");
}

TEST_F(FlavorChoiceTest, NothingOfAnUncoveredResourceIsNoRequest) {  // R30.5
  pod_set().pod_template.requests.Set("vpc.amazonaws.com/efa", 0);
  const FlavorAssignment chosen = Choose();
  EXPECT_EQ(chosen.Mode(), AssignmentMode::kFit);
  EXPECT_FALSE(chosen.pod_sets[0].flavors.Contains("vpc.amazonaws.com/efa"));
}

TEST_F(FlavorChoiceTest, MoreThanTheWholeQuota) {  // R21.12
  quota_.emplace(queue_);
  pod_set().count = 17;
  EXPECT_EQ(Refusal(),
            "insufficient quota for cpu in flavor gpu, previously considered podsets requests (0) "
            "+ current podset request (17) > maximum capacity (10), insufficient quota for gpu in "
            "flavor gpu, previously considered podsets requests (0) + current podset request (17) "
            "> maximum capacity (16)");
  EXPECT_EQ(Choose().pod_sets[0].refusals[0].kind, FlavorRefusal::Kind::kExceedsQuota);
}

TEST_F(FlavorChoiceTest, MoreThanTheUnusedQuotaIsPreempt) {
  quota_.emplace(queue_);
  quota_->Add({{{"gpu", "gpu"}, 15}});
  const FlavorAssignment assignment = Choose();
  EXPECT_EQ(assignment.Mode(), AssignmentMode::kPreempt);
  EXPECT_EQ(
      assignment.Message(),
      std::string(kPrefix) + "insufficient unused quota for gpu in flavor gpu, 1 more needed");
}

TEST_F(FlavorChoiceTest, ASliceNeedsQuotaForTheDifferenceAlone) {  // R21.13 (b)
  queue_ = MakeQueue("q", {"gpu"}, 8'000, 8);
  Occupy(5);
  pod_set().count = 7;  // of 8, and 5 more are in use
  EXPECT_EQ(Choose().Mode(), AssignmentMode::kPreempt);
  slice_ = OldSlice("gpu", 5);
  EXPECT_EQ(Choose().Mode(), AssignmentMode::kFit);
  EXPECT_EQ(Choose().pod_sets[0].requests, (Resources{{"cpu", 7000}, {"gpu", 7}}));
  pod_set().count = 9;
  EXPECT_EQ(Choose().Message(),
            std::string(kPrefix) +
                "insufficient unused quota for cpu in flavor gpu, 1 more needed, insufficient "
                "unused quota for gpu in flavor gpu, 1 more needed");
  pod_set().count = 14;  // nine more than the old slice has, in a quota of eight
  EXPECT_THAT(Refusal(), testing::HasSubstr("previously considered podsets requests (0) + current "
                                            "podset request (9) > maximum capacity (8)"));
}

TEST_F(FlavorChoiceTest, ASliceThatShrinksAsksForNothing) {  // R21.13 (b)
  queue_ = MakeQueue("q", {"gpu"}, 8'000, 8);
  Occupy(9);  // more than there is, as after the quota was lowered
  slice_ = OldSlice("gpu", 5);
  pod_set().count = 4;
  workload_.pod_sets.push_back(MakePodSet("second", 1, {{"gpu", 1}}, Required(kRack)));
  const FlavorAssignment assignment = Choose();
  ASSERT_EQ(assignment.pod_sets.size(), 2U);
  // A pod set that shrinks makes no room for another one.
  EXPECT_EQ(assignment.pod_sets[1].refusals[0].text,
            "insufficient unused quota for gpu in flavor gpu, 2 more needed");
}

TEST_F(FlavorChoiceTest, ASliceStaysOnTheFlavorOfTheOldOne) {  // R21.13 (a)
  cluster_.flavors.push_back(MakeFlavor("f2", "default"));
  queue_ = MakeQueue("q", {"gpu", "f2"});
  slice_ = OldSlice("f2", 2);
  EXPECT_EQ(Choose().pod_sets[0].flavors, (StringMap{{"cpu", "f2"}, {"gpu", "f2"}}));
  slice_ = OldSlice("f3", 2);
  EXPECT_EQ(Refusal(),
            "could not assign f2 flavor since the original workload is assigned: f3, could not "
            "assign gpu flavor since the original workload is assigned: f3");
}

TEST_F(FlavorChoiceTest, AnOldSliceIsComparedByIndexAndSummedByName) {  // R21.13 (b)
  queue_ = MakeQueue("q", {"gpu"}, 100'000, 8);
  quota_.emplace(queue_);
  slice_ = OldSlice("gpu", 6);
  slice_->admission->pod_set_assignments[0].name = "other";
  pod_set().count = 8;
  workload_.pod_sets.push_back(MakePodSet("second", 1, {{"gpu", 1}}, Required(kRack)));
  const FlavorAssignment assignment = Choose();
  ASSERT_EQ(assignment.pod_sets.size(), 2U);
  EXPECT_EQ(assignment.pod_sets[0].mode, AssignmentMode::kFit);  // asks for two
  EXPECT_THAT(assignment.pod_sets[1].refusals[0].text,           // all eight count
              testing::HasSubstr("requests (8) + current podset request (1)"));
}

TEST_F(FlavorChoiceTest, EarlierPodSetsCountAgainstQuota) {  // R21.12
  quota_.emplace(queue_);
  workload_.pod_sets.push_back(MakePodSet("second", 15, {{"gpu", 1}}, Required(kRack)));
  const FlavorAssignment assignment = Choose();
  ASSERT_EQ(assignment.pod_sets.size(), 2U);
  EXPECT_EQ(assignment.Message(),
            "couldn't assign flavors to pod set second: insufficient quota for gpu in flavor gpu, "
            "previously considered podsets requests (2) + current podset request (15) > maximum "
            "capacity (16)");
}

TEST_F(FlavorChoiceTest, AFlavorWithRoomBeatsAnEarlierOneInUse) {
  cluster_.flavors.push_back(MakeFlavor("gpu2", "default"));
  queue_ = MakeQueue("q", {"gpu", "gpu2"}, 10'000, 16);
  quota_.emplace(queue_);
  quota_->Add({{{"gpu", "gpu"}, 16}});
  const FlavorAssignment assignment = Choose();
  EXPECT_EQ(assignment.Mode(), AssignmentMode::kFit);
  EXPECT_EQ(*assignment.pod_sets[0].flavors.Find("gpu"), "gpu2");
  EXPECT_THAT(assignment.next_flavors, IsEmpty());
}

TEST_F(FlavorChoiceTest, GoesOnWhereTheLastEvaluationStopped) {
  cluster_.flavors.push_back(MakeFlavor("gpu2", "default"));
  queue_ = MakeQueue("q", {"gpu", "gpu2"});
  next_flavors_ = Choose().next_flavors;
  EXPECT_EQ(next_flavors_, (FlavorCursors{{{"main", 0}, 1}}));
  const FlavorAssignment assignment = Choose();
  EXPECT_EQ(*assignment.pod_sets[0].flavors.Find("gpu"), "gpu2");
  EXPECT_THAT(assignment.next_flavors, IsEmpty());
}

TEST_F(FlavorChoiceTest, GroupsAreAssignedTogether) {  // R20.10
  quota_.emplace(queue_);
  TopologyRequest grouped = Required(kRack);
  grouped.pod_set_group_name = "g";
  workload_.pod_sets = {MakePodSet("leader", 1, {{"gpu", 1}}, grouped),
                        MakePodSet("main", 16, {{"gpu", 1}}, grouped)};
  EXPECT_EQ(Choose().Message(),
            "couldn't assign flavors to pod set leader: insufficient quota for gpu in flavor gpu, "
            "previously considered podsets requests (0) + current podset request (17) > maximum "
            "capacity (16); couldn't assign flavors to pod set main: insufficient quota for gpu "
            "in flavor gpu, previously considered podsets requests (0) + current podset request "
            "(17) > maximum capacity (16)");
}

TEST_F(FlavorChoiceTest, AMemberWithoutRequestsInheritsTheGroupsTasFlavors) {  // R20.10
  TopologyRequest grouped = Required(kRack);
  grouped.pod_set_group_name = "g";
  workload_.pod_sets = {MakePodSet("leader", 1, {}, grouped),
                        MakePodSet("main", 2, {{"gpu", 1}}, grouped)};
  const FlavorAssignment assignment = Choose();
  ASSERT_EQ(assignment.pod_sets.size(), 2U);
  EXPECT_EQ(assignment.pod_sets[0].flavors, (StringMap{{"gpu", "gpu"}}));
  EXPECT_THAT(assignment.pod_sets[0].requests, IsEmpty());
}

TEST_F(FlavorChoiceTest, ReclaimablePodsAreNotAskedFor) {  // R20.5
  workload_.reclaimable_pods = {{"main", 1}};
  EXPECT_THAT(PendingCounts(workload_), ElementsAre(1));
  workload_.reclaimable_pods = {{"main", 5}};
  EXPECT_THAT(PendingCounts(workload_), ElementsAre(0));
}

TEST(IsExplicitTas, AnyFieldButIndicesAndSubGroups) {  // R20.1
  const auto is_explicit = [](TopologyRequest request) {
    return IsExplicitTas(MakePodSet("main", 1, {}, std::move(request)));
  };
  EXPECT_FALSE(IsExplicitTas(MakePodSet("main", 1, {})));
  EXPECT_FALSE(is_explicit({}));
  EXPECT_FALSE(
      is_explicit({.pod_index_label = "i", .sub_group_index_label = "j", .sub_group_count = 2}));
  EXPECT_TRUE(is_explicit(Required(kRack)));
  EXPECT_TRUE(is_explicit({.preferred = kRack}));
  EXPECT_TRUE(is_explicit(Unconstrained(false)));
  EXPECT_TRUE(is_explicit({.slice_topology = kRack}));
  EXPECT_TRUE(is_explicit({.slice_size = 2}));
  EXPECT_TRUE(is_explicit({.slice_constraints = {{kRack, 2}}}));
}

TEST(IsTasOnly, EveryFlavorHasATopology) {  // R20.1
  const Cluster cluster = MakeCluster();
  const ClusterLookup lookup(cluster);
  EXPECT_TRUE(IsTasOnly(MakeQueue("q", {"gpu"}), lookup));
  EXPECT_FALSE(IsTasOnly(MakeQueue("q", {"gpu", "cpu"}), lookup));
  EXPECT_TRUE(IsTasOnly(ClusterQueue{}, lookup));
}

}  // namespace
}  // namespace espalier::flavor_choice_test
