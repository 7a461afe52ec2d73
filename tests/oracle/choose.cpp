// Sections 10 and 11.
#include <algorithm>

#include "tests/oracle/placement.hpp"
#include "tests/oracle/texts.hpp"

namespace espalier::oracle {
namespace {

// --- R10.4, R10.5 --------------------------------------------------------------------------------

std::optional<Path> FirstSufficient(const Problem& problem, const Tree& tree,
                                    const std::vector<Path>& domains) {
  const Demand& demand = problem.demand;
  for (const Path& path : domains) {
    const Counts& counts = tree.at(path);
    if (counts.leaders < demand.leaders) continue;
    const std::int64_t capacity = demand.leaders > 0 ? counts.slices_with_leader : counts.slices;
    if (capacity >= demand.Slices()) return path;
  }
  return std::nullopt;
}

// --- R10.9, R10.10 -------------------------------------------------------------------------------

OrReason<Chosen> Collect(const Problem& problem, const Tree& tree, std::size_t level,
                         std::vector<Path> sorted) {
  const Demand& demand = problem.demand;
  const OrderRules rules = RulesOf(problem);
  sorted = LeaderFirst(tree, sorted, demand.pods, demand.leaders, demand.slice_size, Unit::kSlices);

  std::vector<Path> result;
  std::int64_t rest = demand.Slices();
  std::int64_t leaders = demand.leaders;
  std::size_t i = 0;
  while (leaders > 0 && i < sorted.size() && tree.at(sorted[i]).leaders > 0) {
    Path path = sorted[i];
    if (!rules.least_free_capacity && tree.at(path).slices_with_leader >= rest) {
      path = Tight(tree, rules, sorted, i, rest, leaders, Unit::kSlices);
    }
    result.push_back(path);
    leaders -= tree.at(path).leaders;
    rest -= tree.at(path).slices_with_leader;
    ++i;
  }
  if (leaders > 0) {
    return tl::unexpected(
        NotFitText(problem, tree, level, demand.leaders - leaders, demand.Slices()));
  }

  sorted.erase(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(i));
  sorted = OrderB(tree, rules, sorted);
  for (std::size_t j = 0; j < sorted.size() && rest > 0; ++j) {
    Path path = sorted[j];
    if (!rules.least_free_capacity && tree.at(path).slices >= rest) {
      path = Tight(tree, rules, sorted, j, rest, 0, Unit::kSlices);
    }
    result.push_back(path);
    rest -= tree.at(path).slices;
  }
  if (rest > 0) {
    return tl::unexpected(
        NotFitText(problem, tree, level, demand.Slices() - rest, demand.Slices()));
  }
  return Chosen{level, result};
}

}  // namespace

// --- R10.1 to R10.12 -----------------------------------------------------------------------------

OrReason<Chosen> Choose(const Problem& problem, const Tree& tree, std::size_t level) {
  const Demand& demand = problem.demand;
  const OrderRules rules = RulesOf(problem);
  const std::int64_t slices = demand.Slices();
  const auto suffices = [&](const Path& path) {
    const Counts& counts = tree.at(path);
    return counts.slices_with_leader >= slices && counts.leaders >= demand.leaders;
  };

  const std::vector<Path> sorted = OrderA(tree, rules, DomainsOfLevel(tree, level));  // R10.2
  if (sorted.empty()) {                                                               // R10.1
    return tl::unexpected("no topology domains at level: " + problem.cluster.levels[level]);
  }
  Path top = sorted.front();
  if (!rules.least_free_capacity && suffices(top)) {  // R10.3
    top = Tight(tree, rules, sorted, 0, slices, demand.leaders, Unit::kSlices);
  }
  if (rules.least_free_capacity) {
    if (const auto path = FirstSufficient(problem, tree, sorted)) {  // R10.4
      return Chosen{level, {*path}};
    }
    if (demand.required) {  // R10.5
      return tl::unexpected(NotFitText(problem, tree, level, tree.at(sorted.back()).pods, slices));
    }
  }
  if (suffices(top)) return Chosen{level, {top}};  // R10.6

  if (demand.required) {  // R10.7
    for (std::size_t i = 1; rules.affinity && i < sorted.size(); ++i) {
      if (!suffices(sorted[i])) continue;
      return Chosen{level, {Tight(tree, rules, sorted, i, slices, demand.leaders, Unit::kSlices)}};
    }
    return tl::unexpected(NotFitText(problem, tree, level, tree.at(top).slices, slices));
  }
  if (level > 0 && !demand.unconstrained) return Choose(problem, tree, level - 1);  // R10.8
  return Collect(problem, tree, level, sorted);
}

// --- R11.1 to R11.3 ------------------------------------------------------------------------------

std::vector<Path> LeaderFirst(const Tree& tree, std::vector<Path> list, std::int64_t n,
                              std::int64_t leaders, std::int64_t size, Unit unit) {
  if (leaders == 0 || list.size() < 2) return list;
  const std::int64_t need = unit == Unit::kSlices ? n / size : n;
  std::int64_t available = 0;
  for (const Path& path : list) available += Units(tree.at(path), unit);
  const auto found = std::find_if(list.begin(), list.end(), [&](const Path& path) {
    const Counts& counts = tree.at(path);
    const std::int64_t penalty = Units(counts, unit) - UnitsWithLeader(counts, unit);
    return counts.leaders >= leaders && available - penalty >= need;
  });
  if (found != list.end()) std::rotate(list.begin(), found, found + 1);
  return list;
}

}  // namespace espalier::oracle
