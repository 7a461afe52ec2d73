// Counting several shapes at a time without dividing gives what dividing gives (R5.9, R5.10, R8.1).
#include "host/cuda/shape_batch.hpp"

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

// Random shapes on random capacity, counted both ways.
class BothWays {
 public:
  BothWays(std::int32_t leaves, std::int32_t shapes, std::uint64_t seed)
      : random_(seed), leaves_(leaves), tree_{1, level_begin_, nullptr, nullptr} {
    level_begin_[1] = leaves;
    amounts_.resize(static_cast<std::size_t>(kColumns) * leaves_);
    std::vector<Amount> scale;
    for (int c = 0; c < kColumns; ++c) scale.push_back(AnyRequest(random_));
    for (int c = 0; c < kColumns; ++c) {
      for (std::int32_t l = 0; l < leaves; ++l) {
        amounts_[static_cast<std::size_t>(c * leaves_ + l)] = AnyAmount(random_, scale[c]);
      }
    }
    matches_.resize(static_cast<std::size_t>(leaves / 64 + 1));
    for (std::uint64_t& bits : matches_) bits = random_.Next() | random_.Next();
    for (std::int32_t s = 0; s < shapes; ++s) shapes_.push_back(MakeShape(scale));
  }

  void Compare(const TeamRunner& runner) {
    CountLeavesArgs divide{tree_, {leaves_}, nullptr, static_cast<std::int32_t>(shapes_.size())};
    Counted divided(*this);
    divide.jobs = divided.jobs.data();
    Run(runner, divide);

    Counted multiplied(*this);
    const std::vector<ShapeBatch> batches = MakeBatches(multiplied.jobs);
    Run(runner, CountShapeBatchesArgs{
                    tree_, {leaves_}, batches.data(), static_cast<std::int32_t>(batches.size())});
    for (std::size_t s = 0; s < shapes_.size(); ++s) {
      EXPECT_EQ(multiplied.pods[s], divided.pods[s]);
      EXPECT_EQ(multiplied.slices[s], divided.slices[s]);
      EXPECT_EQ(multiplied.exclusions[s], divided.exclusions[s]);
    }
  }

 private:
  static constexpr int kColumns = 5;
  struct RandomShape {
    std::vector<std::int32_t> columns;
    std::vector<Amount> amounts;
    SliceRule slice;
    bool filtered = false;
  };
  struct Counted {
    explicit Counted(const BothWays& all) {
      const std::size_t count = all.shapes_.size();
      pods.assign(count, std::vector<StoredCount>(static_cast<std::size_t>(all.leaves_), -7));
      slices = pods;
      exclusions.assign(count,
                        std::vector<std::int16_t>(static_cast<std::size_t>(all.leaves_), -7));
      for (std::size_t s = 0; s < count; ++s) {
        const RandomShape& from = all.shapes_[s];
        CountJob& job = jobs.emplace_back();
        job.input.capacity = {all.amounts_.data(), all.leaves_};
        job.input.workers = {static_cast<std::int32_t>(from.columns.size()), from.columns.data(),
                             from.amounts.data()};
        job.input.matches = from.filtered ? all.matches_.data() : nullptr;
        job.input.domain = {0, all.leaves_};
        job.slice = from.slice;
        job.counts.pods = job.counts.pods_with_leader = pods[s].data();
        job.counts.slices = job.counts.slices_with_leader = slices[s].data();
        job.counts.exclusion = exclusions[s].data();
      }
    }
    std::vector<CountJob> jobs;
    std::vector<std::vector<StoredCount>> pods;
    std::vector<std::vector<StoredCount>> slices;
    std::vector<std::vector<std::int16_t>> exclusions;
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
    shape.slice.level = Below(random_, 4) == 0 ? -1 : 0;  // slices may exist above leaves only
    shape.filtered = Below(random_, 2) == 0;
    return shape;
  }

  // Does what PackShapeBatch does, which needs a whole cluster.
  std::vector<ShapeBatch> MakeBatches(const std::vector<CountJob>& jobs) {
    std::vector<ShapeBatch> batches;
    tables_.clear();
    for (std::size_t first = 0; first < jobs.size(); first += kShapesPerBlock) {
      Table& table = *tables_.emplace_back(std::make_unique<Table>());
      ShapeBatch& batch = batches.emplace_back();
      batch.capacity = jobs[first].input.capacity;
      batch.job_count =
          static_cast<std::int32_t>(std::min<std::size_t>(kShapesPerBlock, jobs.size() - first));
      batch.jobs = jobs.data() + first;
      for (std::int32_t c = 0; c < kColumns; ++c) table.columns.push_back(c);
      table.inverse.resize(kColumns * kShapesPerBlock);
      table.entry.resize(kColumns * kShapesPerBlock);
      table.slice_inverse.resize(kShapesPerBlock);
      for (std::size_t s = 0; s < static_cast<std::size_t>(batch.job_count); ++s) {
        const RandomShape& shape = shapes_[first + s];
        for (std::size_t i = 0; i < shape.columns.size(); ++i) {
          const std::size_t at = static_cast<std::size_t>(shape.columns[i]) * kShapesPerBlock + s;
          table.inverse[at] = shape.amounts[i] == 0 ? 0 : Reciprocal<double>(shape.amounts[i]);
          table.entry[at] = static_cast<std::int32_t>(i);
        }
        table.slice_inverse[s] = shape.slice.level == 0 ? Reciprocal<double>(shape.slice.size) : 0;
      }
      batch.column_count = kColumns;
      batch.column = table.columns.data();
      batch.inverse = table.inverse.data();
      batch.entry = table.entry.data();
      batch.slice_inverse = table.slice_inverse.data();
    }
    return batches;
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
    std::vector<std::int32_t> entry;
    std::vector<double> slice_inverse;
  };

  Random random_;
  std::int32_t leaves_;
  std::int32_t level_begin_[2] = {0, 0};
  TreeView tree_;
  std::vector<Amount> amounts_;
  std::vector<std::uint64_t> matches_;
  std::vector<RandomShape> shapes_;
  std::vector<std::unique_ptr<Table>> tables_;
};

TEST(CountShapeBatchesTest, GivesWhatDividingGives) {
  std::uint64_t seed = 0;
  for (const std::int32_t leaves : {1, 2, 63, 64, 65, 1023, 1024, 1025, 2100}) {
    for (const std::int32_t shapes : {1, 7, 8, 9, 20}) {
      BothWays both(leaves, shapes, ++seed);
      RunOnTeams([&](const TeamRunner& runner) {
        SCOPED_TRACE(testing::Message() << leaves << " leaves, " << shapes << " shapes");
        both.Compare(runner);
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
