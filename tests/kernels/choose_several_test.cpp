// Compares the choice of several domains with the rule as it is written: sort all, promote, walk.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/decisions/choose_level.hpp"
#include "tests/generated/random.hpp"
#include "tests/kernels/queries.hpp"

namespace espalier::choose_several_test {
namespace {

constexpr Count kPlaced = -1;

struct Several {
  Count fit = kPlaced;  // of a failure
  std::vector<std::int32_t> domains;
  bool operator==(const Several&) const = default;
};

// A level of domains that can be sorted.
class Level {
 public:
  Level(const TreeView& tree, const CountsView& counts, const PlacementQuery& query,
        std::int32_t level)
      : query_(query) {
    for (std::int32_t d = tree.LevelBegin(level); d < tree.LevelEnd(level); ++d) {
      domains_.push_back(MakeCandidate(counts, d));
    }
  }

  // R10.9 and R10.10.
  Several Choose() {
    Count rest = query_.slices();
    Several chosen;
    std::ranges::sort(domains_, LeaderOrder{query_.least_free});
    if (query_.leaders > 0) {
      PromoteLeader();
      if (domains_.front().leaders == 0) return {0, {}};
      std::size_t first = 0;
      if (!query_.least_free && domains_.front().slices_with_leader >= rest) {
        first = Tightest(0, rest, true);
      }
      chosen.domains.push_back(domains_[first].domain);
      rest -= domains_[first].slices_with_leader;
      domains_.erase(domains_.begin());
    }
    std::ranges::sort(domains_, PlainOrder{query_.least_free});
    for (std::size_t i = 0; i < domains_.size() && rest > 0; ++i) {
      std::size_t at = i;
      if (!query_.least_free && domains_[i].slices >= rest) at = Tightest(i, rest, false);
      chosen.domains.push_back(domains_[at].domain);
      rest -= domains_[at].slices;
    }
    return rest > 0 ? Several{query_.slices() - rest, {}} : chosen;
  }

 private:
  // R11.3.
  void PromoteLeader() {
    if (domains_.size() < 2) return;
    Count available = 0;
    for (const Candidate& domain : domains_) available += domain.slices;
    const auto first = std::ranges::find_if(domains_, [&](const Candidate& domain) {
      return domain.leaders > 0 &&
             available - (domain.slices - domain.slices_with_leader) >= query_.slices();
    });
    if (first != domains_.end()) std::rotate(domains_.begin(), first, first + 1);
  }

  // R9.4 and R9.5.
  std::size_t Tightest(std::size_t from, Count need, bool with_leader) const {
    std::size_t best = from;
    Count least = -1;
    for (std::size_t i = from; i < domains_.size(); ++i) {
      if (query_.affinity && domains_[i].affinity != domains_[from].affinity) break;
      if (with_leader && domains_[i].leaders == 0) continue;
      const Count held = with_leader ? domains_[i].slices_with_leader : domains_[i].slices;
      if (held < need || (least >= 0 && held >= least)) continue;
      least = held;
      best = i;
    }
    return best;
  }

  const PlacementQuery& query_;
  std::vector<Candidate> domains_;
};

// Domains that hold no slice are given nothing at their own level. They are left out, but for those
// in which the leader may come to lie further down.
Several WithoutIdle(Several chosen, const CountsView& counts, bool leaves) {
  std::erase_if(chosen.domains, [&](std::int32_t d) {
    return counts.slices[d] == 0 && (leaves || counts.Leaders(d) == 0);
  });
  return chosen;
}

// The leader's domain comes first and the last one last; between these the order has no meaning.
Several InOneOrder(Several chosen, bool with_leader) {
  const std::ptrdiff_t first = with_leader ? 1 : 0;
  if (std::ssize(chosen.domains) > first + 1) {
    std::sort(chosen.domains.begin() + first, chosen.domains.end() - 1);
  }
  return chosen;
}

class Cluster {
 public:
  Cluster(Random& random, bool with_leader)
      : tree_({{kRoots}, ChildrenOf(random)}), slice_(Slices(tree_.view(), LayersOf(random))) {
    std::vector<HandLeaf> leaves;
    std::vector<std::int64_t> affinity;
    const auto most = random.Below(12) + 1;
    const bool scored = random.Below(3) == 0;
    for (std::int32_t i = 0; i < tree_.view().leaf_count(); ++i) {
      const auto pods = static_cast<Count>(random.Below(most));
      const auto beside = static_cast<Count>(random.Below(static_cast<unsigned>(pods + 1)));
      leaves.push_back(with_leader && random.Below(3) != 0 ? HandLeaf(pods, beside)
                                                           : HandLeaf(pods));
      if (scored) affinity.push_back(static_cast<std::int64_t>(random.Below(3)));
    }
    counts_.emplace_back(tree_.view(), slice_, leaves, affinity, with_leader);
  }

  TreeView tree() const { return tree_.view(); }
  const SliceRule& slice() const { return slice_; }
  CountsView counts() { return counts_.front().view(); }

 private:
  static std::vector<std::int32_t> ChildrenOf(Random& random) {
    std::vector<std::int32_t> children;
    for (int root = 0; root < kRoots; ++root) {
      children.push_back(static_cast<std::int32_t>(random.Below(4)) + 1);
    }
    return children;
  }
  static std::vector<Layer> LayersOf(Random& random) {
    if (random.Below(2) == 0) return {};
    const auto level = static_cast<std::int32_t>(random.Below(2));
    return {{level, static_cast<Count>(random.Below(8)) + 1}};
  }

  static constexpr std::int32_t kRoots = 6;

  HandTree tree_;
  SliceRule slice_;
  std::vector<HandCounts> counts_;
};

TEST(ChooseSeveralTest, R10_9_ChoosesAsSortingDoes) {
  Random random(7);
  int placed = 0;
  int failed = 0;
  int empty = 0;  // domains that were chosen without room for a slice
  for (int again = 0; again < 2500; ++again) {
    SCOPED_TRACE(again);
    const bool with_leader = random.Below(4) != 0;
    Cluster cluster(random, with_leader);
    const TreeView tree = cluster.tree();
    const CountsView counts = cluster.counts();
    const auto level = static_cast<std::int32_t>(random.Below(2));
    if (level > cluster.slice().level) continue;
    PlacementQuery query;
    query.level = level;
    query.slice = cluster.slice();
    query.pods = static_cast<Count>(random.Below(60));
    query.leaders = with_leader ? 1 : 0;
    query.unconstrained = true;
    query.least_free = random.Below(2) == 0;
    query.affinity = counts.affinity != nullptr;

    const Several wanted = Level(tree, counts, query, level).Choose();
    const bool leaves = level == tree.lowest();
    RunOnTeams([&](const TeamRunner& runner) {
      HandWorkspace workspace(tree);
      const Several chosen = runner.Ask([&](auto& team) {
        const Choice choice = ChooseLevel(team, tree, counts, query, workspace.view());
        return choice.status == PlacementStatus::kPlaced ? Several{kPlaced, Domains(choice.domains)}
                                                         : Several{choice.fit, {}};
      });
      if (chosen.domains.size() == 1 &&
          Sufficient(MakeCandidate(counts, chosen.domains[0]), query)) {
        return;  // one was enough
      }
      EXPECT_EQ(InOneOrder(WithoutIdle(chosen, counts, leaves), with_leader),
                InOneOrder(WithoutIdle(wanted, counts, leaves), with_leader));
    });
    if (HasFailure()) return;
    wanted.fit == kPlaced ? ++placed : ++failed;
    for (const std::int32_t d : WithoutIdle(wanted, counts, leaves).domains) {
      if (counts.slices[d] == 0) ++empty;
    }
  }
  EXPECT_GT(placed, 300);
  EXPECT_GT(failed, 300);
  EXPECT_GT(empty, 100);
}

}  // namespace
}  // namespace espalier::choose_several_test
