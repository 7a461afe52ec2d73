// The collectives of every Team, as kernels/team/team.hpp promises them.
#include "kernels/team/team.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/views.hpp"
#include "tests/generated/random.hpp"
#include "tests/kernels/teams.hpp"

namespace espalier::team_test {
namespace {

using ::testing::ElementsAreArray;

struct Sum {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
};
struct Greater {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a > b;
  }
};

TEST(TeamTest, EveryRankRunsOnce) {
  RunOnTeams([](const TeamRunner& runner) {
    std::vector<std::int32_t> runs(static_cast<std::size_t>(runner.lanes()), 0);
    runner.Run([&](auto& team) {
      EXPECT_EQ(team.size(), runner.lanes());
      ++runs[static_cast<std::size_t>(team.rank())];
    });
    EXPECT_EQ(runs, std::vector<std::int32_t>(runs.size(), 1));
  });
}

TEST(TeamTest, SyncShowsEveryWriteToEveryLane) {
  for (const std::int32_t n : kAwkwardSizes) {
    RunOnTeams([n](const TeamRunner& runner) {
      std::vector<std::int32_t> squares(static_cast<std::size_t>(n));
      const std::int64_t total = runner.Ask([&](auto& team) {
        for (std::int32_t i = team.rank(); i < n; i += team.size()) squares[i] = i * i;
        team.sync();
        return std::accumulate(squares.begin(), squares.end(), std::int64_t{0});
      });
      EXPECT_EQ(total, std::int64_t{n} * (n - 1) * (2 * n - 1) / 6);
    });
  }
}

TEST(TeamTest, BroadcastGivesTheValueOfItsRoot) {
  RunOnTeams([](const TeamRunner& runner) {
    for (std::int32_t root = 0; root < runner.lanes(); ++root) {
      const std::int64_t seen = runner.Ask(
          [root](auto& team) { return team.broadcast(std::int64_t{100} + team.rank(), root); });
      EXPECT_EQ(seen, 100 + root);
    }
  });
}

TEST(TeamTest, AnyIsTrueWhenOneLaneSaysSo) {
  RunOnTeams([](const TeamRunner& runner) {
    for (std::int32_t who = 0; who < runner.lanes(); ++who) {
      EXPECT_TRUE(runner.Ask([who](auto& team) { return team.any(team.rank() == who); }));
    }
    EXPECT_FALSE(runner.Ask([](auto& team) { return team.any(false); }));
  });
}

TEST(TeamTest, ReduceCoversAwkwardSizes) {
  for (const std::int32_t n : kAwkwardSizes) {
    RunOnTeams([n](const TeamRunner& runner) {
      const std::int64_t total = runner.Ask([n](auto& team) {
        std::int64_t mine = 0;
        for (std::int32_t i = team.rank(); i < n; i += team.size()) mine += i;
        return team.reduce(mine, std::int64_t{0}, Sum{});
      });
      EXPECT_EQ(total, std::int64_t{n} * (n - 1) / 2);
    });
  }
}

TEST(TeamTest, ReduceStartsFromItsIdentity) {
  RunOnTeams([](const TeamRunner& runner) {
    const std::int64_t total =
        runner.Ask([](auto& team) { return team.reduce(std::int64_t{0}, std::int64_t{5}, Sum{}); });
    EXPECT_EQ(total, 5);
  });
}

// Stable compaction, tile by tile: what scans are for.
TEST(TeamTest, ExclusiveSumCompactsInOrder) {
  for (const std::int32_t n : kAwkwardSizes) {
    RunOnTeams([n](const TeamRunner& runner) {
      std::vector<std::int32_t> kept(static_cast<std::size_t>(n));
      const std::int32_t size = runner.Ask([&](auto& team) {
        std::int32_t count = 0;
        for (std::int32_t tile = 0; tile < n; tile += team.size()) {
          const std::int32_t i = tile + team.rank();
          const bool keep = i < n && i % 3 == 0;
          const ScanResult<std::int32_t> scan = team.exclusive_sum(keep ? 1 : 0);
          if (keep) kept[static_cast<std::size_t>(count + scan.prefix)] = i;
          count += scan.total;
        }
        team.sync();
        return count;
      });
      kept.resize(static_cast<std::size_t>(size));
      std::vector<std::int32_t> multiples;
      for (std::int32_t i = 0; i < n; i += 3) multiples.push_back(i);
      EXPECT_EQ(kept, multiples);
    });
  }
}

TEST(TeamTest, MinimumFollowsTheGivenOrder) {
  RunOnTeams([](const TeamRunner& runner) {
    const auto least = [&](auto less) {
      return runner.Ask([less](auto& team) { return team.minimum(team.rank() * 7 % 5, less); });
    };
    std::vector<std::int32_t> values;
    for (std::int32_t rank = 0; rank < runner.lanes(); ++rank) values.push_back(rank * 7 % 5);
    EXPECT_EQ(least(std::less<>{}), *std::ranges::min_element(values));
    EXPECT_EQ(least(Greater{}), *std::ranges::max_element(values));
  });
}

// The largest key of a decision fits a lane's slot.
TEST(TeamTest, MinimumTakesWholeCandidates) {
  RunOnTeams([](const TeamRunner& runner) {
    runner.Run([&](auto& team) {
      Candidate mine;
      mine.domain = 10 - team.rank();
      const Candidate least = team.minimum(
          mine, [](const Candidate& a, const Candidate& b) { return a.domain < b.domain; });
      EXPECT_EQ(least.domain, 11 - runner.lanes());
    });
  });
}

TEST(TeamTest, SortOrdersASharedArray) {
  for (const std::int32_t n : kAwkwardSizes) {
    RunOnTeams([n](const TeamRunner& runner) {
      std::vector<std::int32_t> keys(static_cast<std::size_t>(n));
      std::vector<std::int32_t> ascending(keys.size());
      std::iota(ascending.begin(), ascending.end(), 0);
      const std::vector<std::int32_t> seen = runner.Ask([&](auto& team) {
        for (std::int32_t i = team.rank(); i < n; i += team.size()) keys[i] = n - 1 - i;
        team.sync();
        team.sort(keys.data(), n, std::less<>{});
        return keys;
      });
      EXPECT_THAT(seen, ElementsAreArray(ascending));
    });
  }
}

struct Weighed {
  std::uint64_t key[2] = {};
  std::int32_t position = 0;
  std::int64_t weight = 0;
  bool operator==(const Weighed&) const = default;
};
struct ByKeys {
  static constexpr int kKeys = 2;
  std::uint64_t Key(const Weighed& item, int key) const { return item.key[key]; }
  bool operator()(const Weighed& a, const Weighed& b) const {
    return std::tie(a.key[0], a.key[1], a.position) < std::tie(b.key[0], b.key[1], b.position);
  }
};

// Every way of asking for the front of some items.
void ExpectFronts(const std::vector<Weighed>& items) {
  std::vector<Weighed> sorted = items;
  std::erase_if(sorted, [](const Weighed& item) { return item.weight <= 0; });
  std::ranges::sort(sorted, ByKeys{});
  std::int64_t all = 0;
  for (const Weighed& item : sorted) all += item.weight;
  for (const std::int64_t need : {std::int64_t{0}, std::int64_t{1}, all / 3, all, all + 1}) {
    std::vector<Weighed> expected;
    std::int64_t weight = 0;
    for (std::size_t i = 0; i < sorted.size() && weight < need; ++i) {
      expected.push_back(sorted[i]);
      weight += sorted[i].weight;
    }
    RunOnTeams([&](const TeamRunner& runner) {
      std::vector<Weighed> front(items.size() + 1);
      const std::vector<Weighed> seen = runner.Ask([&](auto& team) {
        const SortedFront cut = team.sort_front(
            front.data(), static_cast<std::int32_t>(items.size()),
            [&](std::int32_t i) { return items[static_cast<std::size_t>(i)]; },
            [](const Weighed& item) { return item.weight; }, ByKeys{}, need);
        EXPECT_EQ(cut.weight, weight);
        return std::vector<Weighed>(front.begin(), front.begin() + cut.size);
      });
      if (need <= all) {
        EXPECT_EQ(seen, expected) << items.size() << " items, need " << need;
      }
    });
  }
}

TEST(TeamTest, SortFrontSortsWhatWeighsEnough) {
  for (const std::int32_t n : kAwkwardSizes) {
    std::vector<Weighed> items;
    for (std::int32_t i = 0; i < n; ++i) {  // every fourth without weight
      items.push_back({{0, static_cast<std::uint64_t>(i) * 7919 % 10007}, i, i % 4});
    }
    ExpectFronts(items);
  }
}

TEST(TeamTest, SortFrontComparesAllBitsOfAllKeys) {
  constexpr std::uint64_t kAny = ~std::uint64_t{0};
  struct Ends {
    std::uint64_t first, second;
    std::int64_t weight;
  };
  Random random(5);
  for (const Ends& ends : {Ends{1, kAny, 3}, {kAny, 1, 1 << 30}, {5, 17, 4}, {2, 300, 2}}) {
    std::vector<Weighed> items(50);
    for (std::size_t i = 0; i < items.size(); ++i) {  // the first keys go from below zero to above
      items[i] = {{random.Below(ends.first) - ends.first / 2, random.Below(ends.second)},
                  static_cast<std::int32_t>(i),
                  random.Between(-1, ends.weight)};
    }
    ExpectFronts(items);
  }
}

TEST(TeamTest, FirstTightestIsTheFirstOfTheLeastThatSuffices) {
  for (const std::int32_t n : kAwkwardSizes) {
    for (const bool with_ties : {false, true}) {
      RunOnTeams([&](const TeamRunner& runner) {
        std::vector<std::int32_t> values(static_cast<std::size_t>(n) + 1);
        std::vector<std::int32_t> ties(values.size());
        const auto key = [&](std::int32_t i) {
          const auto at = static_cast<std::size_t>(i);
          return std::tuple(values[at], with_ties ? ties[at] : 0, i);
        };
        for (const std::int32_t need : {0, 3, 11, 12}) {
          const std::int32_t found = runner.Ask([&](auto& team) {
            for (std::int32_t i = team.rank(); i < n; i += team.size()) {
              values[static_cast<std::size_t>(i)] = i * 7 % 12;
              ties[static_cast<std::size_t>(i)] = i * 5 % 3;
            }
            const std::int32_t first =
                team.first_tightest(values.data(), with_ties ? ties.data() : nullptr, n, need);
            team.sync();
            return first;
          });
          std::int32_t expected = -1;
          for (std::int32_t i = 0; i < n; ++i) {
            if (std::get<0>(key(i)) < need) continue;
            if (expected < 0 || key(i) < key(expected)) expected = i;
          }
          EXPECT_EQ(found, expected) << n << " values, need " << need;
        }
      });
    }
  }
}

// Where a team keeps values may depend on kOneLane, what it decides may not.
TEST(TeamTest, OneLaneIsKnownWhenCompiled) {
  RunOnTeams([](const TeamRunner& runner) {
    runner.Run([&](auto& team) {
      EXPECT_EQ(std::remove_reference_t<decltype(team)>::kOneLane, team.size() == 1);
      EXPECT_EQ(team.slice_index(), nullptr);
    });
  });
}

// Every collective is also a barrier: no sync() of its own is needed around one.
TEST(TeamTest, CollectivesAreBarriers) {
  RunOnTeams([](const TeamRunner& runner) {
    std::vector<std::int32_t> turns(static_cast<std::size_t>(runner.lanes()), 0);
    const auto at_turn = [&](std::int32_t turn) {
      return std::ranges::all_of(turns, [turn](std::int32_t t) { return t == turn; });
    };
    runner.Run([&](auto& team) {
      const auto mine = static_cast<std::size_t>(team.rank());
      turns[mine] = 1;
      team.any(false);
      EXPECT_TRUE(at_turn(1));
      team.broadcast(0, 0);
      turns[mine] = 2;
      team.minimum(0, std::less<>{});
      EXPECT_TRUE(at_turn(2));
      team.reduce(std::int64_t{0}, std::int64_t{0}, Sum{});
      turns[mine] = 3;
      team.exclusive_sum(0);
      EXPECT_TRUE(at_turn(3));
      const std::int32_t value = 1;
      team.first_tightest(&value, nullptr, 1, 0);
      turns[mine] = 4;
      team.first_tightest(&value, nullptr, 1, 0);
      EXPECT_TRUE(at_turn(4));
    });
  });
}

}  // namespace
}  // namespace espalier::team_test
