// A summary says what the leaves say, and decisions that ask it are those without it.
#include "fallback_cpu/leaf_summary.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/generated/random.hpp"
#include "tests/kernels/queries.hpp"

namespace espalier::leaf_summary_test {
namespace {

constexpr std::int32_t kFirstDomain = 7;
constexpr std::int32_t kSizes[] = {1, 63, 64, 65, 128, 1000};
constexpr std::int64_t kMostPods[] = {0, 1, 8, 62, 63, 64, 1023};

std::vector<StoredCount> RandomPods(Random& random, std::int32_t size, std::int64_t most) {
  std::vector<StoredCount> pods(static_cast<std::size_t>(size));
  for (StoredCount& of_leaf : pods) of_leaf = static_cast<StoredCount>(random.Between(0, most));
  return pods;
}

void ExpectSummaryOf(const LeafSummary& summary, const std::vector<StoredCount>& pods) {
  ASSERT_NE(summary.index(), nullptr);
  const SliceIndex& index = *summary.index();
  const auto size = static_cast<std::int32_t>(pods.size());
  const StoredCount most = *std::ranges::max_element(pods);
  EXPECT_EQ(index.histogram->most(), most);
  Count sum = 0;
  for (const StoredCount of_leaf : pods) sum += of_leaf;
  EXPECT_EQ(index.histogram->Sum(), sum);
  for (StoredCount value = 0; value <= most; ++value) {
    EXPECT_EQ((*index.histogram)[value], std::ranges::count(pods, value)) << value;
  }
  for (Count need = 0; need <= most + 1; ++need) {
    std::int32_t tightest = -1;
    for (std::int32_t i = 0; i < size; ++i) {
      const StoredCount of_leaf = pods[static_cast<std::size_t>(i)];
      if (of_leaf < need) continue;
      if (tightest < 0 || of_leaf < pods[static_cast<std::size_t>(tightest)]) tightest = i;
    }
    EXPECT_EQ(index.FirstTightest(need), tightest) << need;
  }
  // Runs are told apart exactly where leaves hold less than 63.
  const std::int32_t runs = (size + SliceIndex::kRun - 1) / SliceIndex::kRun;
  for (const auto& [least, up_to] :
       std::vector<std::pair<StoredCount, StoredCount>>{{0, 0},
                                                        {0, kMaxStored},
                                                        {1, 2},
                                                        {most, most},
                                                        {most, kMaxStored},
                                                        {most + 1, most + 9},
                                                        {5, 4}}) {
    std::int32_t expected = runs;
    for (std::int32_t run = runs - 1; run >= 0; --run) {
      const std::int32_t end = std::min((run + 1) * SliceIndex::kRun, size);
      for (std::int32_t i = run * SliceIndex::kRun; i < end; ++i) {
        const StoredCount of_leaf = pods[static_cast<std::size_t>(i)];
        if (of_leaf >= least && of_leaf <= up_to) expected = run;
      }
      const std::int32_t found = index.FirstRunWith(run, least, up_to);
      EXPECT_GE(found, run);
      EXPECT_LE(found, expected) << least << " to " << up_to << " from run " << run;
      if (most < 63) {
        EXPECT_EQ(found, expected) << least << " to " << up_to << " from run " << run;
      }
    }
    EXPECT_EQ(index.FirstRunWith(runs, least, up_to), runs);
  }
}

TEST(LeafSummaryTest, FollowsEveryChange) {
  Random random(1);
  for (const std::int32_t size : kSizes) {
    for (const std::int64_t most : kMostPods) {
      std::vector<StoredCount> pods = RandomPods(random, size, most);
      LeafSummary summary;
      EXPECT_EQ(summary.index(), nullptr);
      summary.Reset(pods.data(), size, kFirstDomain);
      ExpectSummaryOf(summary, pods);
      for (int change = 0; change < 6; ++change) {
        const auto begin = static_cast<std::int32_t>(random.Between(0, size - 1));
        const DomainRange leaves{begin, static_cast<std::int32_t>(random.Between(begin, size))};
        summary.BeforeChange(leaves);
        for (std::int32_t i = leaves.begin; i < leaves.end; ++i) {
          pods[static_cast<std::size_t>(i)] = static_cast<StoredCount>(random.Between(0, most));
        }
        summary.AfterChange(leaves);
        if (change % 2 == 0) continue;  // noted together with the next one
        summary.NoteChanges();
        ExpectSummaryOf(summary, pods);
      }
    }
  }
}

TEST(LeafSummaryTest, BoundsWhatARunOfLeavesHolds) {
  Random random(2);
  for (const std::int64_t most : kMostPods) {
    const std::vector<StoredCount> pods = RandomPods(random, 500, most);
    LeafSummary summary;
    summary.Reset(pods.data(), 500, kFirstDomain);
    for (int i = 0; i < 50; ++i) {
      const auto begin = static_cast<std::int32_t>(random.Between(0, 499));
      const auto end = static_cast<std::int32_t>(random.Between(begin + 1, 500));
      const DomainRange domains{kFirstDomain + begin, kFirstDomain + end};
      EXPECT_TRUE(summary.index()->Has(domains));
      const SliceIndex::Top top = summary.index()->TopOf(domains);
      EXPECT_LE(top.most, summary.index()->MostOf(domains));
      std::int32_t with_more_than_next = 0;
      for (std::int32_t leaf = begin; leaf < end; ++leaf) {
        const StoredCount of_leaf = pods[static_cast<std::size_t>(leaf)];
        EXPECT_LE(of_leaf, top.most);
        if (of_leaf > top.next) ++with_more_than_next;
      }
      EXPECT_LE(with_more_than_next, top.leaves);
    }
  }
}

TEST(LeafSummaryTest, IsOfNoUseForHugeCounts) {
  std::vector<StoredCount> pods(100, 3);
  LeafSummary summary;
  summary.Reset(pods.data(), 100, kFirstDomain);
  EXPECT_NE(summary.index(), nullptr);
  summary.BeforeChange({5, 6});
  pods[5] = kMaxStored;
  summary.AfterChange({5, 6});
  summary.NoteChanges();
  EXPECT_EQ(summary.index(), nullptr);
  summary.BeforeChange({5, 6});  // nothing is touched until Reset
  pods[5] = 3;
  summary.AfterChange({5, 6});
  summary.NoteChanges();
  EXPECT_EQ(summary.index(), nullptr);
  summary.Reset(pods.data(), 100, kFirstDomain);
  ExpectSummaryOf(summary, pods);
}

// Rows of racks of hosts, as many as make several runs of leaves that do not end where rows do.
HandTree RandomTree(Random& random) {
  std::vector<std::int32_t> racks, hosts;
  for (int row = 0; row < 9; ++row) {
    racks.push_back(static_cast<std::int32_t>(random.Between(1, 6)));
    for (std::int32_t rack = 0; rack < racks.back(); ++rack) {
      hosts.push_back(static_cast<std::int32_t>(random.Between(1, 20)));
    }
  }
  return HandTree({{static_cast<std::int32_t>(racks.size())}, racks, hosts});
}

TEST(LeafSummaryTest, DecisionsAreThoseWithoutIt) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    const HandTree tree = RandomTree(random);
    const TreeView view = tree.view();
    std::vector<HandLeaf> leaves;
    const std::int64_t most = random.Between(1, i % 7 == 0 ? 90 : 9);
    const bool few = random.Between(0, 1) == 0;
    for (std::int32_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      leaves.emplace_back(few && random.Between(0, 5) != 0 ? 0 : random.Between(0, most));
    }
    // Slices of several pods on one host, or none.
    const std::vector<Layer> layers(i % 3 == 0 ? 1 : 0, Layer{view.lowest(), random.Between(2, 3)});
    HandCounts counts(view, Slices(view, layers), leaves);
    CountsView plain = counts.view();
    if (layers.empty()) {
      plain.slices = plain.pods_with_leader = plain.slices_with_leader = plain.pods;
    }
    const std::int32_t first = view.LevelBegin(view.lowest());
    LeafSummary summary;
    summary.Reset(plain.slices + first, view.leaf_count(), first);
    const TeamRunner without(1);
    const TeamRunner with(summary.index());
    for (int q = 0; q < 6; ++q) {
      const Count size = layers.empty() ? 1 : layers[0].size;
      const Count pods = size * random.Between(1, q == 0 ? 2000 : 40);
      std::vector<PlacementQuery> queries = {Unconstrained(view, pods, layers),
                                             Required(view, view.lowest(), pods % 12, layers),
                                             Preferred(view, view.lowest(), pods, layers),
                                             Balanced(Preferred(view, view.lowest(), pods, layers)),
                                             Balanced(Preferred(view, 1, pods, layers)),
                                             Balanced(Preferred(view, 0, pods, layers))};
      for (PlacementQuery query : queries) {
        query.least_free = query.least_free != (random.Between(0, 2) == 0) && !query.balanced;
        EXPECT_EQ(PlaceOn(with, view, plain, query), PlaceOn(without, view, plain, query));
      }
    }
  }
}

}  // namespace
}  // namespace espalier::leaf_summary_test
