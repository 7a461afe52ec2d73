// Tests what the columns of nodes must keep.
#include "host/packing/node_columns.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::node_columns_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Not in the order of their bytes.
std::vector<std::string> Names(int count) {
  std::vector<std::string> names;
  for (int i = count; i-- > 0;) names.push_back("node-" + std::to_string(i));
  return names;
}

TEST(NodeColumnsTest, NamesAreDistinctHoweverMany) {
  for (const int count : {0, 1, 20, 40000}) {
    EXPECT_TRUE(CheckDistinctNames(Names(count))) << count;
  }
  EXPECT_TRUE(CheckDistinctNames({"a", "b", "c"}));
}

TEST(NodeColumnsTest, TheFirstRepeatedNameIsNamed) {
  for (const std::size_t count : {20U, 40000U}) {
    std::vector<std::string> names = Names(static_cast<int>(count));
    names[count - 1] = "node-12";
    names[count - 2] = "node-13";
    const Result<void> distinct = CheckDistinctNames(names);
    ASSERT_FALSE(distinct);
    EXPECT_EQ(distinct.error().error_class, ErrorClass::kBadInput);
    EXPECT_THAT(distinct.error().message, HasSubstr("\"node-13\" is given twice"));
  }
  EXPECT_FALSE(CheckDistinctNames({"a", "a"}));
}

std::string ProblemOf(const NodeColumns& columns) {
  const Result<void> check = CheckNodeColumns(columns);
  return check ? "" : check.error().message;
}

TEST(NodeColumnsTest, EachColumnIsHeldToItsRule) {
  const auto sound = [] {
    NodeColumns columns;
    columns.names = {"n1", "n2"};
    columns.available = {1, 1};
    columns.labels = {{"block", {"b1"}, {0, -1}}, {"rack", {"r1", "r2"}, {1, 0}}};
    columns.taint_sets = {{}};
    columns.taint_set_of = {0, 0};
    columns.resources = {"cpu", "memory"};
    columns.allocatable = {1, 2, 3, 4};
    return columns;
  };
  EXPECT_EQ(ProblemOf(sound()), "");
  NodeColumns columns = sound();
  columns.available.pop_back();
  EXPECT_THAT(ProblemOf(columns), HasSubstr("available must have one entry for each of 2 nodes"));
  columns = sound();
  columns.taint_set_of[1] = 1;
  EXPECT_THAT(ProblemOf(columns), HasSubstr("taint_set_of must index"));
  columns = sound();
  std::swap(columns.labels[0], columns.labels[1]);
  EXPECT_THAT(ProblemOf(columns), HasSubstr("labels must be sorted"));
  columns = sound();
  columns.labels[0].value_of.pop_back();
  columns.labels[1].value_of[0] = 2;  // the first of two is said
  EXPECT_THAT(ProblemOf(columns), HasSubstr("label block must have one entry"));
  columns = sound();
  columns.labels[1].value_of[0] = -2;
  EXPECT_THAT(ProblemOf(columns), HasSubstr("label rack must index its values"));
  columns = sound();
  columns.labels[1].values = {"r1", "r1"};
  EXPECT_THAT(ProblemOf(columns), HasSubstr("label rack must have sorted"));
  columns = sound();
  columns.resources = {"memory", "cpu"};
  EXPECT_THAT(ProblemOf(columns), HasSubstr("resources must be sorted"));
  columns = sound();
  columns.allocatable.pop_back();
  EXPECT_THAT(ProblemOf(columns), HasSubstr("allocatable must have one entry"));
}

// Values are compared in parts: wherever two are out of order, one of them sees it.
TEST(NodeColumnsTest, ManyValuesMustBeSortedThroughout) {
  NodeColumns columns;
  for (int i = 100'000; i < 140'000; ++i) columns.names.push_back(std::to_string(i));
  columns.available.resize(columns.names.size(), 1);
  columns.taint_sets = {{}};
  columns.taint_set_of.resize(columns.names.size(), 0);
  columns.labels = {{"host", columns.names, std::vector<std::int32_t>(columns.names.size(), 0)}};
  EXPECT_EQ(ProblemOf(columns), "");
  std::vector<std::string>& values = columns.labels[0].values;
  for (const std::size_t at : {1U, 8191U, 8192U, 8193U, 16384U, 39'999U}) {
    std::swap(values[at - 1], values[at]);
    EXPECT_THAT(ProblemOf(columns), HasSubstr("label host must have sorted")) << at;
    std::swap(values[at - 1], values[at]);
  }
}

std::vector<Node> NamedNodes(int count) {
  std::vector<Node> nodes(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) nodes[static_cast<std::size_t>(i)].name = std::to_string(i);
  return nodes;
}

// However long the beginning is that all have in common, and what tells them apart behind it.
TEST(NodeColumnsTest, ValuesAscendByTheirBytes) {
  const std::vector<std::vector<std::string>> cases = {
      {},
      {"only"},
      {"", "a"},
      {"rack", "rac", "racks", "r"},
      {"b01-r0001-h02", "b01-r0001-h01", "b01-r0001-h", "b01-r0002"},
      {"x-12345678-b", "x-12345678-a", "x-12345678", "x-1234567"},
      {std::string("a\0", 2), "a", std::string("a\0\0", 3), "a\x01"},
      {"\xff", "\x7f", "\x80", "a"},
      {"a", "a", "b", "c", "c", "b", "a", "d", "d", "cc", "b"},
      Names(40000),
  };
  for (const std::vector<std::string>& values : cases) {
    std::vector<Node> nodes = NamedNodes(static_cast<int>(values.size()));
    for (std::size_t n = 0; n < nodes.size(); ++n) nodes[n].labels["host"] = values[n];
    const Result<NodeColumns> columns = MakeNodeColumns(nodes);
    ASSERT_TRUE(columns);
    if (values.empty()) continue;
    std::vector<std::string> sorted = values;
    std::ranges::sort(sorted);
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    const LabelColumn& label = *columns->FindLabel("host");
    ASSERT_EQ(label.values, sorted);
    for (std::size_t n = 0; n < values.size(); ++n) {
      ASSERT_EQ(label.values[static_cast<std::size_t>(label.value_of[n])], values[n]);
    }
  }
}

TEST(NodeColumnsTest, EqualTaintsHaveOneNumber) {
  const std::vector<Taint> a = {{"k", "a", "NoSchedule"}};
  const std::vector<Taint> ab = {{"k", "a", "NoSchedule"}, {"k", "b", "NoSchedule"}};
  const std::vector<Taint> ba = {ab[1], ab[0]};  // the order is part of a list
  std::vector<Node> nodes = NamedNodes(7);
  const std::vector<std::vector<Taint>> taints = {{}, a, {}, ab, ba, a, ab};
  for (std::size_t n = 0; n < nodes.size(); ++n) nodes[n].taints = taints[n];
  const Result<NodeColumns> columns = MakeNodeColumns(nodes);
  ASSERT_TRUE(columns);
  EXPECT_THAT(columns->taint_set_of, ElementsAre(0, 1, 0, 2, 3, 1, 2));
  EXPECT_THAT(columns->taint_sets, ElementsAre(std::vector<Taint>{}, a, ab, ba));
}

// Fails only by taking minutes where each list is compared with all others.
TEST(NodeColumnsTest, ManyTaintsAreTold) {
  constexpr int kNodes = 200'000;
  std::vector<Node> nodes = NamedNodes(kNodes);
  for (Node& node : nodes) node.taints = {{"node", node.name, "NoSchedule"}};
  const Result<NodeColumns> columns = MakeNodeColumns(nodes);
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->taint_sets.size(), nodes.size());
  EXPECT_EQ(columns->taint_set_of.back(), kNodes - 1);
}

TEST(NodeColumnsTest, R4_6_ResourcesOfEachNodeFindTheirColumn) {
  std::vector<Node> nodes = NamedNodes(3);
  nodes[0].allocatable = {{"b", 1}, {"d", 2}};
  nodes[1].allocatable = {{"a", 3}, {"d", 4}};
  nodes[2].allocatable = {{"c", 5}};
  const Result<NodeColumns> columns = MakeNodeColumns(nodes);
  ASSERT_TRUE(columns);
  EXPECT_THAT(columns->resources, ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(columns->allocatable, ElementsAre(0, 3, 0, 1, 0, 0, 0, 0, 5, 2, 4, 0));
}

TEST(NodeColumnsTest, R4_6_MostlyMissingResourcesAreListed) {
  constexpr int kNodes = 2000;
  std::vector<Node> nodes = NamedNodes(kNodes);
  for (Node& node : nodes) node.allocatable = {{"own-" + node.name, 7}, {"pods", 110}, {"zero", 0}};
  const Result<NodeColumns> columns = MakeNodeColumns(nodes);
  ASSERT_TRUE(columns);
  EXPECT_TRUE(columns->sparse);
  EXPECT_THAT(columns->allocatable, IsEmpty());
  ASSERT_EQ(columns->amounts.size(), 2U * kNodes);
  for (const NodeAmount& amount : columns->amounts) {
    const std::string& name = columns->names[static_cast<std::size_t>(amount.node)];
    const std::string& resource = columns->resources[static_cast<std::size_t>(amount.resource)];
    EXPECT_EQ(amount.amount, resource == "pods" ? 110 : 7);
    EXPECT_TRUE(resource == "pods" || resource == "own-" + name) << resource << " of " << name;
  }
  EXPECT_EQ(ProblemOf(*columns), "");
  NodeColumns wrong = *columns;
  wrong.amounts[5].resource = kNodes + 2;
  EXPECT_THAT(ProblemOf(wrong), HasSubstr("amounts must be of resources and nodes there are"));
}

TEST(NodeColumnsTest, ColumnsTakeNoMoreThanTheBudget) {
  constexpr int kNodes = 2000;
  using Spread = void (*)(Node&);
  const Spread spreads[] = {
      [](Node& node) { node.labels.Set("own-" + node.name, "x"); },  // 16 MB of label columns
      [](Node& node) { node.name += std::string(2000, 'x'); },
      [](Node& node) {
        node.taints = {{node.name, std::string(2000, 'x'), "NoSchedule"}};
      },
      [](Node& node) { node.labels.Set("one", node.name + std::string(2000, 'x')); },
      [](Node& node) { node.allocatable.Set(std::string(2000, 'x') + node.name, 1); }};
  for (const Spread spread : spreads) {
    std::vector<Node> nodes = NamedNodes(kNodes);
    for (Node& node : nodes) spread(node);
    WorkBudget budget(std::int64_t{2} << 20);
    const Result<NodeColumns> columns = MakeNodeColumns(nodes, budget);
    ASSERT_FALSE(columns);
    EXPECT_EQ(columns.error().error_class, ErrorClass::kExhausted);
    EXPECT_LT(budget.charged(), std::int64_t{3} << 20);  // it stopped there and then
  }
}

}  // namespace
}  // namespace espalier::node_columns_test
