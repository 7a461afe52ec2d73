// Nodes in the order of their paths, against the comparison it is made of.
#include "host/packing/path_order.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "tests/generated/random.hpp"

namespace espalier::path_order_test {
namespace {

// Labels with so many values each, which the nodes have at random.
std::vector<LabelColumn> RandomLabels(std::size_t nodes, const std::vector<int>& values) {
  std::vector<LabelColumn> labels;
  Random random(1);
  for (const int count : values) {
    LabelColumn& label = labels.emplace_back();
    label.values.resize(static_cast<std::size_t>(count));
    for (std::size_t n = 0; n < nodes; ++n) {
      label.value_of.push_back(static_cast<std::int32_t>(random.Between(0, count - 1)));
    }
  }
  return labels;
}

TEST(PathOrderTest, R4_1_ManyNodesAreInTheOrderOfTheirPaths) {
  const std::vector<std::vector<int>> shapes = {
      {3, 40, 5000}, {1}, {2, 1, 3000}, std::vector<int>(16, 100), {70000, 70000, 70000, 70000}};
  for (const auto& values : shapes) {
    for (const std::size_t nodes : {50, 5000}) {
      const std::vector<LabelColumn> labels = RandomLabels(nodes, values);
      std::vector<const LabelColumn*> levels;
      for (const LabelColumn& label : labels) levels.push_back(&label);
      std::vector<std::int32_t> expected(nodes);
      std::iota(expected.begin(), expected.end(), 0);
      std::ranges::reverse(expected);
      std::vector<std::int32_t> sorted = expected;
      std::ranges::stable_sort(
          expected, [&](std::int32_t a, std::int32_t b) { return PathLess(levels, a, b); });
      SortByPath(levels, sorted);
      EXPECT_EQ(sorted, expected) << values.size() << " levels, " << nodes << " nodes";
    }
  }
}

TEST(PathOrderTest, EndsOnceItsBudgetIsStopped) {
  const std::vector<LabelColumn> labels = RandomLabels(5000, {100, 100});
  std::vector<std::int32_t> nodes(5000);
  std::iota(nodes.begin(), nodes.end(), 0);
  const std::vector<std::int32_t> before = nodes;
  WorkBudget budget;
  budget.Stop({ErrorClass::kCancelled, "gone"});
  SortByPath(std::vector<const LabelColumn*>{&labels[0], &labels[1]}, nodes, budget);
  EXPECT_EQ(nodes, before);
}

TEST(PathOrderTest, CoarserLevelsDecideFirst) {
  const LabelColumn coarse{"rack", {"a", "b"}, {0, 1}};
  const LabelColumn fine{"host", {"x", "y"}, {1, 0}};
  EXPECT_TRUE(PathLess(std::vector<const LabelColumn*>{&coarse, &fine}, 0, 1));
  EXPECT_FALSE(PathLess(std::vector<const LabelColumn*>{&fine, &coarse}, 0, 1));
}

}  // namespace
}  // namespace espalier::path_order_test
