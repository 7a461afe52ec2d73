// What branches of a state have in common.
#include "host/packing/change_log.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/packing/cluster_state.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/differential/random.hpp"
#include "tests/packing/clusters.hpp"

namespace espalier {
namespace {

const ClusterStateInput kHosts = Gpus({{"r1/a", 40}, {"r2/b", 40}});

std::shared_ptr<const ChangeLog> LogOf(const ClusterState& state) {
  return state.Find("tas")->log();
}

// A state, what happened to it and to those it branched off from, and its log, which outlives it.
struct Member {
  std::optional<ClusterState> state;
  std::vector<int> events;
  std::shared_ptr<const ChangeLog> log;
};

std::size_t Common(const std::vector<int>& a, const std::vector<int>& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

TEST(ChangeLogTest, SharedEntriesAreWhatBothHaveSeen) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    differential::Random random(seed);
    std::vector<Member> members;
    ClusterState first = BuildState(kHosts);
    const auto log = LogOf(first);
    members.push_back({std::move(first), {}, log});
    int event = 0;
    for (int step = 0; step < 60; ++step) {
      Member& member = members[static_cast<std::size_t>(
          random.Between(0, static_cast<std::int64_t>(members.size()) - 1))];
      if (!member.state) continue;
      switch (random.Between(0, 5)) {
        case 0: {
          ClusterState branch = member.state->Branch();
          Member next{std::nullopt, member.events, LogOf(branch)};
          next.state = std::move(branch);
          members.push_back(std::move(next));
          break;
        }
        case 1:
          if (random.Chance(20)) member.state.reset();
          break;
        default:
          member.state->AddUsage({{"tas", random.Pick({"a", "b"}), {{"gpu", 1}}}});
          member.events.push_back(event++);
      }
    }
    for (const Member& a : members) {
      EXPECT_EQ(a.log->ended, !a.state);
      for (const Member& b : members) {
        EXPECT_EQ(SharedEntries(*a.log, *b.log), Common(a.events, b.events)) << "seed " << seed;
      }
    }
  }
}

TEST(ChangeLogTest, ClonesAndOtherStatesAreStrangers) {
  const ClusterState state = BuildState(kHosts);
  EXPECT_EQ(SharedEntries(*LogOf(state), *LogOf(state.Clone())), std::nullopt);
  EXPECT_EQ(SharedEntries(*LogOf(state), *LogOf(BuildState(kHosts))), std::nullopt);
  EXPECT_EQ(SharedEntries(*LogOf(state), *LogOf(state.Branch())), 0u);
}

TEST(ChangeLogTest, ABranchCountsItsOwnChangesOnly) {
  ClusterState state = BuildState(kHosts);
  state.AddUsage({{"tas", "a", {{"gpu", 1}}}});
  ClusterState branch = state.Branch();
  branch.AddUsage({{"tas", "b", {{"gpu", 2}}}});
  state.AddUsage({{"tas", "a", {{"gpu", 4}}}});
  const auto left = [](const ClusterState& of, std::string_view leaf) {
    return AmountOn(of.Find("tas")->snapshot(), of.Find("tas")->remaining(), leaf, "gpu");
  };
  EXPECT_EQ(left(branch, "a"), 39);
  EXPECT_EQ(left(branch, "b"), 38);
  EXPECT_EQ(left(state, "a"), 35);
  EXPECT_EQ(left(state, "b"), 40);
  EXPECT_TRUE(branch.Find("tas")->OnlyShrankSince(0));
  branch.RemoveUsage({{"tas", "b", {{"gpu", 2}}}});
  EXPECT_FALSE(branch.Branch().Find("tas")->OnlyShrankSince(0));
}

// Generation after generation, a log neither grows without end nor is it copied without end.
TEST(ChangeLogTest, LongLogsEnd) {
  ClusterState state = BuildState(kHosts);
  std::size_t anew = 0;
  for (int generation = 0; generation < 200; ++generation) {
    ClusterState next = state.Branch();
    if (!SharedEntries(*LogOf(state), *LogOf(next))) ++anew;
    state = std::move(next);
    EXPECT_LE(LogOf(state)->writers.size(), 64u);
  }
  EXPECT_EQ(anew, 3u);
  for (int change = 0; change < 100; ++change) state.AddUsage({{"tas", "a", {{"gpu", 1}}}});
  EXPECT_EQ(SharedEntries(*LogOf(state), *LogOf(state.Branch())), std::nullopt);
}

}  // namespace
}  // namespace espalier
