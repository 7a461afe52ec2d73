#include "host/packing/flavor_tree.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::flavor_tree_test {
namespace {

using PathSet = std::set<std::vector<std::string>>;

// Packs the tree of these paths. Its levels are of the keys l0, l1 and so on, or end in the
// hostname.
std::shared_ptr<const FlavorTree> TreeOf(const PathSet& paths, std::size_t depth, bool hosts) {
  std::vector<std::string> levels;
  for (std::size_t level = 0; level < depth; ++level) levels.push_back(fmt::format("l{}", level));
  if (hosts) levels.back() = kHost;
  std::vector<Node> nodes;
  for (const std::vector<std::string>& path : paths) {
    Node& node = nodes.emplace_back();
    node.name = fmt::format("{}", fmt::join(path, "/"));
    for (std::size_t level = 0; level < depth; ++level) node.labels.Set(levels[level], path[level]);
  }
  std::vector<std::int32_t> node_of(nodes.size());
  std::iota(node_of.begin(), node_of.end(), 0);
  return std::make_shared<const FlavorTree>(
      levels, std::make_shared<const NodeColumns>(*MakeNodeColumns(nodes)), node_of);
}

std::vector<std::vector<std::string>> PathsOf(const FlavorTree& tree) {
  std::vector<std::vector<std::string>> paths;
  for (std::int32_t leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    paths.push_back(tree.Path(tree.LeafDomain(LeafId(leaf))));
  }
  return paths;
}

void ExpectSame(const FlavorTree& tree, const FlavorTree& built) {
  const TreeView a = tree.view();
  const TreeView b = built.view();
  ASSERT_EQ(a.level_count, b.level_count);
  ASSERT_EQ(std::vector(a.level_begin, a.level_begin + a.level_count + 1),
            std::vector(b.level_begin, b.level_begin + b.level_count + 1));
  EXPECT_EQ(std::vector(a.parent, a.parent + a.domain_count()),
            std::vector(b.parent, b.parent + b.domain_count()));
  const std::int32_t inner = a.LevelBegin(a.lowest()) + 1;
  EXPECT_EQ(std::vector(a.child_begin, a.child_begin + inner),
            std::vector(b.child_begin, b.child_begin + inner));
  ASSERT_EQ(PathsOf(tree), PathsOf(built));
  EXPECT_EQ(tree.group_count(), built.group_count());
  EXPECT_EQ(tree.group_width(), built.group_width());
  for (std::int32_t leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    const std::string id = built.LeafIdText(LeafId(leaf));
    EXPECT_EQ(tree.LeafIdText(LeafId(leaf)), id);
    EXPECT_EQ(tree.FindId(id), LeafId(leaf));
    EXPECT_EQ(tree.FindPath(built.Path(built.LeafDomain(LeafId(leaf)))), LeafId(leaf));
    EXPECT_EQ(tree.GroupOf(LeafId(leaf)), built.GroupOf(LeafId(leaf)));
  }
}

// Whatever comes and goes, several times over, the tree is the one that its paths make.
TEST(FlavorTreeTest, EditedTreesAreAsIfBuilt) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto depth = static_cast<std::size_t>(random.Between(1, 4));
    const bool hosts = random.Chance(50);
    int names = 0;
    const auto any_path = [&] {
      std::vector<std::string> path;
      for (std::size_t level = 0; level < depth; ++level) {
        path.push_back(fmt::format("v{}", random.Between(0, 4)));
      }
      if (hosts) path.back() = fmt::format("{}{}", random.Pick({"a", "h"}), names++);
      return path;
    };
    PathSet paths;
    for (std::int64_t i = random.Between(1, 20); i > 0; --i) paths.insert(any_path());
    std::shared_ptr<const FlavorTree> tree = TreeOf(paths, depth, hosts);
    for (int step = 0; step < 12; ++step) {
      std::vector<std::int32_t> dropped;
      const auto all = PathsOf(*tree);
      for (std::int32_t leaf = 0; leaf < tree->leaf_count(); ++leaf) {
        if (random.Chance(15)) dropped.push_back(leaf);
      }
      PathSet joined;
      for (std::int64_t i = random.Between(0, 4); i > 0; --i) {
        auto path = any_path();
        if (!tree->FindPath(path).valid()) joined.insert(std::move(path));
      }
      for (const std::int32_t leaf : dropped) paths.erase(all[static_cast<std::size_t>(leaf)]);
      paths.insert(joined.begin(), joined.end());
      if (paths.empty()) break;
      const FlavorTree::Edited edited =
          tree->Edit(dropped, std::vector(joined.begin(), joined.end()));
      ASSERT_NO_FATAL_FAILURE(ExpectSame(*edited.tree, *TreeOf(paths, depth, hosts)));
      std::size_t moved = 0;
      for (const LeafRun& run : edited.runs) {
        for (std::int32_t i = 0; i < run.size; ++i, ++moved) {
          ASSERT_EQ(edited.tree->Path(edited.tree->LeafDomain(LeafId(run.to + i))),
                    all[static_cast<std::size_t>(run.from + i)]);
        }
      }
      ASSERT_EQ(moved, all.size() - dropped.size());
      ASSERT_EQ(edited.joined.size(), joined.size());
      auto next = joined.begin();
      for (const LeafId leaf : edited.joined) {
        ASSERT_EQ(edited.tree->Path(edited.tree->LeafDomain(leaf)), *next++);
      }
      tree = edited.tree;
    }
  }
}

}  // namespace
}  // namespace espalier::flavor_tree_test
