// Sections 12 and 13.
#include <algorithm>

#include "tests/oracle/placement.hpp"

namespace espalier::oracle {

// --- R12.1 to R12.6 ------------------------------------------------------------------------------

std::vector<Path> Take(const Problem& problem, Tree& tree, std::vector<Path> list, std::int64_t n,
                       std::int64_t leaders, std::int64_t size, Unit unit) {
  const OrderRules rules = RulesOf(problem);
  const std::int64_t pods_per_unit = unit == Unit::kSlices ? size : 1;
  list = LeaderFirst(tree, list, n, leaders, size, unit);

  const auto assign = [&](const Path& path, std::int64_t units) {
    Counts& counts = tree.at(path);
    if (unit == Unit::kSlices) counts.slices = units;
    counts.pods = units * pods_per_unit;
  };

  std::vector<Path> result;
  std::int64_t rest = unit == Unit::kSlices ? n / size : n;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Path path = list[i];
    if (leaders > 0) {
      const auto suffices = [&] {
        return UnitsWithLeader(tree.at(path), unit) >= rest && tree.at(path).leaders >= leaders;
      };
      if (!rules.least_free_capacity && suffices()) {
        path = Tight(tree, rules, list, i, rest, leaders, unit);
      }
      result.push_back(path);
      if (suffices()) {
        assign(path, rest);
        tree.at(path).leaders = leaders;
        return result;
      }
      const std::int64_t taken = std::min(UnitsWithLeader(tree.at(path), unit), rest);
      tree.at(path).leaders = std::min(tree.at(path).leaders, leaders);
      assign(path, taken);
      leaders -= tree.at(path).leaders;
      rest -= taken;
      continue;
    }
    if (!rules.least_free_capacity && Units(tree.at(path), unit) >= rest) {
      path = Tight(tree, rules, list, i, rest, 0, unit);
    }
    tree.at(path).leaders = 0;
    result.push_back(path);
    const std::int64_t units = Units(tree.at(path), unit);
    if (units >= rest) {
      assign(path, rest);
      return result;
    }
    assign(path, units);
    rest -= units;
  }
  return {};  // R12.4: the pods are lost
}

namespace {

// --- R13.4 ---------------------------------------------------------------------------------------

// Size of the groups that go from `level` to the one below.
std::int64_t GroupSize(const Demand& demand, std::size_t level) {
  if (level < demand.slice_level) return demand.slice_size;
  const auto it = demand.inner.find(level + 1);
  return it == demand.inner.end() ? 1 : it->second;
}

// --- R13.3, R13.5 --------------------------------------------------------------------------------

std::vector<Path> DescendPerParent(const Problem& problem, Tree& tree,
                                   const std::vector<Path>& parents, std::size_t level) {
  const std::int64_t size = GroupSize(problem.demand, level);
  std::vector<Path> result;
  for (const Path& parent : parents) {
    const std::vector<Path> children = OrderB(tree, RulesOf(problem), Children(tree, parent));
    for (const Path& child : children) {
      if (size <= 1) break;
      Counts& counts = tree.at(child);
      counts.slices = counts.pods / size;
      counts.slices_with_leader = counts.pods_with_leader / size;
    }
    const Counts given = tree.at(parent);
    for (const Path& path : Take(problem, tree, children, given.pods, given.leaders, size,
                                 size > 1 ? Unit::kSlices : Unit::kPods)) {
      result.push_back(path);
    }
  }
  return result;
}

// --- R13.1, R13.2 --------------------------------------------------------------------------------

std::vector<Path> Descend(const Problem& problem, Tree& tree, const Chosen& chosen, bool balanced) {
  const Demand& demand = problem.demand;
  const std::size_t lowest = problem.cluster.LowestLevel();
  std::size_t level = chosen.level;
  const auto take_slices = [&](const std::vector<Path>& list) {
    return Take(problem, tree, list, demand.pods, demand.leaders, demand.slice_size, Unit::kSlices);
  };

  std::vector<Path> current = take_slices(chosen.domains);
  for (; !balanced && level < std::min(lowest, demand.slice_level); ++level) {
    current = take_slices(OrderB(tree, RulesOf(problem), ChildrenOfAll(tree, current)));
  }
  for (; level < lowest; ++level) current = DescendPerParent(problem, tree, current, level);
  return current;
}

// --- R13.8 ---------------------------------------------------------------------------------------

TopologyAssignment Emit(const Cluster& cluster, const std::map<Path, std::int64_t>& pods) {
  TopologyAssignment assignment;
  assignment.levels = cluster.levels;
  if (cluster.IsHostTopology()) assignment.levels = {cluster.levels.back()};
  for (const auto& [path, count] : pods) {
    if (count == 0) continue;
    assignment.domains.push_back(
        {cluster.IsHostTopology() ? Path{path.back()} : path, static_cast<std::int32_t>(count)});
  }
  return assignment;
}

}  // namespace

// --- R13.7, R13.9, R14.3 -------------------------------------------------------------------------

OrReason<Placement> Place(const Cluster& cluster, const OracleInput& input,
                          const PodSetRequest& workers, const PodSetRequest* leader,
                          const Situation& situation) {
  const auto demand = ResolveDemand(cluster, input, workers, leader);
  if (!demand) return tl::unexpected(demand.error());
  Problem problem{cluster, *demand, input.gates, {}};
  Tree tree = CountTree(problem, situation);

  const auto balanced = ChooseBalanced(problem, tree);
  if (!balanced) return tl::unexpected(balanced.error());
  OrReason<Chosen> chosen = Chosen{};
  if (*balanced) {
    chosen = **balanced;
  } else {
    chosen = Choose(problem, tree, demand->requested_level);
    if (!chosen) return tl::unexpected(chosen.error());
  }

  std::map<Path, std::int64_t> worker_pods;
  std::map<Path, std::int64_t> leader_pods;
  for (const Path& path : Descend(problem, tree, *chosen, balanced->has_value())) {
    worker_pods[path] = tree.at(path).pods;
    leader_pods[path] = tree.at(path).leaders;
  }
  Placement placement;
  placement.workers = Emit(cluster, worker_pods);
  if (leader != nullptr) placement.leader = Emit(cluster, leader_pods);
  return placement;
}

}  // namespace espalier::oracle
