#include "host/engine/booked_leaves.hpp"

#include <algorithm>

#include "host/engine/leaf_input.hpp"
#include "kernels/decisions/balanced.hpp"
#include "kernels/decisions/choose_level.hpp"
#include "kernels/decisions/leaf_counts.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/team/serial_team.hpp"

namespace espalier {
namespace {

// Leaves one check may count; deciding anew is sooner past that.
constexpr std::int32_t kMaxCountedLeaves = 4096;

std::vector<Amount> AmountsOf(const FlavorState& state, std::int32_t leaf) {
  std::vector<Amount> amounts;
  const std::int64_t stride = state.snapshot().stride();
  for (std::size_t c = 0; c < state.snapshot().resources().size(); ++c) {
    amounts.push_back(
        state.remaining()[c * static_cast<std::size_t>(stride) + static_cast<std::size_t>(leaf)]);
  }
  return amounts;
}

// The input of a job's leaf counts, on the host.
class Input {
 public:
  explicit Input(const PlacementJob& job) {
    assumed_.Set(job.assumed);
    input_ = MakeLeafInput(job, assumed_);
    columns_ = input_.assumed.columns;
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // The counts of one leaf if `amounts` remained on it.
  LeafCounts CountWith(std::int32_t leaf, const std::vector<Amount>& amounts) const {
    constexpr std::int32_t kOnlyLeaf = 0;
    LeafInput input = input_;
    input.capacity = {amounts.data(), 1};
    input.assumed = {};
    const auto assumed = std::ranges::lower_bound(assumed_.leaves, leaf);
    if (assumed != assumed_.leaves.end() && *assumed == leaf) {
      input.assumed = {1, &kOnlyLeaf,
                       assumed_.amounts.data() + (assumed - assumed_.leaves.begin()) * columns_,
                       columns_};
    }
    return CountLeaf(input, kOnlyLeaf);
  }

  // Returns the input on the usage there is now.
  const LeafInput& Now() const { return input_; }

 private:
  FlatAssumed assumed_;
  LeafInput input_;
  std::int32_t columns_ = 0;
};

// Returns whether anything that an evaluation reads of a leaf differs.
bool Differ(const LeafCounts& a, const LeafCounts& b) {
  return a.pods != b.pods || a.pods_with_leader != b.pods_with_leader || a.leaders != b.leaders ||
         (a.pods == 0 && a.limiting != b.limiting);
}

// Returns whether the level's set is one domain, the tightest that is sufficient, wherever there
// is one: not with balanced placement, nor where only the top of Order A may answer.
bool TakesTightest(const PlacementJob& job) {
  const PlacementQuery& query = job.query;
  return !MayBeBalanced(query) && !OnlyTopMayAnswer(query, ScoresOf(job) != nullptr) &&
         query.slices() > 0 && query.slices() < kMaxFit;
}

// Counts single domains of a job as they are now.
class Domains {
 public:
  Domains(const PlacementJob& job, const Input& input, const CountsView& counts)
      : job_(job), tree_(job.state->snapshot().tree()), input_(input.Now()), counts_(counts) {}

  bool worth_it() const { return leaves_ <= kMaxCountedLeaves; }

  Candidate Count(std::int32_t level, std::int32_t domain) {
    const DomainRange leaves = LeavesBelow(tree_, {domain, domain + 1}, level);
    leaves_ += leaves.size();
    if (!worth_it()) return {};
    for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
      StoreLeaf(tree_, job_.shape->slice, input_, counts_, leaf);
    }
    SerialTeam team;
    RollUp(team, tree_, job_.shape->slice, counts_, level, {domain, domain + 1});
    return MakeCandidate(counts_, domain);
  }

 private:
  const PlacementJob& job_;
  TreeView tree_;
  LeafInput input_;
  CountsView counts_;
  std::int32_t leaves_ = 0;
};

}  // namespace

void BookedLeaves::Note(const FlavorState& state, LeafId leaf) {
  Leaves& leaves = before_[&state];
  if (!leaves.contains(leaf.value)) leaves.emplace(leaf.value, AmountsOf(state, leaf.value));
}

// An evaluation is a function of the counts of its leaves. Where none of the booked leaves changed
// for this shape, the result is still valid. Else, a job that was given one domain at some level
// because it is the tightest sufficient one there, and none was sufficient at the levels below it
// (R10.3, R10.4, R10.7, R10.8), is given the same again when
//   - no count below that domain changed: it is as sufficient and tight as it was, and what follows
//     is decided below it alone (sections 12 and 13);
//   - of the domains with a leaf that changed, none at the finer levels is sufficient now, and none
//     at its own level is sufficient and comes before it. All others are as they were.
bool BookedLeaves::StillValid(const PlacementJob& job, const PlacementResult& result) {
  const auto booked = before_.find(job.state);
  if (booked == before_.end() || job.simulate_empty) return true;  // R5.1: reads no usage
  const Input input(job);
  std::vector<std::int32_t> changed;
  for (const auto& [leaf, before] : booked->second) {
    if (!Admits(input.Now(), leaf)) continue;
    const LeafCounts now = input.CountWith(leaf, AmountsOf(*job.state, leaf));
    if (Differ(input.CountWith(leaf, before), now)) changed.push_back(leaf);
  }
  if (changed.empty()) return true;
  if (result.shares.empty() || !TakesTightest(job)) return false;

  const FlavorSnapshot& snapshot = job.state->snapshot();
  const auto ancestor = [&](std::int32_t leaf, std::int32_t level) {
    return snapshot.Ancestor(LeafId(leaf), level).value;
  };
  const std::int32_t given = ancestor(result.shares.front().leaf.value, result.level);

  CountsView view = ResizeFor(job, counts_);
  view.affinity = ScoresOf(job);

  Domains recount(job, input, view);
  const Candidate winner = recount.Count(result.level, given);
  if (!recount.worth_it()) return false;
  if (!Sufficient(winner, job.query)) return false;  // one of several, or it changed
  for (std::int32_t level = job.query.level; level >= result.level; --level) {
    std::int32_t last = -1;
    for (const std::int32_t leaf : changed) {
      const std::int32_t domain = ancestor(leaf, level);
      if (domain == last) continue;
      last = domain;
      if (level == result.level && domain == given) return false;
      const Candidate other = recount.Count(level, domain);
      if (!recount.worth_it()) return false;
      if (!Sufficient(other, job.query)) continue;
      if (level > result.level || TightestOrder{}(other, winner)) return false;
    }
  }
  return true;
}

}  // namespace espalier
