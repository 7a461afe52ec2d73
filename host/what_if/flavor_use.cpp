#include "host/what_if/flavor_use.hpp"

#include <algorithm>

#include "kernels/saturating.hpp"

namespace espalier {
namespace {

// Amounts by domain: those of a level follow one another, coarsest level first.
using ByDomain = std::vector<Amount>;

std::size_t At(std::int32_t domain) { return static_cast<std::size_t>(domain); }

// Adds to each domain what the domains below it have.
void RollUp(const TreeView& tree, ByDomain& amounts) {
  for (std::int32_t domain = tree.domain_count() - 1; domain >= tree.LevelEnd(0); --domain) {
    Amount& parent = amounts[At(tree.parent[domain])];
    parent = SaturatingSum(parent, amounts[At(domain)]);
  }
}

}  // namespace

FlavorUse UseOf(const FlavorState& flavor, WorkBudget& budget) {
  const FlavorSnapshot& snapshot = flavor.snapshot();
  const TreeView tree = snapshot.tree();
  const std::size_t resources = snapshot.resources().size();
  const std::size_t domains = At(tree.domain_count());
  FlavorUse use;
  use.capacity.resize(resources);
  use.used.resize(resources);
  use.levels.resize(At(tree.level_count));
  if (!budget.Charge(static_cast<std::int64_t>(3 * domains * sizeof(Amount)))) return use;
  const std::int32_t first_leaf = tree.LevelBegin(tree.lowest());
  ByDomain nodes(domains);
  ByDomain in_use(domains);  // whether anything is
  ByDomain free(domains);
  for (std::int32_t leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    if (!snapshot.leaf_nodes().IsVacant(LeafId(leaf))) nodes[At(first_leaf + leaf)] = 1;
  }
  for (FlavorUse::Level& level : use.levels) level.most_free.resize(resources);
  for (std::size_t resource = 0; resource < resources; ++resource) {
    std::ranges::fill(free, 0);
    for (std::int32_t leaf = 0; leaf < tree.leaf_count(); ++leaf) {
      const std::size_t domain = At(first_leaf + leaf);
      if (nodes[domain] == 0) continue;
      const std::size_t at = resource * static_cast<std::size_t>(snapshot.stride()) + At(leaf);
      const Amount used = flavor.Usage(at);
      use.capacity[resource] = SaturatingSum(use.capacity[resource], flavor.free()[at]);
      use.used[resource] = SaturatingSum(use.used[resource], used);
      if (used != 0) in_use[domain] = 1;
      free[domain] = std::max(flavor.remaining()[at], Amount{0});
    }
    RollUp(tree, free);
    for (std::int32_t level = 0; level < tree.level_count; ++level) {
      Amount& most = use.levels[At(level)].most_free[resource];
      for (std::int32_t d = tree.LevelBegin(level); d < tree.LevelEnd(level); ++d) {
        most = std::max(most, free[At(d)]);
      }
    }
    if (!budget.MayContinue()) return use;
  }
  RollUp(tree, nodes);
  RollUp(tree, in_use);
  for (std::int32_t level = 0; level < tree.level_count; ++level) {
    for (std::int32_t d = tree.LevelBegin(level); d < tree.LevelEnd(level); ++d) {
      if (nodes[At(d)] == 0) continue;
      ++use.levels[At(level)].domains;
      if (in_use[At(d)] == 0) ++use.levels[At(level)].unused_domains;
    }
  }
  budget.Release(static_cast<std::int64_t>(3 * domains * sizeof(Amount)));
  return use;
}

}  // namespace espalier
