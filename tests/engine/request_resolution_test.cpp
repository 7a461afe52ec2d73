#include "host/engine/request_resolution.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/requests.hpp"
#include "tests/packing/states.hpp"

namespace espalier::request_resolution_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RequestResolutionTest : public ::testing::Test {
 protected:
  // dc > block > rack > host
  const FlavorSnapshot& snapshot() const { return state_.Find("tas")->snapshot(); }

  ResolvedRequest Resolve(const PodSetRequest& pod_set) const {
    auto resolved = ResolveRequest(pod_set, snapshot(), gates_);
    if (resolved) return *resolved;
    ADD_FAILURE() << resolved.error();
    return {};
  }
  std::string Refusal(const PodSetRequest& pod_set) const {
    auto resolved = ResolveRequest(pod_set, snapshot(), gates_);
    return resolved ? "resolved" : resolved.error();
  }

  ClusterStateInput input_ = Gpus({{"d1/b1/r1/n1", 4}});
  ClusterState state_ = BuildState(input_);
  FeatureGates gates_;
};

TEST_F(RequestResolutionTest, R6_4_LevelKeyFirstMatchWins) {
  TopologyRequest both = Required("rack");
  both.preferred = "block";
  EXPECT_EQ(Resolve(MakePodSet(1, both)).query.level, 2);
  EXPECT_EQ(Resolve(MakePodSet(1, Preferred("block"))).query.level, 1);
  EXPECT_EQ(Resolve(MakePodSet(1, SliceOnly({{"rack", 2}}))).query.level, 0);
  TopologyRequest sliced_unconstrained = SliceOnly({{"rack", 2}});
  sliced_unconstrained.unconstrained = true;
  EXPECT_EQ(Resolve(MakePodSet(1, sliced_unconstrained)).query.level, 0);  // R6.3
  EXPECT_EQ(Resolve(MakePodSet(1, Unconstrained())).query.level, 3);
  PodSetRequest implied = MakePodSet(1);
  implied.topology_request.reset();
  implied.implied = true;
  EXPECT_EQ(Resolve(implied).query.level, 3);
}

TEST_F(RequestResolutionTest, R6_4_NoLevelAtAll) {
  EXPECT_EQ(Refusal(MakePodSet(1, Unconstrained(false))), "topology level not specified");
  EXPECT_EQ(Refusal(MakePodSet(1)), "topology level not specified");
  PodSetRequest absent = MakePodSet(1);
  absent.topology_request.reset();
  EXPECT_EQ(Refusal(absent), "topology level not specified");
}

TEST_F(RequestResolutionTest, R6_5_RequiredAndUnconstrained) {
  const auto flags = [&](const PodSetRequest& pod_set) {
    const PlacementQuery query = Resolve(pod_set).query;
    return std::pair(query.required, query.unconstrained);
  };
  EXPECT_EQ(flags(MakePodSet(1, Required("rack"))), std::pair(true, false));
  EXPECT_EQ(flags(MakePodSet(1, Preferred("rack"))), std::pair(false, false));
  EXPECT_EQ(flags(MakePodSet(1, Unconstrained())), std::pair(false, true));
  EXPECT_EQ(flags(MakePodSet(1, SliceOnly({{"rack", 2}}))), std::pair(false, true));
  PodSetRequest implied = MakePodSet(1, Preferred("rack"));
  implied.implied = true;
  EXPECT_EQ(flags(implied), std::pair(false, true));
}

TEST_F(RequestResolutionTest, R9_6_LeastFreeNeedsItsGate) {
  EXPECT_TRUE(Resolve(MakePodSet(1, Unconstrained())).query.least_free);
  EXPECT_FALSE(Resolve(MakePodSet(1, Preferred("rack"))).query.least_free);
  gates_.profile_mixed = false;
  EXPECT_FALSE(Resolve(MakePodSet(1, Unconstrained())).query.least_free);
}

TEST_F(RequestResolutionTest, R6_2_SliceSize) {
  EXPECT_EQ(Refusal(MakePodSet(4, Required("dc", {{"rack", 0}}))),
            "slice topology requested, but slice size not provided");
  EXPECT_EQ(Refusal(MakePodSet(4, Required("dc", {{"rack", -1}}))),
            "slice topology requested, but slice size not provided");
  TopologyRequest legacy = Required("dc");
  legacy.slice_topology = "rack";
  EXPECT_EQ(Refusal(MakePodSet(4, legacy)),
            "slice topology requested, but slice size not provided");
  legacy.slice_size = 2;
  const SliceRule slice = Resolve(MakePodSet(4, legacy)).query.slice;
  EXPECT_EQ(slice.size, 2);
  EXPECT_EQ(slice.level, 2);
  EXPECT_FALSE(slice.multi_layer());
}

TEST_F(RequestResolutionTest, R6_6_Levels) {
  EXPECT_EQ(Refusal(MakePodSet(4, Required("row"))), "no requested topology level: row");
  EXPECT_EQ(Refusal(MakePodSet(4, Required("dc", {{"row", 2}}))),
            "no requested topology level for slices: row");
  EXPECT_EQ(Refusal(MakePodSet(4, Required("rack", {{"block", 2}}))),
            "podset slice topology block is above the podset topology rack");
  EXPECT_EQ(Refusal(MakePodSet(4, Required("rack", {{"rack", 2}}))), "resolved");
}

TEST_F(RequestResolutionTest, R6_7_InnerLayers) {
  EXPECT_EQ(Refusal(MakePodSet(8, Required("dc", {{"block", 8}, {"row", 4}}))),
            "no requested topology level for additional slice layer: row");
  EXPECT_EQ(Refusal(MakePodSet(8, Required("dc", {{"rack", 8}, {"block", 4}}))),
            "additional slice layer topology block must be at a lower level than rack");
  EXPECT_EQ(Refusal(MakePodSet(8, Required("dc", {{"rack", 8}, {"rack", 4}}))),
            "additional slice layer topology rack must be at a lower level than rack");
  EXPECT_EQ(Refusal(MakePodSet(8, Required("dc", {{"block", 8}, {"rack", 3}}))),
            "additional slice layer size 3 must evenly divide parent layer size 8");
  EXPECT_EQ(Refusal(MakePodSet(8, Required("dc", {{"block", 8}, {"rack", 4}, {kHost, 3}}))),
            "additional slice layer size 3 must evenly divide parent layer size 4");
  EXPECT_THAT(Refusal(MakePodSet(8, Required("dc", {{"block", 8}, {"rack", 0}}))),
              StartsWith("undefined upstream"));  // R24.1
}

TEST_F(RequestResolutionTest, R6_7_LevelsBetweenLayersCarryTheFinerSize) {
  const SliceRule slice =
      Resolve(MakePodSet(8, Required("dc", {{"dc", 8}, {kHost, 2}}))).query.slice;
  EXPECT_THAT(std::vector<Count>(slice.inner_size, slice.inner_size + 4), ElementsAre(0, 2, 2, 2));
  EXPECT_EQ(slice.layer_count, 2);
  EXPECT_EQ(slice.layer_level[1], 3);
  EXPECT_TRUE(slice.multi_layer());  // R6.8
}

TEST_F(RequestResolutionTest, R6_10_UpdatesConflict) {
  PodSetRequest pod_set = MakePodSet(1, Required("rack"));
  pod_set.pod_template.node_selector = {{"disk", "ssd"}, {"arch", "arm"}};
  pod_set.updates.push_back({"main", {}, {}, {{"disk", "hdd"}, {"arch", "x86"}}, {}});
  EXPECT_EQ(Refusal(pod_set),
            "invalid podSetUpdate for PodSet main, error: invalid admission check PodSetUpdate: "
            "conflict for nodeSelector: conflict for key=arch, value1=arm, value2=x86");
  pod_set.pod_template.labels = {{"a", "1"}};
  pod_set.updates[0].labels = {{"a", "2"}};
  EXPECT_THAT(Refusal(pod_set), HasSubstr("conflict for labels: conflict for key=a"));
  pod_set.pod_template.annotations = {{"n", "1"}};
  pod_set.updates[0].annotations = {{"n", "2"}};
  EXPECT_THAT(Refusal(pod_set), HasSubstr("conflict for annotations: conflict for key=n"));
}

TEST_F(RequestResolutionTest, R6_10_UpdatesUnite) {
  PodSetRequest pod_set = MakePodSet(1, Required("rack"));
  pod_set.pod_template.node_selector = {{"disk", "ssd"}};
  pod_set.pod_template.tolerations = {{"a", "Equal", "1", ""}};
  pod_set.updates.push_back({"main",
                             {},
                             {},
                             {{"disk", "ssd"}, {"zone", "z1"}},
                             {{"a", "", "1", ""}, {"b", "Exists", "", ""}}});
  const NodeConstraints constraints = Resolve(pod_set).constraints;
  EXPECT_EQ(constraints.node_selector, (StringMap{{"disk", "ssd"}, {"zone", "z1"}}));
  EXPECT_THAT(constraints.tolerations,
              ElementsAre(Toleration{"a", "Equal", "1", ""}, Toleration{"b", "Exists", "", ""}));
}

// Fails only by taking minutes where each is compared with all others, or moves all others.
TEST_F(RequestResolutionTest, R6_10_LongUpdatesUnite) {
  constexpr int kEntries = 200'000;
  PodSetRequest pod_set = MakePodSet(1, Required("rack"));
  PodSetUpdate& update = pod_set.updates.emplace_back();
  std::vector<StringMap::Entry> even;
  std::vector<StringMap::Entry> odd;
  for (int i = 0; i < kEntries; ++i) {
    const std::string key = std::to_string(10'000'000 + i);
    (i % 2 == 0 ? even : odd).emplace_back(key, "x");
    update.tolerations.push_back({key, "Exists", "", ""});
    update.tolerations.push_back({key, "", "", ""});
    update.tolerations.push_back({key, "Equal", "", ""});
  }
  pod_set.pod_template.node_selector = StringMap(std::move(even));
  update.node_selector = StringMap(std::move(odd));
  const NodeConstraints constraints = Resolve(pod_set).constraints;
  EXPECT_EQ(constraints.node_selector.size(), kEntries);
  EXPECT_EQ(constraints.tolerations.size(), 2U * kEntries);
}

TEST_F(RequestResolutionTest, ShapesOfAStoppedBudgetAreMadeButNotKept) {
  const PodSetRequest pod_set = MakePodSet(1, Required("rack"));
  const ResolvedRequest resolved = Resolve(pod_set);
  const FlavorSnapshot& snapshot = state_.Find("tas")->snapshot();
  WorkBudget stopped;
  stopped.Stop({ErrorClass::kCancelled, "gone"});
  const auto meaningless = MakeShape(resolved, pod_set, nullptr, snapshot, stopped);
  ASSERT_NE(meaningless, nullptr);
  EXPECT_NE(MakeShape(resolved, pod_set, nullptr, snapshot), meaningless);
}

TEST_F(RequestResolutionTest, R6_11_FlavorTolerationsComeLast) {
  input_.flavors[0].tolerations = {{"flavor", "Exists", "", ""}};
  state_ = BuildState(input_);
  PodSetRequest pod_set = MakePodSet(1, Required("rack"));
  pod_set.pod_template.tolerations = {{"pod", "Exists", "", ""}};
  EXPECT_THAT(
      Resolve(pod_set).constraints.tolerations,
      ElementsAre(Toleration{"pod", "Exists", "", ""}, Toleration{"flavor", "Exists", "", ""}));
}

TEST_F(RequestResolutionTest, R6_6_UnparseableAffinity) {
  const NodeSelectorRequirement word{"zone", "Gt", {"x"}};
  const NodeSelectorTerm bad{{word}, {}};
  PodSetRequest pod_set = MakePodSet(1, Required("rack"));
  pod_set.pod_template.affinity.preferred = {{1, bad}};
  EXPECT_EQ(Refusal(pod_set), "resolved");  // not looked at without the gate
  gates_.respect_node_affinity_preferred = true;
  EXPECT_THAT(Refusal(pod_set), StartsWith("invalid preferred node affinity terms: "));
  pod_set.pod_template.affinity.required.emplace(1, bad);
  EXPECT_THAT(Refusal(pod_set), StartsWith("invalid affinity node selectors: "));
}

// Everything wrong at once, taken away one by one.
TEST_F(RequestResolutionTest, R6_6_OrderOfTheChecks) {
  PodSetRequest pod_set = MakePodSet(8, SliceOnly({{"row", 0}, {"column", 3}}));
  pod_set.topology_request->required = "floor";
  pod_set.pod_template.labels = {{"a", "1"}};
  pod_set.updates.push_back({"main", {{"a", "2"}}, {}, {}, {}});
  const NodeSelectorRequirement odd{"zone", "Odd", {}};
  pod_set.pod_template.affinity.required = {NodeSelectorTerm{{odd}, {}}};
  EXPECT_THAT(Refusal(pod_set), StartsWith("invalid podSetUpdate"));
  pod_set.updates.clear();
  EXPECT_THAT(Refusal(pod_set), StartsWith("slice topology requested"));
  pod_set.topology_request->slice_constraints[0].size = 8;
  EXPECT_EQ(Refusal(pod_set), "no requested topology level: floor");
  pod_set.topology_request->required = "rack";
  EXPECT_EQ(Refusal(pod_set), "no requested topology level for slices: row");
  pod_set.topology_request->slice_constraints[0].topology = "block";
  EXPECT_THAT(Refusal(pod_set), HasSubstr("is above the podset topology"));
  pod_set.topology_request->required = "dc";
  EXPECT_THAT(Refusal(pod_set), HasSubstr("additional slice layer: column"));
  pod_set.topology_request->slice_constraints.pop_back();
  EXPECT_THAT(Refusal(pod_set), StartsWith("invalid affinity node selectors"));
}

TEST_F(RequestResolutionTest, R5_11_ThePodSlotIsAdded) {
  const RequestVector plain = BindRequests({{"gpu", 2}, {"rdma/x", 1}}, snapshot());
  EXPECT_THAT(plain.names, ElementsAre("gpu", "pods", "rdma/x"));
  EXPECT_THAT(plain.amounts, ElementsAre(2, 1, 1));
  EXPECT_EQ(plain.columns[2], -1);  // no node has it
  const Amount most = std::numeric_limits<Amount>::max();
  EXPECT_THAT(BindRequests({{"pods", 3}}, snapshot()).amounts, ElementsAre(4));
  EXPECT_THAT(BindRequests({{"pods", most}}, snapshot()).amounts, ElementsAre(most));
}

TEST_F(RequestResolutionTest, EqualRequestsShareAShape) {
  const PodSetRequest a = MakePodSet(3, Required("rack"));
  PodSetRequest b = MakePodSet(7, Preferred("block"));  // counts and levels are no part of it
  const auto shape = [&](const PodSetRequest& workers, const PodSetRequest* leader = nullptr) {
    return MakeShape(Resolve(workers), workers, leader, snapshot());
  };
  EXPECT_EQ(shape(a), shape(b));
  EXPECT_NE(shape(a), shape(a, &b));
  b.pod_template.node_selector = {{"disk", "ssd"}};
  EXPECT_NE(shape(a), shape(b));
}

TEST_F(RequestResolutionTest, R7_11_WhatTheLeaderTakesOfTheWorkersResources) {
  const PodSetRequest workers = MakePodSet(3, Required("rack"));
  PodSetRequest leader = MakePodSet(1, {}, "leader");
  leader.requests = {{"cpu", 500}, {"gpu", 3}};
  const auto shape = MakeShape(Resolve(workers), workers, &leader, snapshot());
  EXPECT_THAT(shape->leader.names, ElementsAre("cpu", "gpu", "pods"));
  EXPECT_THAT(shape->leader_on_workers, ElementsAre(3, 1));  // gpu, pods
}

}  // namespace
}  // namespace espalier::request_resolution_test
