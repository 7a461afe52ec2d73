#include "kernels/decisions/counts_source.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/queries.hpp"

namespace espalier::counts_source_test {
namespace {

constexpr StoredCount kUntouched = -7;

TEST(ReachedLeavesTest, CountsTheChildrenOfAllParentsAndNoOthers) {
  const std::vector<std::int32_t> fanouts = {3, 0, 40, 1, 16, 16, 5, 300, 2};
  const HandTree tree({{static_cast<std::int32_t>(fanouts.size())}, fanouts});
  const TreeView view = tree.view();
  const std::int32_t first = view.LevelBegin(1);
  std::vector<Amount> amounts;
  for (std::int32_t leaf = 0; leaf < view.leaf_count(); ++leaf) amounts.push_back(leaf * 7 % 31);
  const std::int32_t column = 0;
  const Amount request = 2;
  LeafInput input;
  input.capacity = {amounts.data(), view.leaf_count()};
  input.workers = {1, &column, &request};
  input.domain = {0, view.leaf_count()};
  const SliceRule slice = Slices(view);
  std::vector<Share> parents = {{7, 0, 1}, {1, 0, 2}, {4, 0, 0}, {0, 0, 5}};
  std::vector<StoredCount> expected(static_cast<std::size_t>(view.domain_count()), kUntouched);
  for (const Share& parent : parents) {
    const DomainRange children = ChildrenOf(view, parent.domain);
    for (std::int32_t d = children.begin; d < children.end; ++d) {
      expected[static_cast<std::size_t>(d)] =
          static_cast<StoredCount>(amounts[static_cast<std::size_t>(d - first)] / request);
    }
  }
  RunOnTeams([&](const TeamRunner& runner) {
    std::vector<StoredCount> leaves(expected.size(), kUntouched);
    CountsView counted;
    counted.pods = counted.slices = leaves.data();
    counted.pods_with_leader = counted.slices_with_leader = leaves.data();
    const ReachedLeaves source{view, slice, &input, {}, counted};
    const ShareList list{parents.data(), static_cast<std::int32_t>(parents.size())};
    runner.Run(
        [&](auto& team) { EXPECT_EQ(source.OfChildren(team, view, 0, list).pods, leaves.data()); });
    EXPECT_EQ(leaves, expected);
    runner.Run([&](auto& team) { source.Of(team, 1, ChildrenOf(view, 8)); });
    EXPECT_EQ(leaves.back(), amounts.back() / request);
  });
}

TEST(ReachedLeavesTest, TakesWhatIsStoredAsItIs) {
  const HandTree tree({{2}, {3, 3}});
  const SliceRule slice = Slices(tree.view());
  const LeafInput input;
  StoredCount stored[8] = {};
  CountsView counts;
  counts.pods = stored;
  std::vector<Share> parents = {{0, 0, 1}};
  const ShareList list{parents.data(), 1};
  const ReachedLeaves above{tree.view(), slice, &input, counts, {}};
  const ReachedLeaves all{tree.view(), slice, nullptr, counts, {}};
  RunOnTeams([&](const TeamRunner& runner) {
    runner.Run([&](auto& team) {
      EXPECT_EQ(above.Of(team, 0, {0, 2}).pods, stored);
      EXPECT_EQ(all.Of(team, 1, {2, 5}).pods, stored);
      EXPECT_EQ(all.OfChildren(team, tree.view(), 0, list).pods, stored);
      EXPECT_EQ(above.InPlace(counts).OfChildren(team, tree.view(), 0, list).pods, stored);
    });
  });
}

}  // namespace
}  // namespace espalier::counts_source_test
