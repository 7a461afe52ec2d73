#include "tests/oracle/counts.hpp"

#include <algorithm>

#include "tests/oracle/leaf_matching.hpp"

namespace espalier::oracle {
namespace {

bool IsWithin(const Path& path, const Path& ancestor) {
  return path.size() >= ancestor.size() &&
         std::equal(ancestor.begin(), ancestor.end(), path.begin());
}

// --- R7.1 to R7.9 --------------------------------------------------------------------------------

// Returns whether the leaf is a candidate; counts the reason when it is not, and sets its affinity
// score when it is.
bool FilterLeaf(Problem& problem, const Situation& situation, const Path& path, Counts& counts) {
  Exclusions& exclusions = problem.exclusions;
  ++exclusions.total_nodes;
  if (!problem.cluster.IsHostTopology()) return true;  // R7.1

  const Node& node = problem.cluster.leaves.at(path).node;
  const PodTemplate& pod = problem.demand.pod_template;
  const Match match = MatchNode(node, pod);
  switch (match.verdict) {
    case Match::Verdict::kTaint:
      ++exclusions.taints[match.taint];
      return false;
    case Match::Verdict::kNodeSelector:
      ++exclusions.node_selector;
      return false;
    case Match::Verdict::kAffinity:
      ++exclusions.affinity;
      return false;
    case Match::Verdict::kMatches:
      break;
  }
  if (problem.gates.respect_node_affinity_preferred && !situation.affinity_scores_consumed) {
    counts.affinity = AffinityScore(node, pod.affinity.preferred);
  }
  return true;
}

// --- R7.10 ---------------------------------------------------------------------------------------

bool IsInRequiredDomain(const Path& path, const std::string& required_domain) {
  const std::string id = JoinWithComma(path);  // the path id, not the leaf id
  return required_domain.empty() || id == required_domain || id.starts_with(required_domain + ",");
}

// --- R7.11 ---------------------------------------------------------------------------------------

void CountLeaf(Problem& problem, const Situation& situation, const Path& path, Counts& counts) {
  const Demand& demand = problem.demand;
  Vector remaining = Remaining(problem.cluster, path, situation.simulate_empty, situation.assumed);
  const Fit workers = Fits(demand.worker_requests, remaining);
  counts.pods = workers.pods;
  if (workers.pods == 0) ++problem.exclusions.resources[workers.limiting_resource];
  if (demand.leaders > 0 && Fits(demand.leader_requests, remaining).pods >= 1) {
    counts.leaders = 1;
    remaining = Minus(remaining, demand.leader_requests);
  }
  counts.pods_with_leader = Fits(demand.worker_requests, remaining).pods;
}

// --- R8.2 ----------------------------------------------------------------------------------------

void RollUpInner(Tree& tree, const Problem& problem,
                 const std::map<std::size_t, std::int64_t>& inner, const Path& path) {
  const Demand& demand = problem.demand;
  const auto layer = inner.find(LevelOf(path) + 1);
  const auto whole = [&](std::int64_t pods) {  // p(c) and pw(c)
    return layer == inner.end() ? pods : pods / layer->second * layer->second;
  };

  Counts sum;
  bool has_carrier = false;  // C is not empty
  std::int64_t least_pods_lost = 0;
  std::int64_t least_slices_lost = 0;
  for (const Path& child_path : Children(tree, path)) {
    const Counts& child = tree.at(child_path);
    sum.pods += whole(child.pods);
    sum.slices += child.slices;
    sum.affinity += child.affinity;
    sum.leaders = std::max(sum.leaders, child.leaders);
    if (demand.leaders > 0 && child.leaders == 0) continue;
    const std::int64_t pods_lost = whole(child.pods) - whole(child.pods_with_leader);
    const std::int64_t slices_lost = child.slices - child.slices_with_leader;
    least_pods_lost = has_carrier ? std::min(least_pods_lost, pods_lost) : pods_lost;
    least_slices_lost = has_carrier ? std::min(least_slices_lost, slices_lost) : slices_lost;
    has_carrier = true;
  }
  if (has_carrier) {
    sum.pods_with_leader = sum.pods - least_pods_lost;
    sum.slices_with_leader = sum.slices - least_slices_lost;
  }
  if (LevelOf(path) == demand.slice_level) {
    sum.slices = sum.pods / demand.slice_size;
    sum.slices_with_leader = sum.pods_with_leader / demand.slice_size;
  }
  tree.at(path) = sum;
}

// --- R8.1 ----------------------------------------------------------------------------------------

void RollUpLeaf(Tree& tree, const Problem& problem, const Path& path) {
  Counts& leaf = tree.at(path);
  const bool has_slices = LevelOf(path) == problem.demand.slice_level;
  leaf.slices = has_slices ? leaf.pods / problem.demand.slice_size : 0;
  leaf.slices_with_leader = has_slices ? leaf.pods_with_leader / problem.demand.slice_size : 0;
}

}  // namespace

std::size_t LevelOf(const Path& path) { return path.size() - 1; }

std::vector<Path> DomainsOfLevel(const Tree& tree, std::size_t level) {
  std::vector<Path> domains;
  for (const auto& [path, counts] : tree) {
    if (LevelOf(path) == level) domains.push_back(path);
  }
  return domains;
}

std::vector<Path> Descendants(const Tree& tree, const Path& path, std::size_t level) {
  std::vector<Path> domains;
  for (auto it = tree.find(path); it != tree.end() && IsWithin(it->first, path); ++it) {
    if (LevelOf(it->first) == level) domains.push_back(it->first);
  }
  return domains;
}

std::vector<Path> Children(const Tree& tree, const Path& path) {
  return Descendants(tree, path, LevelOf(path) + 1);
}

std::vector<Path> ChildrenOfAll(const Tree& tree, const std::vector<Path>& paths) {
  std::vector<Path> all;
  for (const Path& path : paths) {
    for (const Path& child : Children(tree, path)) all.push_back(child);
  }
  return all;
}

void RollUp(Tree& tree, const Problem& problem, const std::map<std::size_t, std::int64_t>& inner,
            const Path& path) {
  if (LevelOf(path) == problem.cluster.LowestLevel()) return RollUpLeaf(tree, problem, path);
  for (const Path& child : Children(tree, path)) RollUp(tree, problem, inner, child);
  RollUpInner(tree, problem, inner, path);
}

Tree CountTree(Problem& problem, const Situation& situation) {
  Tree tree;
  for (const auto& [path, leaf] : problem.cluster.leaves) {
    for (std::size_t length = 1; length < path.size(); ++length) {  // R4.7
      tree[Path(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(length))];
    }
    Counts counts;
    if (FilterLeaf(problem, situation, path, counts)) {
      if (IsInRequiredDomain(path, situation.required_domain)) {
        CountLeaf(problem, situation, path, counts);
      } else {
        ++problem.exclusions.topology_domain;
      }
    }
    tree[path] = counts;
  }
  for (const Path& root : DomainsOfLevel(tree, 0)) {
    RollUp(tree, problem, problem.demand.inner, root);
  }
  return tree;
}

}  // namespace espalier::oracle
