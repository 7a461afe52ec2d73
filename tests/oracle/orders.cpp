#include "tests/oracle/orders.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace espalier::oracle {

// --- R9.6 ----------------------------------------------------------------------------------------

OrderRules RulesOf(const Problem& problem) {
  return {problem.gates.respect_node_affinity_preferred, problem.LeastFreeCapacity()};
}

OrderRules BestFitRulesOf(const Problem& problem) {
  return {problem.gates.respect_node_affinity_preferred, false};
}

// --- R9.1, R9.2 ----------------------------------------------------------------------------------

std::vector<Path> OrderA(const Tree& tree, OrderRules rules, std::vector<Path> list) {
  const auto key = [&](const Path& path) {
    const Counts& counts = tree.at(path);
    return std::make_tuple(
        -counts.leaders, rules.affinity ? -counts.affinity : 0,
        rules.least_free_capacity ? counts.slices_with_leader : -counts.slices_with_leader,
        counts.pods_with_leader, path);
  };
  std::sort(list.begin(), list.end(),
            [&](const Path& a, const Path& b) { return key(a) < key(b); });
  return list;
}

// --- R9.3 ----------------------------------------------------------------------------------------

std::vector<Path> OrderB(const Tree& tree, OrderRules rules, std::vector<Path> list) {
  const auto key = [&](const Path& path) {
    const Counts& counts = tree.at(path);
    return std::make_tuple(rules.affinity ? -counts.affinity : 0,
                           rules.least_free_capacity ? counts.slices : -counts.slices, counts.pods,
                           path);
  };
  std::sort(list.begin(), list.end(),
            [&](const Path& a, const Path& b) { return key(a) < key(b); });
  return list;
}

std::int64_t Units(const Counts& counts, Unit unit) {
  return unit == Unit::kSlices ? counts.slices : counts.pods;
}

std::int64_t UnitsWithLeader(const Counts& counts, Unit unit) {
  return unit == Unit::kSlices ? counts.slices_with_leader : counts.pods_with_leader;
}

// --- R9.4, R9.5 ----------------------------------------------------------------------------------

Path Tight(const Tree& tree, OrderRules rules, const std::vector<Path>& list, std::size_t first,
           std::int64_t need, std::int64_t leaders, Unit unit) {
  std::optional<Path> best;
  std::int64_t best_value = 0;
  for (std::size_t i = first; i < list.size(); ++i) {
    const Counts& counts = tree.at(list[i]);
    if (rules.affinity && counts.affinity != tree.at(list[first]).affinity) break;
    if (counts.leaders < leaders) continue;
    const std::int64_t value = leaders > 0 ? UnitsWithLeader(counts, unit) : Units(counts, unit);
    if (value >= need && (!best || value < best_value)) {
      best = list[i];
      best_value = value;
    }
  }
  return best.value_or(list[first]);
}

}  // namespace espalier::oracle
