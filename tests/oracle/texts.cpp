#include "tests/oracle/texts.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace espalier::oracle {
namespace {

// --- R18.1 ---------------------------------------------------------------------------------------

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

// --- R18.5 ---------------------------------------------------------------------------------------

std::string ExclusionSuffix(const Exclusions& exclusions) {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& what, std::int64_t count) {
    if (count > 0) parts.push_back(fmt::format("{}: {}", what, count));
  };
  add("nodeSelector", exclusions.node_selector);
  add("affinity", exclusions.affinity);
  add("topologyDomain", exclusions.topology_domain);
  for (const auto& [taint, count] : exclusions.taints) add("taint " + Quoted(taint), count);
  for (const auto& [name, count] : exclusions.resources) add("resource " + Quoted(name), count);
  if (parts.empty()) return "";

  std::sort(parts.begin(), parts.end());
  return fmt::format(". Total nodes: {}; excluded: {}", exclusions.total_nodes,
                     fmt::join(parts, ", "));
}

// --- R18.6 ---------------------------------------------------------------------------------------

std::string MultiLayerText(const Problem& problem, const Tree& tree, std::size_t level) {
  std::string text =
      fmt::format("topology {} doesn't allow to fit", Quoted(problem.cluster.topology_name));
  const std::vector<Path> domains = DomainsOfLevel(tree, level);  // smallest path first
  if (domains.empty()) return text;
  Path best = domains.front();
  for (const Path& path : domains) {
    if (tree.at(path).slices > tree.at(best).slices) best = path;
  }
  for (const SliceConstraint& constraint : problem.demand.constraints) {
    std::int64_t fit = 0;
    for (const Path& path :
         Descendants(tree, best, *problem.cluster.LevelOf(constraint.topology))) {
      fit += tree.at(path).pods / constraint.size;
    }
    text += fmt::format("; {}/{} slice(s) fit on level {}", fit,
                        problem.demand.pods / constraint.size, constraint.topology);
  }
  return text;
}

// --- R18.4 ---------------------------------------------------------------------------------------

std::string SingleLayerText(const Problem& problem, std::int64_t fit, std::int64_t total) {
  const std::string topology = Quoted(problem.cluster.topology_name);
  const std::string unit = problem.demand.slice_size == 1 ? "pod" : "slice";
  if (fit == 0) {
    return fmt::format("topology {} doesn't allow to fit any of {} {}(s)", topology, total, unit);
  }
  return fmt::format("topology {} allows to fit only {} out of {} {}(s)", topology, fit, total,
                     unit);
}

}  // namespace

std::string NotFitText(const Problem& problem, const Tree& tree, std::size_t level,
                       std::int64_t fit, std::int64_t total) {
  const std::string text = problem.demand.inner.empty()  // R6.8
                               ? SingleLayerText(problem, fit, total)
                               : MultiLayerText(problem, tree, level);
  return text + ExclusionSuffix(problem.exclusions);
}

}  // namespace espalier::oracle
