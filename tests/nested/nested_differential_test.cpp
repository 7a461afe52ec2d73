// The engine and the oracle decide random nested gangs alike, on one lane and on threads.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/leaf_counter.hpp"
#include "fallback_cpu/nested_cpu.hpp"
#include "fallback_cpu/scratch.hpp"
#include "host/nested/place_nested.hpp"
#include "kernels/nested/place_nested.hpp"
#include "kernels/team/thread_team.hpp"
#include "tests/generated/random.hpp"
#include "tests/nested/nested_generator.hpp"
#include "tests/oracle/nested.hpp"
#include "tests/oracle/oracle_input.hpp"

namespace espalier::differential::nested_differential_test {
namespace {

constexpr std::uint64_t kSeedsPerTest = 1000;
constexpr std::uint64_t kTests = 24;

std::string Text(const NestedAnswer& answer) {
  std::string text = fmt::format("{}\n", Name(answer.status));
  for (const NestedGroupAnswer& group : answer.groups) {
    text += fmt::format("  {} {} {}", group.path.empty() ? "." : group.path, Name(group.status),
                        fmt::join(group.values, "/"));
    if (group.assignment) {
      for (const TopologyDomainAssignment& domain : group.assignment->domains) {
        text += fmt::format(" {}:{}", fmt::join(domain.values, "/"), domain.count);
      }
    }
    text += "\n";
  }
  return text;
}

void Describe(const NestedGroup& group, int depth, std::string& text) {
  text += fmt::format("{:{}}{} x{}/{} req={} pref={} order={} ranks={} at={}", "", depth * 2,
                      group.name, group.min_copies, group.copies, group.required.value_or("-"),
                      group.preferred.value_or("-"), group.in_order, static_cast<int>(group.ranks),
                      group.rank_level.value_or("-"));
  if (!group.running_on.empty()) text += " on=" + group.running_on.front();
  if (group.pods) {
    text += fmt::format(" pods {}..{}", group.pods->min_count, group.pods->max_count);
    for (const auto& [name, amount] : group.pods->requests) {
      text += fmt::format(" {}={}", name, amount);
    }
  }
  text += "\n";
  for (const NestedGroup& child : group.groups) Describe(child, depth + 1, text);
}

std::vector<NestedAnswer> AskEngine(const NestedInstance& instance, NestedRunner& runner) {
  auto state = ClusterState::Build(instance.cluster);
  EXPECT_TRUE(state) << state.error().message;
  return PlaceNested(runner, *state, instance.requests, PlacementMode::kSequential);
}

// Counts what the groups of a tree have, as far as pods of theirs were placed.
void NotePlaced(const NestedGroup& group, bool placed, std::map<std::string, int>& seen) {
  const auto note = [&](const std::string& what, bool has) { seen[what] += has && placed ? 1 : 0; };
  note("required", group.required.has_value());
  note("preferred", group.preferred.has_value());
  note("both", group.required && group.preferred);
  note("copies", group.copies > 1);
  note("optional copies", group.min_copies < group.copies);
  note("in order", group.in_order);
  note("apart", group.apart && group.copies > 1);
  note("running", !group.running_on.empty());
  note("contiguous", group.ranks == RankPlacement::kContiguous);
  note("together", group.ranks == RankPlacement::kTogether);
  note("balanced", group.ranks == RankPlacement::kBalanced);
  note("striped", group.ranks == RankPlacement::kStriped);
  for (const NestedGroup& child : group.groups) NotePlaced(child, placed, seen);
}

class NestedSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(NestedSeeds, EngineAgreesWithOracle) {
  const auto runner = MakeNestedCpuRunner();
  std::map<std::string, int> seen;
  for (std::uint64_t seed = GetParam() * kSeedsPerTest; seed < (GetParam() + 1) * kSeedsPerTest;
       ++seed) {
    const NestedInstance instance = GenerateNested(seed);
    const auto expected = oracle::AnswerNested(oracle::MakeOracleInput(instance.cluster, {}),
                                               instance.requests, instance.profile);
    auto answers = AskEngine(instance, *runner);
    ASSERT_EQ(answers.size(), expected.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      ++seen[std::string(Name(answers[i].status))];
      NotePlaced(instance.requests[i].root, IsPlaced(answers[i].status), seen);
      const std::string reason = std::exchange(answers[i].reason, {});
      std::string tree;
      Describe(instance.requests[i].root, 0, tree);
      ASSERT_EQ(answers[i], expected[i]) << "seed " << seed << " request " << i << " profile "
                                         << static_cast<int>(instance.profile) << "\n"
                                         << tree << "engine: " << reason << " " << Text(answers[i])
                                         << "oracle: " << Text(expected[i]);
    }
  }
  seen["BadRequest"];  // none
  for (const NestedStatus status :
       {NestedStatus::kPlaced, NestedStatus::kPlacedInPart, NestedStatus::kNotNow,
        NestedStatus::kNever, NestedStatus::kUndecided}) {
    EXPECT_GT(seen[std::string(Name(status))], 0) << Name(status);
  }
  for (const auto& [what, times] : seen) {
    EXPECT_EQ(times > 0, what != "BadRequest") << what;
  }
}

// Decides with several threads, as a device would.
class ThreadsRunner final : public NestedRunner {
 public:
  explicit ThreadsRunner(std::int32_t lanes) : lanes_(lanes) {}

  void CountDomains(const PlacementJob& job, CountsStorage& counts) const override {
    CountAllDomains(job, counts);
  }

  NestedResult Run(NestedRun run) override {
    run.workspace = scratch_.Get(run.space.tree, false);
    run.waited_for = nullptr;  // threads could hear different answers
    std::vector<NestedResult> results(static_cast<std::size_t>(lanes_));
    ThreadTeam::Run(lanes_, [&](ThreadTeam& team) {
      results[static_cast<std::size_t>(team.rank())] = espalier::PlaceNested(team, run);
    });
    return results.front();
  }

 private:
  std::int32_t lanes_;
  Scratch scratch_;
};

TEST(NestedOnThreads, ThreeLanesAnswerAsOne) {
  const auto one = MakeNestedCpuRunner();
  ThreadsRunner three(3);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const NestedInstance instance = GenerateNested(seed);
    ASSERT_EQ(AskEngine(instance, *one), AskEngine(instance, three)) << "seed " << seed;
  }
}

// What is kept from request to request makes no difference, whatever rules the one before was
// placed by.
TEST(NestedOneByOne, AnswersAreThoseOfRequestsTogether) {
  const auto runner = MakeNestedCpuRunner();
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    NestedInstance instance = GenerateNested(seed);
    std::vector<NestedRequest>& requests = instance.requests;
    const std::vector<NestedRequest> once = requests;
    requests.insert(requests.end(), once.begin(), once.end());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      requests[i].profile = i % 2 == 0 ? NestedProfile::kEspalier : NestedProfile::kKep5732;
    }
    for (const PlacementMode mode : {PlacementMode::kSequential, PlacementMode::kNominate}) {
      auto together = ClusterState::Build(instance.cluster);
      auto one_by_one = ClusterState::Build(instance.cluster);
      ASSERT_TRUE(together && one_by_one);
      const auto answers = PlaceNested(*runner, *together, requests, mode);
      ASSERT_EQ(answers.size(), requests.size());
      for (std::size_t i = 0; i < requests.size(); ++i) {
        ASSERT_EQ(answers[i], PlaceNested(*runner, *one_by_one, {&requests[i], 1}, mode).front())
            << "seed " << seed << " request " << i;
      }
    }
  }
}

// Nodes that go leave vacant leaves behind, which are no place for anyone: the answers are those on
// the cluster without them.
TEST(NestedOnChangedNodes, AnswersAreThoseOfAStateBuiltAnew) {
  constexpr std::uint64_t kSeeds = 3000;
  const auto runner = MakeNestedCpuRunner();
  int applied = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    NestedInstance instance = GenerateNested(seed);
    auto changed = ClusterState::Build(instance.cluster);
    ASSERT_TRUE(changed);
    Random random(seed);
    const std::vector<Node> before = instance.cluster.nodes;
    StateChange change;
    for (std::size_t n = 0; n < before.size(); ++n) {
      Node& node = instance.cluster.nodes[n];
      if (!random.Chance(25)) continue;
      node.ready = !node.ready;
      const auto& others = instance.cluster.non_tas_usage;
      const auto used = std::ranges::find(others, node.name, &NodeUsage::node);
      const Resources* by_others = used == others.end() ? nullptr : &used->usage;
      change.nodes.push_back({&before[n], &node, by_others, by_others});
    }
    std::map<std::string, Resources> on_leaf;
    for (const FlavorLeafUsage& usage : instance.cluster.tas_usage) {
      AddTo(on_leaf[usage.leaf], usage.usage);
    }
    change.usage_on = [&](std::string_view, std::string_view leaf) {
      const auto found = on_leaf.find(std::string(leaf));
      return found == on_leaf.end() ? nullptr : &found->second;
    };
    if (!changed->CanApply(change)) continue;
    ASSERT_TRUE(changed->Apply(change, true, WorkBudget::Unlimited()));
    ++applied;
    const auto expected = AskEngine(instance, *runner);
    const auto answers =
        PlaceNested(*runner, *changed, instance.requests, PlacementMode::kSequential);
    ASSERT_EQ(answers.size(), expected.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      std::string tree;
      Describe(instance.requests[i].root, 0, tree);
      ASSERT_EQ(answers[i], expected[i])
          << "seed " << seed << " request " << i << " profile "
          << static_cast<int>(instance.profile) << "\n"
          << tree << answers[i].reason << " " << Text(answers[i]) << "anew: " << expected[i].reason
          << " " << Text(expected[i]);
    }
  }
  EXPECT_GT(applied, static_cast<int>(kSeeds) / 4);
}

INSTANTIATE_TEST_SUITE_P(Thousands, NestedSeeds, testing::Range(std::uint64_t{0}, kTests));

}  // namespace
}  // namespace espalier::differential::nested_differential_test
