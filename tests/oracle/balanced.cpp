// Section 14: balanced placement.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "tests/oracle/placement.hpp"

namespace espalier::oracle {
namespace {

// --- R14.5 ---------------------------------------------------------------------------------------

struct Greedy {
  bool fits = false;
  std::int64_t count = 0;            // n
  std::optional<Path> last_leader;   // lastL
  std::optional<Path> last_workers;  // last
};

Greedy RunGreedy(const Problem& problem, const Tree& tree, const std::vector<Path>& list) {
  const OrderRules rules = BestFitRulesOf(problem);
  Greedy greedy;
  std::int64_t rest = problem.demand.Slices();
  std::int64_t leaders = problem.demand.leaders;
  std::vector<Path> others = list;
  if (leaders > 0) {
    others = OrderA(tree, rules, list);
    while (leaders > 0 && !others.empty() && tree.at(others.front()).leaders > 0) {
      ++greedy.count;
      greedy.last_leader = others.front();
      leaders -= tree.at(others.front()).leaders;
      rest -= tree.at(others.front()).slices_with_leader;
      others.erase(others.begin());
    }
  }
  for (const Path& path : OrderB(tree, rules, others)) {
    if (rest <= 0 || tree.at(path).slices <= 0) break;
    ++greedy.count;
    greedy.last_workers = path;
    rest -= tree.at(path).slices;
  }
  greedy.fits = leaders <= 0 && rest <= 0;
  return greedy;
}

// --- R14.4 ---------------------------------------------------------------------------------------

std::vector<std::vector<Path>> CandidateSets(const Problem& problem, const Tree& tree) {
  const std::size_t level = problem.demand.requested_level;
  if (level == 0) return {DomainsOfLevel(tree, 0)};
  std::vector<std::vector<Path>> sets;
  for (const Path& parent : DomainsOfLevel(tree, level - 1)) {
    sets.push_back(Children(tree, parent));
  }
  return sets;
}

// --- R14.7 ---------------------------------------------------------------------------------------

void ForSubtree(Tree& tree, const Path& path, const auto& change) {
  change(tree.at(path));
  for (const Path& child : Children(tree, path)) ForSubtree(tree, child, change);
}

void PruneOne(const Problem& problem, Tree& tree, const Path& path, std::int64_t threshold) {
  const Counts counts = tree.at(path);
  if (counts.slices < threshold) {
    ForSubtree(tree, path, [](Counts& domain) {
      const std::int64_t affinity = domain.affinity;
      domain = Counts{};
      domain.affinity = affinity;
    });
  } else if (problem.demand.leaders > 0 && counts.leaders > 0 &&
             counts.slices_with_leader < threshold) {
    ForSubtree(tree, path, [](Counts& domain) {
      domain.pods_with_leader = 0;
      domain.slices_with_leader = 0;
      domain.leaders = 0;
    });
  }
}

void Prune(const Problem& problem, Tree& tree, const std::vector<Path>& set,
           std::int64_t threshold) {
  for (const Path& child : ChildrenOfAll(tree, set)) PruneOne(problem, tree, child, threshold);
  for (const Path& member : set) {
    RollUp(tree, problem, {}, member);  // INNER empty (R8.7)
    PruneOne(problem, tree, member, threshold);
  }
}

// --- R14.6, R14.8 --------------------------------------------------------------------------------

struct Candidate {
  std::int64_t threshold = 0;  // T
  std::int64_t count = 0;      // cnt
  std::vector<Path> set;
  Tree tree;  // pruned
};

struct Thresholds {
  std::int64_t workers = 0;      // T
  std::int64_t with_leader = 0;  // TL
};

Thresholds ThresholdsOf(const Problem& problem, const Tree& tree, const Greedy& greedy) {
  Thresholds thresholds;
  thresholds.workers = problem.demand.Slices() / greedy.count;
  if (greedy.last_leader) {
    thresholds.workers =
        std::min(thresholds.workers, tree.at(*greedy.last_leader).slices_with_leader);
  }
  if (greedy.last_workers) {
    thresholds.workers = std::min(thresholds.workers, tree.at(*greedy.last_workers).slices);
  }
  thresholds.with_leader = thresholds.workers;
  if (problem.demand.leaders > 0 && greedy.last_workers) {
    thresholds.with_leader =
        std::min(thresholds.workers, tree.at(*greedy.last_workers).slices_with_leader);
  }
  return thresholds;
}

// The set pruned at the highest threshold that fits, or nothing. `best` is the threshold of the
// best candidate so far.
OrReason<std::optional<Candidate>> Examine(const Problem& problem, const Tree& original,
                                           const std::vector<Path>& set, std::int64_t best) {
  const Demand& demand = problem.demand;
  const std::vector<Path> low =
      demand.requested_level < demand.slice_level ? ChildrenOfAll(original, set) : set;
  const Greedy greedy = RunGreedy(problem, original, low);
  if (!greedy.fits) return std::nullopt;
  if (greedy.count == 0) {
    return tl::unexpected(std::string(kUndefined) + "balanced placement of no slice");
  }
  const Thresholds thresholds = ThresholdsOf(problem, original, greedy);
  if (thresholds.workers < best) return std::nullopt;

  const auto pruned = [&](std::int64_t threshold) -> std::optional<Candidate> {
    Tree clone = original;
    Prune(problem, clone, set, threshold);
    const Greedy members = RunGreedy(problem, clone, set);
    if (!members.fits) return std::nullopt;
    return Candidate{threshold, members.count, set, clone};
  };
  auto candidate = pruned(thresholds.workers);
  if (candidate) return candidate;
  if (thresholds.with_leader >= thresholds.workers || thresholds.with_leader <= 0 ||
      thresholds.with_leader < best) {
    return std::nullopt;
  }
  return pruned(thresholds.with_leader);
}

// --- R14.9 ---------------------------------------------------------------------------------------

OrReason<std::optional<Candidate>> BestCandidate(const Problem& problem, const Tree& original) {
  std::optional<Candidate> best;
  for (const std::vector<Path>& set : CandidateSets(problem, original)) {
    const auto candidate = Examine(problem, original, set, best ? best->threshold : 0);
    if (!candidate) return tl::unexpected(candidate.error());
    if (!*candidate) continue;
    const Candidate& found = **candidate;
    if (!best || found.threshold > best->threshold ||
        (found.threshold == best->threshold && found.count < best->count)) {
      best = found;
    }
  }
  return best;
}

// --- R14.14, R14.15 ------------------------------------------------------------------------------

// The positive pods of the children, sorted: equal lists have equal entropy.
std::vector<std::int64_t> PodsOfChildren(const Tree& tree, const Path& path) {
  std::vector<std::int64_t> pods;
  for (const Path& child : Children(tree, path)) {
    if (tree.at(child).pods > 0) pods.push_back(tree.at(child).pods);
  }
  std::sort(pods.begin(), pods.end());
  return pods;
}

double Entropy(const std::vector<std::int64_t>& pods) {
  std::int64_t total = 0;
  for (const std::int64_t count : pods) total += count;
  std::vector<double> terms;
  for (const std::int64_t count : pods) {
    const double share = static_cast<double>(count) / static_cast<double>(total);
    terms.push_back(-share * std::log2(share));
  }
  std::sort(terms.begin(), terms.end());
  double entropy = 0;
  for (const double term : terms) entropy += term;
  return entropy;
}

std::vector<Path> EntropyOrder(const Tree& tree, std::vector<Path> list) {
  const auto key = [&](const Path& path) {
    const Counts& counts = tree.at(path);
    return std::make_tuple(-counts.leaders, -counts.slices_with_leader,
                           -Entropy(PodsOfChildren(tree, path)), path);
  };
  std::sort(list.begin(), list.end(),
            [&](const Path& a, const Path& b) { return key(a) < key(b); });
  return list;
}

std::vector<Path> PlainOrder(std::vector<Path> list) {
  std::sort(list.begin(), list.end());
  return list;
}

// --- R14.12 --------------------------------------------------------------------------------------

std::optional<std::vector<Path>> Select(const Problem& problem, const Tree& tree,
                                        const std::vector<Path>& ordered) {
  const Greedy greedy = RunGreedy(problem, tree, ordered);
  if (!greedy.fits) return std::nullopt;
  const auto n = static_cast<std::size_t>(greedy.count);

  // states[i]: (a, b) = leaders and pods still to place -> the i domains used.
  using State = std::pair<std::int64_t, std::int64_t>;
  std::vector<std::map<State, std::vector<Path>>> states(n + 1);
  const Demand& demand = problem.demand;
  states[0][{demand.leaders, demand.Slices() * demand.slice_size}] = {};
  for (const Path& path : ordered) {
    const Counts& counts = tree.at(path);
    for (std::size_t i = n; i >= 1; --i) {
      for (const auto& [state, domains] : states[i - 1]) {
        const auto& [a, b] = state;
        if (a <= 0 && b <= 0) continue;
        std::vector<Path> extended = domains;
        extended.push_back(path);
        if (a > 0 && counts.leaders > 0) {
          states[i].emplace(State{a - counts.leaders, b - counts.pods_with_leader}, extended);
        }
        if (counts.slices > 0) states[i].emplace(State{a, b - counts.pods}, extended);
      }
    }
  }

  std::optional<std::vector<Path>> result;
  for (const auto& [state, domains] : states[n]) {  // b ascending: the last one wastes least
    if (state.first == 0 && state.second <= 0) result = domains;
  }
  return result;
}

// --- R14.16, R14.17 ------------------------------------------------------------------------------

std::optional<std::vector<Path>> PlaceBalanced(const Problem& problem, Tree& tree,
                                               const std::vector<Path>& list,
                                               std::int64_t threshold) {
  auto selected = Select(problem, tree, PlainOrder(list));
  if (!selected) return std::nullopt;  // reason A
  const std::int64_t slices = problem.demand.Slices();
  const auto at_least = static_cast<std::int64_t>(selected->size()) * threshold;
  if (slices < at_least) return std::nullopt;  // reason B

  const std::vector<Path> result = OrderA(tree, BestFitRulesOf(problem), *selected);
  std::int64_t extra = slices - at_least;
  std::int64_t leaders = problem.demand.leaders;
  for (const Path& path : result) {
    Counts& counts = tree.at(path);
    std::int64_t e = 0;
    if (leaders > 0) {
      e = std::min(counts.slices_with_leader - threshold, extra);
      counts.leaders = 1;
      --leaders;
    } else {
      if (extra > 0) e = std::min(counts.slices - threshold, extra);
      counts.leaders = 0;
    }
    counts.slices = threshold + e;
    counts.slices_with_leader = counts.slices;
    counts.pods = counts.slices * problem.demand.slice_size;
    counts.pods_with_leader = counts.pods - counts.leaders;
    extra -= e;
  }
  if (extra > 0 || leaders > 0) return std::nullopt;  // reason C
  return result;
}

}  // namespace

// --- R14.1 to R14.3, R14.11 ----------------------------------------------------------------------

OrReason<std::optional<Chosen>> ChooseBalanced(const Problem& problem, Tree& tree) {
  const Demand& demand = problem.demand;
  if (!problem.gates.balanced_placement || demand.required || demand.unconstrained ||
      tree.empty()) {
    return std::nullopt;
  }
  const auto candidate = BestCandidate(problem, tree);
  if (!candidate) return tl::unexpected(candidate.error());
  if (!*candidate || (*candidate)->threshold == 0) return std::nullopt;

  Tree clone = (*candidate)->tree;
  std::vector<Path> list = (*candidate)->set;
  std::size_t level = demand.requested_level;
  if (demand.requested_level < demand.slice_level) {
    const auto selected = Select(problem, clone, EntropyOrder(clone, list));
    if (!selected) return std::nullopt;  // reason A
    list = ChildrenOfAll(clone, *selected);
    ++level;
  }
  const auto placed = PlaceBalanced(problem, clone, list, (*candidate)->threshold);
  if (!placed) return std::nullopt;
  tree = clone;
  return Chosen{level, *placed};
}

}  // namespace espalier::oracle
