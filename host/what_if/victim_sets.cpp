#include "host/what_if/victim_sets.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "host/engine/workload_placement.hpp"
#include "host/what_if/fit_tracker.hpp"
#include "host/what_if/removal_trial.hpp"
#include "host/what_if/victims_by_flavor.hpp"
#include "kernels/decisions/choose_level.hpp"

namespace espalier {
namespace {

// A trial of whether a request fits while victims, by index, are removed and put back.
struct Trial {
  std::function<void(std::size_t victim, bool removed)> set;
  std::function<bool()> fits;
};

bool IsNoWorse(const VictimSet& a, const VictimSet& b) {
  return a.priority <= b.priority && a.victims.size() <= b.victims.size() &&
         a.accelerators <= b.accelerators;
}

std::int64_t AcceleratorsOf(const Victim& victim) {
  std::int64_t devices = 0;
  for (const FlavorLeafUsage& entry : victim.usage) {
    for (const auto& [resource, amount] : entry.usage) {
      if (resource.find('/') != std::string::npos) devices = SaturatingAdd(devices, amount);
    }
  }
  return devices;
}

// The costs of victims.
struct Prices {
  std::span<const PricedVictim> victims;
  std::vector<std::int64_t> accelerators;

  explicit Prices(std::span<const PricedVictim> priced) : victims(priced) {
    for (const PricedVictim& victim : priced) accelerators.push_back(AcceleratorsOf(victim.victim));
  }

  void Add(std::size_t victim, VictimSet& set) const {
    const std::int64_t priority = victims[victim].priority;
    set.priority = set.victims.empty() ? priority : std::max(set.priority, priority);
    set.accelerators = SaturatingAdd(set.accelerators, accelerators[victim]);
    set.victims.push_back(victim);
  }
};

// Searches one domain: all candidates are gone at first, and each in turn stays or goes for good.
class Search {
 public:
  // `candidates` ascend by what they cost.
  Search(const Prices& prices, std::vector<std::size_t> candidates, Trial trial,
         std::int64_t most_trials, WorkBudget& budget)
      : prices_(prices),
        candidates_(std::move(candidates)),
        trial_(std::move(trial)),
        trials_left_(most_trials),
        budget_(budget) {}

  // Returns false where the request does not even fit without all of them.
  bool Run(DomainVictims& found) {
    for (const std::size_t victim : candidates_) trial_.set(victim, true);
    const bool fits = trial_.fits();
    if (fits) DecideAll();
    for (const std::size_t victim : candidates_) trial_.set(victim, false);
    for (VictimSet& set : sets_) std::ranges::sort(set.victims);
    std::ranges::sort(sets_, {}, [](const VictimSet& set) {
      return std::tuple(set.priority, set.victims.size(), set.accelerators, set.victims);
    });
    found.sets = std::move(sets_);
    found.exact = exact_;
    return fits;
  }

 private:
  // One candidate in turn; those before it are not decided yet.
  struct Turn {
    std::size_t left;  // candidates that are not decided, this one included
    enum { kBegins, kStayed, kWent } at = kBegins;
    std::int64_t priority = 0;  // of those that go, without this one
    std::int64_t accelerators = 0;
  };

  // Decides whether each candidate stays or goes, the last one first. A list of turns, not calls
  // within calls: there may be any number of candidates.
  void DecideAll() {
    std::vector<Turn> turns = {{candidates_.size()}};
    VictimSet gone;  // of the turns; it fits without these and all that are not decided
    while (!turns.empty()) {
      Turn& turn = turns.back();
      if (turn.at == Turn::kBegins && Ends(turn.left, gone)) {
        turns.pop_back();
        continue;
      }
      const std::size_t victim = candidates_[turn.left - 1];
      const Turn next{turn.left - 1};
      switch (turn.at) {
        case Turn::kBegins:
          --trials_left_;
          trial_.set(victim, false);
          turn.at = Turn::kStayed;
          if (trial_.fits()) turns.push_back(next);
          break;
        case Turn::kStayed:
          trial_.set(victim, true);
          turn.priority = gone.priority;
          turn.accelerators = gone.accelerators;
          prices_.Add(victim, gone);
          turn.at = Turn::kWent;
          turns.push_back(next);
          break;
        case Turn::kWent:
          gone.victims.pop_back();
          gone.priority = turn.priority;
          gone.accelerators = turn.accelerators;
          turns.pop_back();
      }
    }
  }

  // Returns whether nothing is to be decided any more: the search is over, or the sets have one
  // that is no worse, or all is decided, and then they have `gone`.
  bool Ends(std::size_t left, const VictimSet& gone) {
    if (!budget_.MayContinue() || (!sets_.empty() && trials_left_ <= 0)) {
      exact_ = false;
      return true;
    }
    if (std::ranges::any_of(sets_, [&](const VictimSet& set) { return IsNoWorse(set, gone); })) {
      return true;
    }
    if (left > 0) return false;
    std::erase_if(sets_, [&](const VictimSet& set) { return IsNoWorse(gone, set); });
    sets_.push_back(gone);
    return true;
  }

  const Prices& prices_;
  std::vector<std::size_t> candidates_;
  Trial trial_;
  std::int64_t trials_left_;
  WorkBudget& budget_;
  std::vector<VictimSet> sets_;
  bool exact_ = true;
};

// Finds the sets of each domain of a level that one job requires.
class VictimsByDomain {
 public:
  VictimsByDomain(const PlacementJob& job, const Backend& backend, const Prices& prices,
                  const VictimsOnFlavor* held)
      : job_(job),
        tree_(job.state->snapshot().tree()),
        tracker_(job, backend),
        prices_(prices),
        held_(held) {}

  void Run(std::int64_t most_trials, VictimSets& found) {
    const std::int32_t level = job_.query.level;
    for (std::int32_t d = tree_.LevelBegin(level); d < tree_.LevelEnd(level); ++d) {
      if (!job_.budget->MayContinue()) return;
      leaves_ = LeavesBelow(tree_, {d, d + 1}, level);
      std::vector<std::size_t> candidates;
      for (std::size_t v = 0; v < prices_.victims.size(); ++v) {
        if (!Inside(v).empty()) candidates.push_back(v);
      }
      SortByCost(prices_, candidates);
      DomainVictims sets{job_.state->snapshot().flavor().name, DomainId(d), {}, true};
      const Trial trial{
          [&](std::size_t victim, bool removed) {
            tracker_.Change(Inside(victim), removed ? 1 : -1);
          },
          [&] { return Sufficient(MakeCandidate(tracker_.counts(), d), job_.query); }};
      if (Search(prices_, std::move(candidates), trial, most_trials, *job_.budget).Run(sets)) {
        found.domains.push_back(std::move(sets));
      }
    }
  }

  // Orders victims by what they cost: priority, then accelerators, then the order given.
  static void SortByCost(const Prices& prices, std::vector<std::size_t>& victims) {
    std::ranges::stable_sort(victims, {}, [&](std::size_t v) {
      return std::tuple(prices.victims[v].priority, prices.accelerators[v]);
    });
  }

 private:
  // Returns what a victim holds in the domain.
  std::span<const LeafAmount> Inside(std::size_t victim) const {
    if (held_ == nullptr) return {};
    const std::span<const LeafAmount> all = held_->Of(victim);
    const auto begin = std::ranges::lower_bound(all, leaves_.begin, {}, &LeafAmount::leaf);
    const auto end = std::ranges::lower_bound(all, leaves_.end, {}, &LeafAmount::leaf);
    return all.subspan(static_cast<std::size_t>(begin - all.begin()),
                       static_cast<std::size_t>(end - begin));
  }

  const PlacementJob& job_;
  TreeView tree_;
  FitTracker tracker_;
  const Prices& prices_;
  const VictimsOnFlavor* held_;
  DomainRange leaves_;
};

// Returns the only job of a request that requires a domain of a level; nullopt for any other
// request.
std::optional<PlacementJob> RequiredJob(const Engine& engine, const ClusterState& state,
                                        const WorkloadRequest& request) {
  if (!IsOneGroup(request)) return std::nullopt;
  WorkloadPlacement placement(request, state, engine.gates(), engine.budget());
  const PlacementJob* job = placement.NextJob();
  if (job == nullptr || job->simulate_empty || !job->query.required || job->query.slices() <= 0 ||
      !FitTracker::CanTrack(*job)) {
    return std::nullopt;
  }
  return *job;
}

}  // namespace

Result<VictimSets> FindVictimSets(const Engine& engine, const ClusterState& state,
                                  const WorkloadRequest& request,
                                  std::span<const PricedVictim> victims, std::int64_t most_trials) {
  std::vector<Victim> plain;
  for (const PricedVictim& victim : victims) plain.push_back(victim.victim);
  const Result<VictimsByFlavor> held = ResolveVictims(state, plain, /*together=*/true);
  if (!held) return tl::unexpected(held.error());
  const Prices prices(victims);
  VictimSets found;
  RemovalTrial whole(engine, state, request, plain, *held);
  found.fits = whole.Fits();
  if (found.fits) return found;
  if (const auto job = RequiredJob(engine, state, request)) {
    const auto on_flavor = std::ranges::find(*held, job->state, &VictimsOnFlavor::flavor);
    VictimsByDomain(*job, engine.backend(), prices,
                    on_flavor == held->end() ? nullptr : &*on_flavor)
        .Run(most_trials, found);
  } else {
    std::vector<std::size_t> candidates(victims.size());
    for (std::size_t v = 0; v < candidates.size(); ++v) candidates[v] = v;
    VictimsByDomain::SortByCost(prices, candidates);
    DomainVictims sets;
    if (!request.pod_sets.empty()) sets.flavor = request.pod_sets.front().flavor;
    const Trial trial{[&](std::size_t victim, bool removed) { whole.Set(victim, removed); },
                      [&] { return whole.Fits(); }};
    if (Search(prices, std::move(candidates), trial, most_trials, engine.budget()).Run(sets)) {
      found.domains.push_back(std::move(sets));
    }
  }
  if (auto check = engine.budget().Check(); !check) return tl::unexpected(check.error());
  return found;
}

}  // namespace espalier
