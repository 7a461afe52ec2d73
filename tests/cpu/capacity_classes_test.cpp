// Classes of leaves on states that change, and on their branches.
#include "fallback_cpu/capacity_classes.hpp"

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/branch_cache.hpp"
#include "host/engine/request_resolution.hpp"
#include "tests/engine/requests.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::capacity_classes_test {
namespace {

constexpr int kHosts = 300;
constexpr int kLabels = 80;  // more than filters are kept

ClusterState Cluster() {
  constexpr int kHostsOfRack = 6;
  ClusterStateInput input = MakeRacks({.racks = kHosts / kHostsOfRack,
                                       .hosts = kHostsOfRack,
                                       .has = {{"gpu", 1'000'000}, {"pods", 100'000}},
                                       .digits = 3});
  for (std::size_t host = 0; host < input.nodes.size(); ++host) {
    for (int label = 0; label < kLabels; ++label) {
      if ((host >> label % 5 & 1) != 0) {
        input.nodes[host].labels.Set(fmt::format("kind-{}", label), "y");
      }
    }
  }
  return WithoutClasses(BuildState(input));
}

// A job whose pods ask for a label; below 0: for none.
PlacementJob JobOn(const ClusterState& cluster, std::int64_t label) {
  const FlavorState& state = *cluster.Find("tas");
  PodSetRequest pod_set = MakePodSet(1, Preferred("rack"));
  pod_set.requests = {{"gpu", 1}};
  if (label >= 0) pod_set.pod_template.node_selector = {{fmt::format("kind-{}", label), "y"}};
  PlacementJob job;
  job.state = &state;
  job.shape =
      MakeShape(*ResolveRequest(pod_set, state.snapshot(), {}), pod_set, nullptr, state.snapshot());
  job.filter = state.snapshot().FilterOf(*job.shape);
  return job;
}

using Contents = std::map<std::vector<Amount>, std::int64_t>;  // leaves by what remains on them

Contents LeafByLeaf(const PlacementJob& job) {
  const FlavorSnapshot& snapshot = job.state->snapshot();
  const auto& amounts = job.simulate_empty ? job.state->free() : job.state->remaining();
  Contents contents;
  for (std::int32_t leaf = 0; leaf < snapshot.leaf_count(); ++leaf) {
    if (job.filter != nullptr && !job.filter->matches.empty() &&
        (job.filter->matches[static_cast<std::size_t>(leaf / 64)] >> (leaf % 64) & 1) == 0) {
      continue;
    }
    std::vector<Amount> row;
    for (std::size_t column = 0; column < snapshot.resources().size(); ++column) {
      row.push_back(amounts[column * static_cast<std::size_t>(snapshot.stride()) +
                            static_cast<std::size_t>(leaf)]);
    }
    ++contents[row];
  }
  return contents;
}

Contents ByClass(const CapacityClasses& classes, const std::vector<std::int32_t>& leaves,
                 const FlavorSnapshot& snapshot) {
  Contents contents;
  for (std::int32_t c = 0; c < classes.count(); ++c) {
    const std::int32_t of_class = leaves[static_cast<std::size_t>(c)];
    if (of_class == 0) continue;
    const CapacityView amounts = classes.RemainingIn(c / CapacityClasses::kTile);
    std::vector<Amount> row;
    for (std::size_t column = 0; column < snapshot.resources().size(); ++column) {
      row.push_back(amounts.At(static_cast<std::int32_t>(column), c % CapacityClasses::kTile));
    }
    std::int64_t& known = contents[row];
    EXPECT_EQ(known, 0) << "two classes of equal leaves";
    known = of_class;
  }
  return contents;
}

class CapacityClassesTest : public ::testing::Test {
 protected:
  void Expect(const PlacementJob& job) {
    const auto entry = cache_.Get(job, nullptr, CapacityClasses::MostBytes(*job.state));
    entry->BeginWithParent(job);
    CapacityClasses::Leaves leaves;
    while (leaves == nullptr) leaves = entry->value.LeavesOf(job);
    ASSERT_EQ(leaves->size(), static_cast<std::size_t>(entry->value.count()));
    ASSERT_EQ(ByClass(entry->value, *leaves, job.state->snapshot()), LeafByLeaf(job));
    most_classes_ = std::max(most_classes_, entry->value.count());
  }

  BranchCache<CapacityClasses> cache_{std::size_t{1} << 26};
  std::int32_t most_classes_ = 0;
};

// Filters come and go; states branch, change and end.
TEST_F(CapacityClassesTest, FollowEveryStateAndFilter) {
  Random random(3);
  std::vector<std::unique_ptr<ClusterState>> states;
  states.push_back(std::make_unique<ClusterState>(Cluster()));
  for (int step = 0; step < 3000; ++step) {
    SCOPED_TRACE(step);
    const auto any = [&] {
      return static_cast<std::size_t>(
          random.Between(0, static_cast<std::int64_t>(states.size()) - 1));
    };
    switch (random.Between(0, 9)) {
      case 0:
        if (states.size() < 5) {
          states.push_back(std::make_unique<ClusterState>(states[any()]->Branch()));
        }
        break;
      case 1:
        if (states.size() > 1) states.erase(states.begin() + static_cast<std::ptrdiff_t>(any()));
        break;
      case 2:
      case 3:
      case 4: {
        const std::int64_t changes = random.Pick<std::int64_t>({1, 3, 3, 200});
        ClusterState& changed = *states[any()];
        for (std::int64_t i = 0; i < changes; ++i) {
          const auto host = static_cast<int>(random.Between(0, kHosts - 1));
          changed.AddUsage({{"tas",
                             fmt::format("h{:03}", host),
                             {{"gpu", random.Between(-1, 1)}, {"pods", random.Between(0, 1)}}}});
        }
        break;
      }
      default: {
        PlacementJob job = JobOn(*states[any()], random.Between(-9, kLabels - 1));
        job.simulate_empty = random.Chance(10);
        Expect(job);
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(most_classes_, 100);
}

TEST_F(CapacityClassesTest, ThoseWithoutLeavesAreDropped) {
  ClusterState cluster = Cluster();
  std::int64_t changes = 0;
  for (int round = 0; round < 40; ++round) {
    for (int host = 0; host < kHosts; ++host) {
      cluster.AddUsage({{"tas", fmt::format("h{:03}", host), {{"gpu", ++changes}}}});
    }
    Expect(JobOn(cluster, round % 3 - 1));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(changes, 10'000);
  EXPECT_LT(most_classes_, 2000);
}

}  // namespace
}  // namespace espalier::capacity_classes_test
