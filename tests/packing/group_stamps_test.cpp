// Tests what stamps say of groups on a state and its branches.
#include "host/packing/group_stamps.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/packing/cluster_state.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::group_stamps_test {
namespace {

// Racks of two hosts, more than are looked at together.
ClusterStateInput Racks() {
  return MakeRacks({.racks = 150, .hosts = 2, .has = {{"gpu", 40}, {"pods", 110}}, .digits = 3});
}

std::vector<Amount> AmountsOf(const FlavorState& state, std::size_t group) {
  std::vector<Amount> amounts;
  const DomainRange leaves = state.snapshot().GroupLeaves(static_cast<std::int32_t>(group));
  for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
    amounts.push_back(state.remaining()[static_cast<std::size_t>(
        state.snapshot().FindResource("gpu") * state.snapshot().stride() + leaf)]);
  }
  return amounts;
}

// A state, or what was seen of one that is gone, and its stamps, which outlive it.
struct Member {
  std::optional<ClusterState> state;
  std::shared_ptr<const GroupStamps> stamps;
  Stamp seen_at = 0;
  std::vector<std::vector<Amount>> seen;  // by group
};

void See(Member& member) {
  const FlavorState& flavor = *member.state->Find("tas");
  member.stamps = flavor.SharedStamps();
  member.seen_at = member.stamps->latest();
  member.seen.clear();
  for (std::size_t group = 0; group < member.stamps->of_group().size(); ++group) {
    member.seen.push_back(AmountsOf(flavor, group));
  }
}

// Whatever happens to branches, a group that is not named as different is the same.
TEST(GroupStampsTest, NameEveryGroupThatDiffers) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    std::vector<Member> members(1);
    members[0].state = BuildState(Racks());
    See(members[0]);
    std::int64_t named = 0;
    for (int step = 0; step < 200; ++step) {
      const auto any = [&] {
        return static_cast<std::size_t>(
            random.Between(0, static_cast<std::int64_t>(members.size()) - 1));
      };
      Member& member = members[any()];
      if (member.state) {
        switch (random.Between(0, 5)) {
          case 0: {
            Member next;
            next.state = member.state->Branch();
            See(next);
            members.push_back(std::move(next));
            break;
          }
          case 1:
            if (members.size() > 1 && random.Chance(40)) member.state.reset();
            break;
          case 2:
            See(member);
            break;
          default:
            member.state->AddUsage(
                {{"tas", fmt::format("h{:03}", random.Between(0, 299)), {{"gpu", 1}}}});
        }
      }
      const Member& asked = members[any()];
      if (!asked.state) continue;
      const FlavorState& now = *asked.state->Find("tas");
      for (const Member& before : members) {
        std::vector<bool> differs(before.seen.size());
        now.stamps().ForEachDifference(*before.stamps, before.seen_at, [&](std::size_t group) {
          differs[group] = true;
          ++named;
        });
        for (std::size_t group = 0; group < differs.size(); ++group) {
          if (!differs[group]) {
            ASSERT_EQ(AmountsOf(now, group), before.seen[group]) << "seed " << seed;
          }
        }
      }
    }
    EXPECT_GT(named, 0);
  }
}

TEST(GroupStampsTest, NameNoGroupThatDidNotChange) {
  ClusterState state = BuildState(Racks());
  const auto before = state.Find("tas")->SharedStamps();
  ClusterState branch = state.Branch();
  const auto differences = [&](const ClusterState& now) {
    std::vector<std::size_t> groups;
    now.Find("tas")->stamps().ForEachDifference(
        *before, before->latest(), [&](std::size_t group) { groups.push_back(group); });
    return groups;
  };
  EXPECT_TRUE(differences(branch).empty());
  branch.AddUsage({{"tas", "h004", {{"gpu", 1}}}, {"tas", "h299", {{"gpu", 1}}}});
  EXPECT_EQ(differences(branch), (std::vector<std::size_t>{2, 149}));
  EXPECT_EQ(differences(branch.Branch()), (std::vector<std::size_t>{2, 149}));
  EXPECT_EQ(differences(state.Clone()).size(), 150U) << "nothing is known of a clone";
  EXPECT_EQ(differences(BuildState(Racks())).size(), 150U);
}

// Changes are listed as far back as there is room.
TEST(GroupStampsTest, ListTheLatestChanges) {
  constexpr std::size_t kGroups = 2500;
  Random random(7);
  GroupStamps stamps(kGroups);
  std::vector<Stamp> made = {stamps.latest()};
  std::int64_t listed = 0;
  for (int change = 0; change < 3000; ++change) {
    const Stamp stamp = GroupStamps::Next();
    const std::int64_t touched = random.Between(1, 4);
    const std::int64_t first = random.Between(0, kGroups - 4);
    for (std::int64_t i = 0; i < touched; ++i) {  // neighbours, and others
      stamps.Set(static_cast<std::size_t>(
                     random.Between(0, 1) == 0 ? first + i : random.Between(0, kGroups - 1)),
                 stamp);
    }
    made.push_back(stamp);
    const auto back = static_cast<std::size_t>(random.Pick<std::int64_t>({0, 1, 20, 400, 2900}));
    const Stamp since = made[made.size() - 1 - std::min(back, made.size() - 1)];
    std::vector<std::int32_t> groups;
    const bool known = stamps.ForEachListedSince(since, [&](std::size_t chunk, std::uint64_t of) {
      for (; of != 0; of &= of - 1) {
        groups.push_back(static_cast<std::int32_t>(chunk * GroupStamps::kChunk) +
                         std::countr_zero(of));
      }
    });
    if (!known) {
      EXPECT_TRUE(groups.empty());
      EXPECT_GT(back, 20U) << "a few changes are always listed";
      continue;
    }
    ++listed;
    std::ranges::sort(groups);
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    std::vector<std::int32_t> changed;
    for (std::size_t group = 0; group < kGroups; ++group) {
      if (stamps.of_group()[group] > since) changed.push_back(static_cast<std::int32_t>(group));
    }
    ASSERT_EQ(groups, changed) << "change " << change << ", " << back << " back";
  }
  EXPECT_GT(listed, 1000);
  const GroupStamps copy(stamps);
  const auto fail = [](std::size_t, std::uint64_t) { FAIL(); };
  EXPECT_TRUE(copy.ForEachListedSince(stamps.latest(), fail));
  EXPECT_FALSE(copy.ForEachListedSince(stamps.latest() - 1, fail));
}

TEST(GroupStampsTest, FreezeWithTheirState) {
  auto state = std::make_optional(BuildState(Racks()));
  auto branch = std::make_optional(state->Branch());
  const auto of_state = state->Find("tas")->SharedStamps();
  const auto of_branch = branch->Find("tas")->SharedStamps();
  branch.reset();
  EXPECT_TRUE(of_branch->frozen());
  EXPECT_FALSE(of_state->frozen());
  state.reset();
  EXPECT_TRUE(of_state->frozen());
}

TEST(ClusterStateTest, ABranchCountsItsOwnChangesOnly) {
  ClusterState state = BuildState(Racks());
  state.AddUsage({{"tas", "h001", {{"gpu", 1}}}});
  ClusterState branch = state.Branch();
  branch.AddUsage({{"tas", "h002", {{"gpu", 2}}}});
  state.AddUsage({{"tas", "h001", {{"gpu", 4}}}});
  const auto left = [](const ClusterState& of, std::string_view leaf) {
    return AmountOn(of.Find("tas")->snapshot(), of.Find("tas")->remaining(), leaf, "gpu");
  };
  EXPECT_EQ(left(branch, "h001"), 39);
  EXPECT_EQ(left(branch, "h002"), 38);
  EXPECT_EQ(left(state, "h001"), 35);
  EXPECT_EQ(left(state, "h002"), 40);
  EXPECT_TRUE(branch.Find("tas")->OnlyShrankSince(0));
  branch.RemoveUsage({{"tas", "h002", {{"gpu", 2}}}});
  EXPECT_FALSE(branch.Branch().Find("tas")->OnlyShrankSince(0));
}

// The memory of branches that are gone serves the next ones, whatever was done to them.
TEST(ClusterStateTest, BranchesInUsedMemoryAreLikeNewOnes) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    ClusterState state = BuildState(Racks());
    for (int step = 0; step < 60; ++step) {
      ClusterState branch = state.Branch();
      const FlavorState& flavor = *branch.Find("tas");
      const FlavorState anew(*state.Find("tas"));
      ASSERT_EQ(flavor.remaining(), anew.remaining());
      for (std::int32_t tile = 0; tile < 300 / 16; ++tile) {
        const std::size_t width = anew.tiles().tile_stride();
        ASSERT_TRUE(std::equal(anew.tiles().Tile(tile), anew.tiles().Tile(tile) + width,
                               flavor.tiles().Tile(tile)));
      }
      const std::size_t most = 2 * anew.tiles().tile_stride();
      ASSERT_TRUE(
          std::equal(anew.tiles().Most(), anew.tiles().Most() + most, flavor.tiles().Most()));
      const std::int64_t changes = random.Pick<std::int64_t>({1, 5, 200});
      for (std::int64_t change = 0; change < changes; ++change) {
        branch.AddUsage({{"tas",
                          fmt::format("h{:03}", random.Between(0, 299)),
                          {{"gpu", random.Between(-9, 20)}}}});
      }
      if (random.Chance(50)) state = std::move(branch);
    }
  }
}

}  // namespace
}  // namespace espalier::group_stamps_test
