// NodeConstraints::Key, and what FlavorSnapshot::Filter makes of constraints.
#include "host/packing/node_filter.hpp"

#include <bit>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/packing/flavor_snapshot.hpp"
#include "tests/packing/clusters.hpp"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NodeSelectorTerm LabelIn(const std::string& key, const std::string& value) {
  return {{{key, "In", {value}}}, {}};
}

TEST(NodeFilterTest, KeysTellEveryDifferenceApart) {
  std::vector<NodeConstraints> all(1);
  const auto add = [&](auto change) { change(all.emplace_back()); };
  add([](NodeConstraints& c) { c.node_selector = {{"a", "bc"}}; });
  add([](NodeConstraints& c) { c.node_selector = {{"ab", "c"}}; });
  add([](NodeConstraints& c) { c.node_selector = {{"a", "b"}, {"c", ""}}; });
  add([](NodeConstraints& c) { c.tolerations = {{"a", "", "", ""}}; });
  add([](NodeConstraints& c) { c.tolerations = {{"", "a", "", ""}}; });
  add([](NodeConstraints& c) { c.tolerations = {{"", "", "a", ""}}; });
  add([](NodeConstraints& c) { c.tolerations = {{"", "", "", "a"}}; });
  add([](NodeConstraints& c) { c.tolerations = {{}, {}}; });
  add([](NodeConstraints& c) { c.required_affinity.emplace(); });
  add([](NodeConstraints& c) { c.required_affinity = {NodeSelectorTerm{}}; });
  add([](NodeConstraints& c) { c.required_affinity = {LabelIn("a", "b")}; });
  add([](NodeConstraints& c) { c.required_affinity = {{{}, {{"a", "In", {"b"}}}}}; });
  add([](NodeConstraints& c) { c.required_affinity = {{{{"a", "In", {"b", ""}}}, {}}}; });
  add([](NodeConstraints& c) { c.preferred_affinity = {{1, LabelIn("a", "b")}}; });
  add([](NodeConstraints& c) { c.preferred_affinity = {{-1, LabelIn("a", "b")}}; });
  std::set<std::string> keys;
  for (const NodeConstraints& constraints : all) keys.insert(constraints.Key());
  EXPECT_EQ(keys.size(), all.size());
  EXPECT_EQ(NodeConstraints{}.Key(), NodeConstraints{}.Key());
}

// E4: what each of six nodes fails first.
ClusterStateInput SixNodes() {
  ClusterStateInput input = OneFlavor(LevelKeys(2));
  const auto add = [&](const std::string& path, StringMap labels, std::vector<Taint> taints = {}) {
    Node node = HostNode(path, {{"cpu", 8000}, {"pods", 10}});
    for (const auto& [key, value] : labels) node.labels.Set(key, value);
    node.taints = std::move(taints);
    input.nodes.push_back(node);
  };
  add("r1/n1", {{"disk", "ssd"}, {"zone", "z1"}},
      {{"note", "", "PreferNoSchedule"}, {"maint", "true", "NoSchedule"}});
  add("r1/n2", {{"zone", "z1"}});
  add("r1/n3", {{"disk", "ssd"}, {"zone", "z2"}});
  add("r1/n4", {{"disk", "ssd"}, {"zone", "z1"}});
  add("r2/n5", {{"zone", "z2"}}, {{"maint", "true", "NoSchedule"}});
  add("r2/n6", {{"disk", "ssd"}, {"zone", "z1"}});
  return input;
}

NodeConstraints SsdInZone1() {
  NodeConstraints constraints;
  constraints.node_selector = {{"disk", "ssd"}};
  constraints.required_affinity = {LabelIn("zone", "z1")};
  return constraints;
}

TEST(NodeFilterTest, R7_2_FirstFailingFilterCountsTheLeaf) {
  const ClusterState state = BuildState(SixNodes());
  const auto filter = state.Find("tas")->snapshot().Filter(SsdInZone1());
  EXPECT_THAT(filter->matches, ElementsAre(0b101000));
  EXPECT_EQ(filter->taints, (FlatMap<std::int64_t>{{"maint=true:NoSchedule", 2}}));
  EXPECT_EQ(filter->node_selector, 1);
  EXPECT_EQ(filter->required_affinity, 1);
}

TEST(NodeFilterTest, R7_5_NoTermMatchesNothing) {
  const ClusterState state = BuildState(SixNodes());
  NodeConstraints constraints;
  constraints.tolerations = {{"", "Exists", "", ""}};
  constraints.required_affinity.emplace();
  const auto none = state.Find("tas")->snapshot().Filter(constraints);
  EXPECT_EQ(none->required_affinity, 6);
  constraints.required_affinity = {NodeSelectorTerm{}, LabelIn("zone", "z2")};  // OR-ed
  const auto some = state.Find("tas")->snapshot().Filter(constraints);
  EXPECT_THAT(some->matches, ElementsAre(0b010100));
}

TEST(NodeFilterTest, EveryLeafMatchingNeedsNoBitmap) {
  const ClusterState state = BuildState(SixNodes());
  NodeConstraints constraints;
  constraints.tolerations = {{"", "Exists", "", ""}};
  EXPECT_THAT(state.Find("tas")->snapshot().Filter(constraints)->matches, IsEmpty());
}

TEST(NodeFilterTest, R7_8_ScoresOfMatchingLeavesRollUp) {
  const ClusterState state = BuildState(SixNodes());
  NodeConstraints constraints;
  constraints.node_selector = {{"disk", "ssd"}};
  constraints.preferred_affinity = {{10, LabelIn("zone", "z1")},
                                    {5, LabelIn("rack", "r2")},
                                    {0, LabelIn("disk", "ssd")},
                                    {7, NodeSelectorTerm{}}};
  const auto filter = state.Find("tas")->snapshot().Filter(constraints);
  // r1, r2, n1 (tainted), n2 (no ssd), n3, n4, n5, n6
  EXPECT_THAT(filter->affinity, ElementsAre(10, 15, 0, 0, 0, 10, 0, 15));
}

TEST(NodeFilterTest, EqualConstraintsShareOneFilter) {
  const ClusterState state = BuildState(SixNodes());
  const FlavorSnapshot& snapshot = state.Find("tas")->snapshot();
  std::vector<std::shared_ptr<const NodeFilter>> seen(4);
  std::vector<std::thread> threads;
  for (auto& filter : seen) {
    threads.emplace_back([&] { filter = snapshot.Filter(SsdInZone1()); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& filter : seen) EXPECT_EQ(filter, seen.front());
  EXPECT_NE(snapshot.Filter({}), seen.front());
}

TEST(NodeFilterTest, BitmapCrossesWords) {
  ClusterStateInput input = OneFlavor({kHost});
  for (int i = 100; i < 230; ++i) {
    Node node = HostNode(fmt::format("n{}", i), {{"pods", 1}});
    if (i % 3 == 0) node.labels.Set("disk", "ssd");
    input.nodes.push_back(node);
  }
  const ClusterState state = BuildState(input);
  NodeConstraints constraints;
  constraints.node_selector = {{"disk", "ssd"}};
  const auto filter = state.Find("tas")->snapshot().Filter(constraints);
  ASSERT_EQ(filter->matches.size(), 3u);
  int set = 0;
  for (const std::uint64_t word : filter->matches) set += std::popcount(word);
  EXPECT_EQ(set, 43);
  EXPECT_EQ(filter->node_selector, 87);
  EXPECT_TRUE((filter->matches[1] >> (65 - 64)) & 1);  // n165
}

}  // namespace
}  // namespace espalier
