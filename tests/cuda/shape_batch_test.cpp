// Counting several shapes at a time without dividing gives what dividing gives (R5.9, R5.10, R8.1).
#include "host/cuda/shape_batch.hpp"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "host/engine/workload_placement.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/packing/reciprocals.hpp"
#include "tests/cuda/ask.hpp"
#include "tests/cuda/gpu_cluster.hpp"
#include "tests/generated/random.hpp"
#include "tests/kernels/teams.hpp"

namespace espalier::shape_batch_test {
namespace {

Amount Below(Random& random, Amount end) { return random.Between(0, end - 1); }

// Returns a request of any size, a small one as often as one near the limit.
Amount AnyRequest(Random& random) {
  return 1 + Below(random, kExactAmount - 1) / (Amount{1} << Below(random, 52));
}

// Returns an amount around a multiple of the request, where a rounding error would show; some are
// below zero.
Amount AnyAmount(Random& random, Amount request) {
  const Amount most = (kExactAmount - 2) / request;
  const Amount quotient = Below(random, 3) == 0 ? Below(random, 4) : Below(random, most + 1);
  const Amount amount = std::min(quotient, most) * request + Below(random, 3) - 1;
  return Below(random, 20) == 0 ? -amount : amount;
}

TEST(ReciprocalTest, ProductsHaveTheFloorOfTheQuotient) {
  Random random(1);
  for (int i = 0; i < 200000; ++i) {
    const Amount request = AnyRequest(random);
    const Amount amount = std::abs(AnyAmount(random, request));
    const double product = static_cast<double>(amount) * Reciprocal<double>(request);
    ASSERT_EQ(static_cast<Amount>(product), amount / request) << amount << " / " << request;
  }
  EXPECT_EQ(Reciprocal<double>(1), 1.0);
  EXPECT_EQ(Reciprocal<double>(1024), 1.0 / 1024);
}

// Random shapes on random capacity, counted in every way.
class EveryWay {
 public:
  EveryWay(std::int32_t leaves, std::int32_t shapes, std::uint64_t seed)
      : random_(seed), leaves_(leaves), tree_{2, level_begin_, nullptr, nullptr} {
    MakeGroups();
    std::vector<Amount> scale;
    for (int c = 0; c < kColumns; ++c) scale.push_back(AnyRequest(random_));
    MakeLeaves(scale);
    matches_.resize(static_cast<std::size_t>(leaves / 64 + 1));
    for (std::uint64_t& bits : matches_) bits = random_.Next() | random_.Next();
    for (std::int32_t s = 0; s < shapes; ++s) shapes_.push_back(MakeShape(scale));
  }

  void Compare(const TeamRunner& runner) {
    const auto count = static_cast<std::int32_t>(shapes_.size());
    const Items groups{groups_};
    Counted divided(*this);
    Run(runner, CountLeavesArgs{tree_, {leaves_}, divided.shapes.data(), count});
    Run(runner, RollUpArgs{tree_, 0, groups, divided.shapes.data(), count});

    Counted multiplied(*this);
    const std::vector<ShapeBatch> batches = MakeBatches(multiplied.shapes);
    const auto batch_count = static_cast<std::int32_t>(batches.size());
    Run(runner, CountShapeBatchesArgs{tree_, {leaves_}, batches.data(), batch_count});
    Run(runner, RollUpArgs{tree_, 0, groups, multiplied.shapes.data(), count});
    EXPECT_EQ(multiplied.pods, divided.pods);
    EXPECT_EQ(multiplied.slices, divided.slices);

    // Without counts of leaves.
    for (std::size_t s = 0; s < shapes_.size(); ++s) {
      std::fill(divided.pods[s].begin() + groups_, divided.pods[s].end(), kUntouched);
      std::fill(divided.slices[s].begin() + groups_, divided.slices[s].end(), kUntouched);
    }
    Counted by_group(*this);
    Run(runner, CountGroupsArgs{tree_, groups, by_group.shapes.data(), count});
    EXPECT_EQ(by_group.pods, divided.pods);
    EXPECT_EQ(by_group.slices, divided.slices);
    Counted by_batch(*this);
    const std::vector<ShapeBatch> of_groups = MakeBatches(by_batch.shapes);
    Run(runner, CountGroupBatchesArgs{tree_, groups, of_groups.data(), batch_count});
    EXPECT_EQ(by_batch.pods, divided.pods);
    EXPECT_EQ(by_batch.slices, divided.slices);
    Counted by_class(*this);
    std::vector<std::vector<StoredCount>> tables;
    const std::vector<ClassBatch> classes = MakeClassBatches(by_class.shapes, tables);
    const CapacityView of_classes{class_amounts_.data(), kClasses};
    Run(runner, CountClassesArgs{tree_, of_classes, kClasses, classes.data(), batch_count});
    Run(runner, SumClassesArgs{tree_, groups_, class_of_leaf_.data(), classes.data(), batch_count});
    EXPECT_EQ(by_class.pods, divided.pods);
    EXPECT_EQ(by_class.slices, divided.slices);
  }

  // Beside a leader, which takes a part of what the workers request.
  void CompareWithLeader(const TeamRunner& runner) {
    const auto count = static_cast<std::int32_t>(shapes_.size());
    const Items groups{groups_};
    WithLeader by_leaf(*this);
    Run(runner, CountLeavesArgs{tree_, {leaves_}, by_leaf.shapes.data(), count});
    Run(runner, RollUpArgs{tree_, 0, groups, by_leaf.shapes.data(), count});
    WithLeader by_group(*this);
    Run(runner, CountGroupsArgs{tree_, groups, by_group.shapes.data(), count});
    EXPECT_EQ(by_group.OfGroups(), by_leaf.OfGroups());
    WithLeader by_class(*this);
    std::vector<std::vector<StoredCount>> tables;
    std::vector<ClassBatch> classes = MakeClassBatches(by_class.shapes, tables);
    std::vector<std::vector<std::uint8_t>> leaders(
        classes.size(), std::vector<std::uint8_t>(tables.front().size()));
    for (std::size_t i = 0; i < classes.size(); ++i) {
      classes[i].table.leaders = leaders[i].data();
      for (StoredCount** array :
           {&classes[i].table.pods_with_leader, &classes[i].table.slices_with_leader}) {
        *array = tables.emplace_back(tables.front().size(), kUntouched).data();
      }
    }
    const auto batch_count = static_cast<std::int32_t>(classes.size());
    const CapacityView of_classes{class_amounts_.data(), kClasses};
    Run(runner, CountClassesArgs{tree_, of_classes, kClasses, classes.data(), batch_count});
    Run(runner, SumClassesArgs{tree_, groups_, class_of_leaf_.data(), classes.data(), batch_count});
    EXPECT_EQ(by_class.OfGroups(), by_leaf.OfGroups());
  }

 private:
  static constexpr int kColumns = 5;
  static constexpr int kClasses = 200;
  static constexpr StoredCount kUntouched = -7;
  struct RandomShape {
    std::vector<std::int32_t> columns;
    std::vector<Amount> amounts;
    SliceRule slice;
    bool filtered = false;
  };
  struct Counted {
    explicit Counted(const EveryWay& all) {
      const std::size_t count = all.shapes_.size();
      const auto domains = static_cast<std::size_t>(all.tree_.domain_count());
      pods.assign(count, std::vector<StoredCount>(domains, kUntouched));
      slices = pods;
      for (std::size_t s = 0; s < count; ++s) {
        const RandomShape& from = all.shapes_[s];
        ResidentShape& job = *jobs.emplace_back(std::make_unique<ResidentShape>());
        shapes.push_back(&job);
        job.input.capacity = {all.amounts_.data(), all.leaves_};
        job.input.workers = {static_cast<std::int32_t>(from.columns.size()), from.columns.data(),
                             from.amounts.data()};
        job.input.matches = from.filtered ? all.matches_.data() : nullptr;
        job.input.domain = {0, all.leaves_};
        job.slice = from.slice;
        job.counts.pods = job.counts.pods_with_leader = pods[s].data();
        job.counts.slices = job.counts.slices_with_leader = slices[s].data();
      }
    }
    std::vector<std::unique_ptr<ResidentShape>> jobs;
    std::vector<const ResidentShape*> shapes;
    std::vector<std::vector<StoredCount>> pods;
    std::vector<std::vector<StoredCount>> slices;
  };

  // The same jobs with a leader that requests half as much.
  struct WithLeader : Counted {
    explicit WithLeader(const EveryWay& all) : Counted(all), groups(all.groups_) {
      pods_with_leader = slices_with_leader = pods;
      leaders.assign(jobs.size(), std::vector<std::uint8_t>(pods.front().size(), 7));
      for (std::size_t s = 0; s < jobs.size(); ++s) {
        std::vector<Amount>& halves = requests.emplace_back();
        for (const Amount amount : all.shapes_[s].amounts) halves.push_back(amount / 2);
      }
      for (std::size_t s = 0; s < jobs.size(); ++s) {
        LeafInput& input = jobs[s]->input;
        input.leader = {input.workers.size, input.workers.column, requests[s].data()};
        input.leader_on_workers = requests[s].data();
        jobs[s]->counts.pods_with_leader = pods_with_leader[s].data();
        jobs[s]->counts.slices_with_leader = slices_with_leader[s].data();
        jobs[s]->counts.leaders = leaders[s].data();
      }
    }

    // Returns by shape all counts of all groups.
    std::vector<std::vector<StoredCount>> OfGroups() const {
      std::vector<std::vector<StoredCount>> all(jobs.size());
      for (std::size_t s = 0; s < jobs.size(); ++s) {
        const auto add = [&](const auto& of_shape) {
          all[s].insert(all[s].end(), of_shape.begin(), of_shape.begin() + groups);
        };
        add(pods[s]);
        add(slices[s]);
        add(leaders[s]);
        add(pods_with_leader[s]);
        add(slices_with_leader[s]);
      }
      return all;
    }

    std::int32_t groups;
    std::vector<std::vector<StoredCount>> pods_with_leader;
    std::vector<std::vector<StoredCount>> slices_with_leader;
    std::vector<std::vector<std::uint8_t>> leaders;
    std::vector<std::vector<Amount>> requests;
  };

  RandomShape MakeShape(const std::vector<Amount>& scale) {
    RandomShape shape;
    for (std::int32_t c = 0; c < kColumns; ++c) {
      if (Below(random_, 3) == 0) continue;
      shape.columns.push_back(c);
      const auto column = static_cast<std::size_t>(c);
      shape.amounts.push_back(Below(random_, 8) == 0   ? 0
                              : Below(random_, 2) == 0 ? scale[column]
                                                       : AnyRequest(random_));
    }
    if (shape.columns.empty()) {
      shape.columns.push_back(0);
      shape.amounts.push_back(scale[0]);
    }
    shape.slice.size = 1 + Below(random_, 4);
    shape.slice.level = Below(random_, 4) == 0 ? 0 : 1;  // slices may exist above leaves only
    if (Below(random_, 4) == 0) shape.slice.inner_size[1] = 2;
    shape.filtered = Below(random_, 2) == 0;
    return shape;
  }

  // Does what PackShapeBatch does, which needs a whole cluster.
  std::vector<ShapeBatch> MakeBatches(const std::vector<const ResidentShape*>& shapes) {
    std::vector<ShapeBatch> batches;
    tables_.clear();
    for (std::size_t first = 0; first < shapes.size(); first += kShapesPerBlock) {
      Table& table = *tables_.emplace_back(std::make_unique<Table>());
      ShapeBatch& batch = batches.emplace_back();
      batch.capacity = shapes[first]->input.capacity;
      batch.shape_count =
          static_cast<std::int32_t>(std::min<std::size_t>(kShapesPerBlock, shapes.size() - first));
      batch.shapes = shapes.data() + first;
      for (std::int32_t c = 0; c < kColumns; ++c) table.columns.push_back(c);
      table.inverse.resize(kColumns * kShapesPerBlock);
      table.slice_inverse.resize(kShapesPerBlock);
      for (std::size_t s = 0; s < static_cast<std::size_t>(batch.shape_count); ++s) {
        const RandomShape& shape = shapes_[first + s];
        for (std::size_t i = 0; i < shape.columns.size(); ++i) {
          const std::size_t at = static_cast<std::size_t>(shape.columns[i]) * kShapesPerBlock + s;
          table.inverse[at] = shape.amounts[i] == 0 ? 0 : Reciprocal<double>(shape.amounts[i]);
        }
        table.slice_inverse[s] = shape.slice.level == 1 ? Reciprocal<double>(shape.slice.size) : 0;
      }
      batch.column_count = kColumns;
      batch.column = table.columns.data();
      batch.inverse = table.inverse.data();
      batch.slice_inverse = table.slice_inverse.data();
    }
    return batches;
  }

  static std::vector<ClassBatch> MakeClassBatches(const std::vector<const ResidentShape*>& shapes,
                                                  std::vector<std::vector<StoredCount>>& tables) {
    const auto make_table = [&tables] {
      constexpr std::size_t kSize = std::size_t{kClasses} * kShapesPerBlock;
      return tables.emplace_back(std::vector<StoredCount>(kSize, kUntouched)).data();
    };
    std::vector<ClassBatch> batches;
    for (std::size_t first = 0; first < shapes.size(); first += kShapesPerBlock) {
      ClassBatch& batch = batches.emplace_back();
      batch.shapes = shapes.data() + first;
      batch.shape_count =
          static_cast<std::int32_t>(std::min<std::size_t>(kShapesPerBlock, shapes.size() - first));
      batch.table.pods = batch.table.pods_with_leader = make_table();
      batch.table.slices = batch.table.slices_with_leader = make_table();
    }
    return batches;
  }

  // Every leaf is of one of the classes.
  void MakeLeaves(const std::vector<Amount>& scale) {
    for (int c = 0; c < kColumns; ++c) {
      for (int i = 0; i < kClasses; ++i) class_amounts_.push_back(AnyAmount(random_, scale[c]));
    }
    amounts_.resize(static_cast<std::size_t>(kColumns) * leaves_);
    for (std::int32_t l = 0; l < leaves_; ++l) {
      const auto of_leaf = static_cast<std::size_t>(Below(random_, kClasses));
      class_of_leaf_.push_back(static_cast<std::uint8_t>(of_leaf));
      for (std::size_t c = 0; c < kColumns; ++c) {
        amounts_[c * static_cast<std::size_t>(leaves_) + static_cast<std::size_t>(l)] =
            class_amounts_[c * kClasses + of_leaf];
      }
    }
  }

  // Groups of any size, some without leaves.
  void MakeGroups() {
    std::vector<std::int32_t> begins = {0};
    while (begins.back() < leaves_) {
      const auto size = static_cast<std::int32_t>(Below(random_, 20));
      begins.push_back(std::min(begins.back() + size, leaves_));
    }
    groups_ = static_cast<std::int32_t>(begins.size()) - 1;
    for (const std::int32_t begin : begins) child_begin_.push_back(groups_ + begin);
    level_begin_[1] = groups_;
    level_begin_[2] = groups_ + leaves_;
    tree_.child_begin = child_begin_.data();
  }

  template <class Args>
  void Run(const TeamRunner& runner, const Args& args) {
    const Grid grid = GridOf(args);
    for (std::int32_t y = 0; y < grid.y; ++y) {
      for (std::int32_t x = 0; x < grid.x; ++x) {
        runner.Run([&](auto& team) { RunBlock(team, args, Grid{x, y}); });
      }
    }
  }

  struct Table {
    std::vector<std::int32_t> columns;
    std::vector<double> inverse;
    std::vector<double> slice_inverse;
  };

  Random random_;
  std::int32_t leaves_;
  std::int32_t groups_ = 0;
  std::int32_t level_begin_[3] = {0, 0, 0};
  std::vector<std::int32_t> child_begin_;
  TreeView tree_;
  std::vector<Amount> amounts_;
  std::vector<Amount> class_amounts_;  // [column * kClasses + class]
  std::vector<std::uint8_t> class_of_leaf_;
  std::vector<std::uint64_t> matches_;
  std::vector<RandomShape> shapes_;
  std::vector<std::unique_ptr<Table>> tables_;
};

TEST(CountShapeBatchesTest, GivesWhatDividingGives) {
  std::uint64_t seed = 0;
  for (const std::int32_t leaves : {1, 2, 63, 64, 65, 1023, 1024, 1025, 2100}) {
    for (const std::int32_t shapes : {1, 7, 8, 9, 20}) {
      EveryWay ways(leaves, shapes, ++seed);
      RunOnTeams([&](const TeamRunner& runner) {
        SCOPED_TRACE(testing::Message() << leaves << " leaves, " << shapes << " shapes");
        ways.Compare(runner);
      });
    }
  }
}

TEST(CountClassesTest, CountsALeaderAsDividingDoes) {
  std::uint64_t seed = 100;
  for (const std::int32_t leaves : {1, 65, 300}) {
    for (const std::int32_t shapes : {1, 8, 11}) {
      EveryWay ways(leaves, shapes, ++seed);
      RunOnTeams([&](const TeamRunner& runner) {
        SCOPED_TRACE(testing::Message() << leaves << " leaves, " << shapes << " shapes");
        ways.CompareWithLeader(runner);
      });
    }
  }
}

// Jobs that a shape batch cannot hold are counted by division.
TEST(FitsShapeBatchTest, OnlyWithinTheExactRange) {
  const auto fits = [](Amount node, Amount request, bool leader) {
    ClusterStateInput cluster = MakeGpuCluster(1, 1, 2, 1);
    for (Node& n : cluster.nodes) n.allocatable.Set("memory", node);
    std::vector<WorkloadRequest> gangs(1);
    for (const char* name : {"main", "leader"}) {
      PodSetRequest& pods = gangs[0].pod_sets.emplace_back();
      pods.name = name;
      pods.flavor = "gpu";
      pods.count = gangs[0].pod_sets.size() == 1 ? 2 : 1;
      pods.requests.Set("memory", request);
      pods.topology_request.emplace().unconstrained = true;
      pods.group = "g";
      if (!leader) break;
    }
    const ClusterState state = Build(cluster);
    const FeatureGates gates;
    WorkloadPlacement placement(gangs[0], state, gates);
    const PlacementJob* job = placement.NextJob();
    return job != nullptr && FitsShapeBatch(*job);
  };
  EXPECT_TRUE(fits(Amount{2} << 40, 1 << 20, false));
  EXPECT_TRUE(fits(kExactAmount - 1, kExactAmount - 1, false));
  EXPECT_TRUE(fits(100, 0, false));
  EXPECT_FALSE(fits(kExactAmount, 1, false));
  EXPECT_FALSE(fits(1, kExactAmount, false));
  EXPECT_FALSE(fits(100, -1, false));
  EXPECT_FALSE(fits(100, 1, true)) << "a leader";
}

}  // namespace
}  // namespace espalier::shape_batch_test
