#include "kernels/decisions/take_pooled.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/decisions/descend.hpp"
#include "kernels/decisions/take.hpp"
#include "tests/generated/random.hpp"
#include "tests/kernels/queries.hpp"

namespace espalier::take_pooled_test {
namespace {

// A tree of two levels whose children hold `pods`, and shares of some of its roots in any order.
struct Pool {
  std::vector<std::vector<std::int32_t>> children;
  std::vector<StoredCount> pods;      // by domain; of roots nothing
  std::vector<std::int32_t> parents;  // roots that were chosen

  CountsView counts() {
    CountsView view;
    view.pods = view.slices = view.pods_with_leader = view.slices_with_leader = pods.data();
    return view;
  }
};

Pool RandomPool(Random& random, std::uint32_t pods_end) {
  const auto roots = static_cast<std::int32_t>(1 + random.Below(6));
  Pool pool;
  pool.children = {{roots}, {}};
  pool.pods.assign(static_cast<std::size_t>(roots), 0);
  for (std::int32_t root = 0; root < roots; ++root) {
    const auto children = static_cast<std::int32_t>(random.Below(40));
    pool.children[1].push_back(children);
    for (std::int32_t c = 0; c < children; ++c) {
      pool.pods.push_back(static_cast<StoredCount>(random.Below(pods_end)));
    }
    if (random.Below(3) > 0) pool.parents.push_back(root);
  }
  random.Shuffle(pool.parents);
  return pool;
}

// Lets half of the children hold the largest count there is.
void HoldTheMost(Random& random, Pool& pool) {
  for (std::size_t d = pool.children[1].size(); d < pool.pods.size(); ++d) {
    if (random.Below(2) == 0) pool.pods[d] = kMaxStored;
  }
}

// Returns what the children of the parents get, by domain.
template <class Descend>
std::vector<HandShare> Taken(const Pool& pool, const Descend& descend) {
  std::vector<Share> current;
  for (const std::int32_t parent : pool.parents) current.push_back({parent, 0, 1});
  std::vector<Share> next(pool.pods.size() + 1);
  ShareList from{current.data(), static_cast<std::int32_t>(current.size())};
  ShareList to{next.data(), 0};
  descend(from, to);
  std::vector<Share> taken(to.items, to.items + to.size);
  std::erase_if(taken, [](const Share& share) { return share.pods == 0; });
  std::ranges::sort(taken, {}, &Share::domain);
  return Shares({taken.data(), static_cast<std::int32_t>(taken.size())});
}

// Returns what going through the children in their order takes.
std::vector<HandShare> TakenInOrder(const Pool& pool, const TreeView& tree,
                                    const CountsView& counts, const PlacementQuery& query) {
  return Taken(pool, [&](ShareList& from, ShareList& to) {
    std::vector<Candidate> list;
    for (std::int32_t i = 0; i < from.size; ++i) {
      const DomainRange children = ChildrenOf(tree, from[i].domain);
      for (std::int32_t d = children.begin; d < children.end; ++d) {
        list.push_back(MakeCandidate(counts, d));
      }
    }
    std::ranges::sort(list, PlainOrder{query.least_free});
    SerialTeam team;
    Take(team, ListOf(list),
         {query.pods, 0, query.slice.size, Unit::kSlices, query.least_free, query.affinity}, to);
  });
}

// R13.2: whatever way a team takes, it is what putting all children in order gives.
TEST(TakePooledTest, R13_2_IsWhatTheOrderedListGives) {
  Random random(21);
  for (int round = 0; round < 300; ++round) {
    Pool pool = RandomPool(random, round % 10 == 0 ? 2000 : 9);
    if (round % 10 == 1) HoldTheMost(random, pool);
    const HandTree tree(pool.children);
    Count held = 0;
    for (const std::int32_t parent : pool.parents) {
      const DomainRange children = ChildrenOf(tree.view(), parent);
      for (std::int32_t d = children.begin; d < children.end; ++d) {
        held += pool.pods[static_cast<std::size_t>(d)];
      }
    }
    PlacementQuery query = Preferred(tree.view(), 0, 1 + random.Below(held + 2));
    query.least_free = round % 2 == 0;
    const StoredCounts source{pool.counts()};
    SCOPED_TRACE(testing::Message() << "round " << round << ", " << query.pods << " pods");
    const std::vector<HandShare> right = TakenInOrder(pool, tree.view(), source.counts, query);
    RunOnTeams([&](const TeamRunner& runner) {
      HandWorkspace workspace(tree.view());
      const std::vector<HandShare> now = Taken(pool, [&](ShareList& from, ShareList& to) {
        std::vector<ShareList> ends(static_cast<std::size_t>(runner.lanes()), to);
        runner.Run([&](auto& team) {
          ShareList mine = to;
          DescendPooled(team, tree.view(), source, query, 0, from, workspace.view(), mine);
          team.sync();
          ends[static_cast<std::size_t>(team.rank())] = mine;
        });
        to = ends.front();
      });
      EXPECT_EQ(now, right);
    });
  }
}

}  // namespace
}  // namespace espalier::take_pooled_test
