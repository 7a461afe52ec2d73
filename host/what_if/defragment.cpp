#include "host/what_if/defragment.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/engine/booked_usage.hpp"
#include "host/model/excerpt.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

Result<std::string> FlavorWithLevel(const ClusterState& state, const DefragmentOptions& options) {
  std::vector<std::string> with_level;
  for (const std::string_view name : state.FlavorNames()) {
    const bool wanted = options.flavor.empty() || options.flavor == name;
    if (wanted && state.Find(name)->snapshot().FindLevel(options.level) >= 0) {
      with_level.emplace_back(name);
    }
  }
  if (with_level.size() == 1) return with_level.front();
  const std::string level = Excerpt(options.level);
  if (with_level.empty()) {
    return BadInput(options.flavor.empty()
                        ? fmt::format("no flavor with a topology has the level {}", level)
                        : fmt::format("flavor {}: there is none of this name with a topology that "
                                      "has the level {}",
                                      Excerpt(options.flavor), level));
  }
  return BadInput(fmt::format("the flavors {} have the level {}; want one of them named",
                              Excerpt(fmt::format("{}", fmt::join(with_level, ", "))), level));
}

class DefragmentPlanner {
 public:
  DefragmentPlanner(ClusterState state, std::vector<PlacedGang> gangs, std::string flavor,
                    const DefragmentOptions& options, const Engine& engine)
      : state_(std::move(state)),
        gangs_(std::move(gangs)),
        options_(options),
        engine_(engine),
        level_(state_.Find(flavor)->snapshot().FindLevel(options.level)) {
    plan_.flavor = std::move(flavor);
    for (const PlacedGang& gang : gangs_) pods_.push_back(PodSlotsOf(gang.usage));
  }

  DefragmentPlan Run() {
    const TreeView tree = snapshot().tree();
    plan_.domains = tree.LevelEnd(level_) - tree.LevelBegin(level_);
    gangs_in_ = GangsByDomain();
    TellStaying();
    plan_.free_already = plan_.domains - std::ssize(gangs_in_);
    for (std::int32_t d = tree.LevelBegin(level_); d < tree.LevelEnd(level_); ++d) {
      if (!gangs_in_.contains(DomainId(d))) Block(DomainId(d), state_);
    }
    for (bool freed = true; freed;) {
      freed = false;
      for (const DomainId next : Untried()) {
        if (!engine_.budget().MayContinue()) return std::move(plan_);
        tried_.insert(next);
        freed = Free(next);
        if (freed) break;  // the others may have other gangs now
        ++plan_.out_of_reach;
      }
    }
    return std::move(plan_);
  }

 private:
  const FlavorSnapshot& snapshot() const { return state_.Find(plan_.flavor)->snapshot(); }

  // Gangs by the domain of the level that they hold something of.
  std::map<DomainId, std::set<std::size_t>> GangsByDomain() const {
    std::map<DomainId, std::set<std::size_t>> gangs;
    for (std::size_t gang = 0; gang < gangs_.size(); ++gang) {
      for (const FlavorLeafUsage& entry : gangs_[gang].usage) {
        if (entry.flavor != plan_.flavor) continue;
        const LeafId leaf = snapshot().FindLeaf(entry.leaf);
        if (leaf.valid()) gangs[snapshot().Ancestor(leaf, level_)].insert(gang);
      }
    }
    return gangs;
  }

  void TellStaying() {
    std::set<std::size_t> staying;
    for (const auto& [domain, gangs] : gangs_in_) {
      for (const std::size_t gang : gangs) {
        if (!gangs_[gang].request) staying.insert(gang);
      }
    }
    for (const std::size_t gang : staying) plan_.staying.push_back(gangs_[gang].key);
  }

  // Those with gangs that were not tried yet: by the number of gangs, then of their pods, then by
  // path.
  std::vector<DomainId> Untried() const {
    std::vector<std::tuple<std::size_t, std::int64_t, DomainId>> by_cost;
    for (const auto& [domain, gangs] : gangs_in_) {
      if (tried_.contains(domain)) continue;
      std::int64_t pods = 0;
      for (const std::size_t gang : gangs) pods += pods_[gang];
      by_cost.emplace_back(gangs.size(), pods, domain);
    }
    std::ranges::sort(by_cost);
    std::vector<DomainId> domains;
    for (const auto& cost : by_cost) domains.push_back(std::get<DomainId>(cost));
    return domains;
  }

  // Takes all that the leaves of a domain have, so that nobody has room there, whoever leaves.
  void Block(DomainId domain, ClusterState& state) const {
    const FlavorState& flavor = *state.Find(plan_.flavor);
    std::vector<FlavorLeafUsage> all;
    const DomainRange leaves =
        LeavesBelow(snapshot().tree(), {domain.value, domain.value + 1}, level_);
    for (LeafId leaf(leaves.begin); leaf.value < leaves.end; ++leaf.value) {
      FlavorLeafUsage& entry =
          all.emplace_back(FlavorLeafUsage{plan_.flavor, snapshot().LeafIdText(leaf), {}});
      const std::vector<std::string>& resources = snapshot().resources();
      for (std::size_t c = 0; c < resources.size(); ++c) {
        const std::size_t at = c * static_cast<std::size_t>(snapshot().stride()) +
                               static_cast<std::size_t>(leaf.value);
        entry.usage.Set(resources[c], std::max(flavor.free()[at], Amount{0}));
      }
    }
    state.AddUsage(all);
  }

  bool CanMove(const std::set<std::size_t>& gangs) const {
    return plan_.moves + gangs.size() <= options_.most_moves &&
           std::ranges::all_of(gangs,
                               [&](std::size_t gang) { return gangs_[gang].request.has_value(); });
  }

  // Moves all gangs of a domain away. Returns false, and nothing has changed, where one has no
  // place, or there are too many.
  bool Free(DomainId domain) {
    const std::set<std::size_t> gangs = gangs_in_.at(domain);
    if (!CanMove(gangs)) return false;
    Result<ClusterState> branch = state_.Branch(engine_.budget());
    if (!branch) return false;
    FreedDomain freed{snapshot().Path(domain), {}};
    std::vector<std::vector<FlavorLeafUsage>> moved;
    Block(domain, *branch);
    for (const std::size_t gang : gangs) {
      branch->ChangeUsage(gangs_[gang].usage, -1, options_.shared);
      const WorkloadRequest& request = *gangs_[gang].request;
      WorkloadAnswer answer = engine_.NominateOne(*branch, request);
      const bool fits = Fits(answer);
      const bool in_part = answer.tree && answer.tree->status == NestedStatus::kPlacedInPart;
      if (engine_.budget().stopped() || !fits || in_part) return false;
      moved.push_back(BookedUsage(request, answer));
      branch->ChangeUsage(moved.back(), 1, options_.shared);
      freed.moves.push_back({gang, std::move(answer)});
    }
    state_ = *std::move(branch);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      gangs_[freed.moves[i].gang].usage = std::move(moved[i]);
    }
    plan_.moves += gangs.size();
    plan_.freed.push_back(std::move(freed));
    gangs_in_ = GangsByDomain();
    return true;
  }

  ClusterState state_;
  std::vector<PlacedGang> gangs_;  // with what they hold once moved so far
  const DefragmentOptions& options_;
  const Engine& engine_;
  std::int32_t level_;
  std::vector<std::int64_t> pods_;                      // of each gang
  std::map<DomainId, std::set<std::size_t>> gangs_in_;  // GangsByDomain
  std::set<DomainId> tried_;
  DefragmentPlan plan_;
};

}  // namespace

Result<DefragmentPlan> PlanDefragment(ClusterState state, std::vector<PlacedGang> gangs,
                                      const DefragmentOptions& options, const Engine& engine) {
  auto flavor = FlavorWithLevel(state, options);
  if (!flavor) return tl::unexpected(flavor.error());
  DefragmentPlan plan =
      DefragmentPlanner(std::move(state), std::move(gangs), *std::move(flavor), options, engine)
          .Run();
  if (auto check = engine.budget().Check(); !check) return tl::unexpected(check.error());
  return plan;
}

}  // namespace espalier
