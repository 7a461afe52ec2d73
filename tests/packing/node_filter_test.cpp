// NodeConstraints::Key, and what FlavorSnapshot::Filter makes of constraints.
#include "host/packing/node_filter.hpp"

#include <bit>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/packing/flavor_snapshot.hpp"
#include "host/packing/node_match.hpp"
#include "tests/packing/states.hpp"

namespace espalier::node_filter_test {
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

// Every operator, with values in any order, twice, unknown to all nodes, or many, decides each node
// as the requirement alone does.
TEST(NodeFilterTest, R7_5_ValuesAreLookedUpAsTheyAreCompared) {
  ClusterStateInput input = OneFlavor({kHost});
  for (int i = 0; i < 40; ++i) {
    Node node = HostNode(fmt::format("n{:02}", i), {{"pods", 1}});
    if (i % 4 != 0) node.labels.Set("size", std::to_string(i % 10));
    if (i == 39) node.labels.Set("size", "");
    input.nodes.push_back(node);
  }
  const ClusterState state = BuildState(input);
  const FlavorSnapshot& snapshot = state.Find("tas")->snapshot();
  std::vector<std::string> many;
  for (int i = 5000; i-- > 7;) many.push_back(std::to_string(i));
  const std::vector<NodeSelectorRequirement> requirements = {
      {"size", "In", {"7", "3", "7", "unknown", ""}},
      {"size", "NotIn", {"7", "3", "7", "unknown"}},
      {"size", "NotIn", {"unknown"}},
      {"size", "In", many},
      {"size", "NotIn", many},
      {"size", "Exists", {}},
      {"size", "DoesNotExist", {}},
      {"size", "Gt", {"4"}},
      {"size", "Lt", {"4"}},
      {"absent", "In", {"7"}},
      {"absent", "NotIn", {"7"}},
      {"absent", "DoesNotExist", {}}};
  for (const NodeSelectorRequirement& requirement : requirements) {
    NodeConstraints constraints;
    constraints.required_affinity = {{{requirement}, {}}};
    const auto filter = snapshot.Filter(constraints);
    for (std::size_t i = 0; i < input.nodes.size(); ++i) {
      const bool admitted = filter->matches.empty() || ((filter->matches[0] >> i) & 1) != 0;
      EXPECT_EQ(admitted,
                RequirementHolds(requirement, input.nodes[i].labels.Find(requirement.key)))
          << requirement.key << " " << requirement.operation << " on " << input.nodes[i].name;
    }
  }
}

TEST(NodeFilterTest, TaintsOfOneTextAreCountedTogether) {
  ClusterStateInput input = OneFlavor({kHost});
  for (int i = 0; i < 6; ++i) {
    Node node = HostNode(fmt::format("n{}", i), {{"pods", 1}});
    node.taints = {{"b", "", "NoSchedule"}, {"other", std::to_string(i), "PreferNoSchedule"}};
    if (i == 3) node.taints = {{"a", "x", "NoExecute"}};
    input.nodes.push_back(node);
  }
  const ClusterState state = BuildState(input);
  EXPECT_EQ(state.Find("tas")->snapshot().Filter({})->taints,
            (FlatMap<std::int64_t>{{"a=x:NoExecute", 1}, {"b:NoSchedule", 5}}));
}

// Nodes on hosts n0, n1, ...; every other one has disk=ssd.
ClusterStateInput ManyNodes(int nodes) {
  ClusterStateInput input = OneFlavor({kHost});
  for (int i = 0; i < nodes; ++i) {
    Node node = HostNode(fmt::format("n{}", i), {{"pods", 1}});
    if (i % 2 == 0) node.labels.Set("disk", "ssd");
    input.nodes.push_back(node);
  }
  return input;
}

TEST(NodeFilterTest, StoppedFilterIsNotKept) {
  const ClusterState state = BuildState(ManyNodes(100'000));
  const FlavorSnapshot& snapshot = state.Find("tas")->snapshot();
  NodeConstraints constraints;
  constraints.required_affinity = {LabelIn("disk", "ssd")};
  WorkBudget budget;
  int pauses = 0;
  budget.OnPause([&] {
    ++pauses;
    budget.Stop({ErrorClass::kCancelled, "gone"});
  });
  budget.RequestPause();
  snapshot.Filter(constraints, budget);
  EXPECT_EQ(pauses, 1);
  EXPECT_EQ(snapshot.cached_bytes(), 0);
  EXPECT_EQ(snapshot.Filter(constraints)->required_affinity, 50'000);
}

TEST(NodeFilterTest, FilterOfManyTermsStops) {
  const ClusterState state = BuildState(ManyNodes(1000));
  NodeConstraints constraints;
  constraints.required_affinity.emplace(1000, LabelIn("disk", "hdd"));
  WorkBudget budget;
  int pauses = 0;
  budget.OnPause([&] {
    if (++pauses == 3) budget.Stop({ErrorClass::kCancelled, "gone"});
  });
  budget.RequestPause();
  state.Find("tas")->snapshot().Filter(constraints, budget);
  EXPECT_EQ(pauses, 3);
}

TEST(NodeFilterTest, MemoryIsChargedToTheBudget) {
  const ClusterState state = BuildState(ManyNodes(10'000));
  NodeConstraints scored;
  scored.preferred_affinity = {{1, LabelIn("disk", "ssd")}};
  NodeConstraints listing;
  listing.required_affinity = {NodeSelectorTerm{{{kHost, "In", {}}}, {}}};
  for (int i = 0; i < 10'000; ++i) {
    listing.required_affinity->front().match_expressions.front().values.push_back(
        fmt::format("n{}", i));
  }
  for (const NodeConstraints& constraints : {scored, listing}) {
    WorkBudget budget(std::int64_t{30} << 10);
    state.Find("tas")->snapshot().Filter(constraints, budget);
    ASSERT_FALSE(budget.Check());
    EXPECT_EQ(budget.Check().error().error_class, ErrorClass::kExhausted);
  }
}

TEST(NodeFilterTest, KeptFiltersHoldTheirMemoryInThePool) {
  MemoryPool pool(std::int64_t{1} << 30);
  {
    const ClusterState state = BuildState(ManyNodes(100'000));
    const FlavorSnapshot& snapshot = state.Find("tas")->snapshot();
    NodeConstraints constraints;
    constraints.preferred_affinity = {{1, LabelIn("disk", "ssd")}};
    {
      WorkBudget budget(pool, pool.limit());
      snapshot.Filter(constraints, budget);
      EXPECT_EQ(budget.charged(), 0);  // what was needed on the way is gone
    }
    EXPECT_EQ(pool.held(), snapshot.cached_bytes());
    EXPECT_GT(pool.held(), 800'000);
  }
  EXPECT_EQ(pool.held(), 0);
}

TEST(NodeFilterTest, KeptFiltersAreBoundedInBytes) {
  constexpr int kFilters = 100;
  const ClusterState state = BuildState(ManyNodes(100'000));
  const FlavorSnapshot& snapshot = state.Find("tas")->snapshot();
  NodeConstraints constraints;
  for (int i = 0; i < kFilters; ++i) {
    constraints.preferred_affinity = {{i + 1, LabelIn("disk", "ssd")}};
    snapshot.Filter(constraints);
    ASSERT_LE(snapshot.cached_bytes(), FlavorSnapshot::kMostCachedBytes) << i;
  }
  EXPECT_GT(snapshot.cached_bytes(), 800'000);
  for (int i = 0; i < 10'000; ++i) {  // shapes count together with them
    PodShape shape;
    shape.workers = {{"cpu"}, {0}, {i + 1}};
    snapshot.Intern(std::move(shape));
    ASSERT_LE(snapshot.cached_bytes(), FlavorSnapshot::kMostCachedBytes) << i;
  }
}

TEST(NodeFilterTest, ShapesOfALargeQueueAreAllKept) {
  constexpr int kPending = 10'000;
  const ClusterState state = BuildState(SixNodes());
  const FlavorSnapshot& snapshot = state.Find("tas")->snapshot();
  std::vector<std::shared_ptr<const PodShape>> kept;
  for (const int round : {0, 1}) {
    for (int i = 0; i < kPending; ++i) {
      PodShape shape;
      shape.workers = {{"cpu"}, {0}, {i + 1}};
      auto interned = snapshot.Intern(std::move(shape));
      if (round == 0) {
        kept.push_back(std::move(interned));
      } else {
        ASSERT_EQ(interned, kept[static_cast<std::size_t>(i)]) << i;
      }
    }
  }
}

TEST(NodeFilterTest, ShapesOfAStoppedBudgetAreNotKept) {
  const ClusterState state = BuildState(SixNodes());
  const FlavorSnapshot& snapshot = state.Find("tas")->snapshot();
  WorkBudget stopped;
  stopped.Stop({ErrorClass::kCancelled, "gone"});
  PodShape shape;
  shape.constraints = std::make_shared<const NodeConstraints>(SsdInZone1());
  shape.constraints_key = SsdInZone1().Key();
  const auto meaningless = snapshot.Intern(shape, stopped);
  EXPECT_NE(snapshot.Intern(shape), meaningless);
  EXPECT_EQ(snapshot.FilterOf(shape)->required_affinity, 1);
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
}  // namespace espalier::node_filter_test
