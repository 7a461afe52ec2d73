// Counting several rows at a time without dividing gives what dividing gives (R5.9, R5.10, R8.1).
#include "host/cuda/count_tiles.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "host/engine/workload_placement.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/cuda/ask.hpp"
#include "tests/cuda/gpu_cluster.hpp"
#include "tests/kernels/teams.hpp"

namespace espalier {
namespace {

using Random = std::mt19937_64;

Amount Below(Random& random, Amount end) {
  return static_cast<Amount>(random() % static_cast<std::uint64_t>(end));
}

// Of every size, small ones as often as those near the limit.
Amount AnyRequest(Random& random) {
  return 1 + Below(random, kExactAmount - 1) / (Amount{1} << Below(random, 52));
}

// Around multiples of the request, where a rounding error would show; some below zero.
Amount AnyAmount(Random& random, Amount request) {
  const Amount most = (kExactAmount - 2) / request;
  const Amount quotient = Below(random, 3) == 0 ? Below(random, 4) : Below(random, most + 1);
  const Amount amount = std::min(quotient, most) * request + Below(random, 3) - 1;
  return Below(random, 20) == 0 ? -amount : amount;
}

TEST(ExactInverseTest, ProductsHaveTheFloorOfTheQuotient) {
  Random random(1);
  for (int i = 0; i < 200000; ++i) {
    const Amount request = AnyRequest(random);
    const Amount amount = std::abs(AnyAmount(random, request));
    const double product = static_cast<double>(amount) * ExactInverse(request);
    ASSERT_EQ(static_cast<Amount>(product), amount / request) << amount << " / " << request;
  }
  EXPECT_EQ(ExactInverse(1), 1.0);
  EXPECT_EQ(ExactInverse(1024), 1.0 / 1024);
}

// Random rows on random capacity, counted both ways.
class BothWays {
 public:
  BothWays(std::int32_t leaves, std::int32_t rows, std::uint64_t seed)
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
    for (std::uint64_t& bits : matches_) bits = random_() | random_();
    for (std::int32_t r = 0; r < rows; ++r) rows_.push_back(MakeRow(scale));
  }

  void Compare(const TeamRunner& runner) {
    CountLeavesArgs divide{tree_, {leaves_}, nullptr, static_cast<std::int32_t>(rows_.size())};
    Counted divided(*this);
    divide.rows = divided.rows.data();
    Run(runner, divide);

    Counted multiplied(*this);
    const std::vector<CountTile> tiles = MakeTiles(multiplied.rows);
    Run(runner,
        CountTilesArgs{tree_, {leaves_}, tiles.data(), static_cast<std::int32_t>(tiles.size())});
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      EXPECT_EQ(multiplied.pods[r], divided.pods[r]);
      EXPECT_EQ(multiplied.slices[r], divided.slices[r]);
      EXPECT_EQ(multiplied.exclusions[r], divided.exclusions[r]);
    }
  }

 private:
  static constexpr int kColumns = 5;
  struct Row {
    std::vector<std::int32_t> columns;
    std::vector<Amount> amounts;
    SliceRule slice;
    bool filtered = false;
  };
  struct Counted {
    explicit Counted(const BothWays& all) {
      const std::size_t count = all.rows_.size();
      pods.assign(count, std::vector<StoredCount>(static_cast<std::size_t>(all.leaves_), -7));
      slices = pods;
      exclusions.assign(count,
                        std::vector<std::int16_t>(static_cast<std::size_t>(all.leaves_), -7));
      for (std::size_t r = 0; r < count; ++r) {
        const Row& from = all.rows_[r];
        CountRow& row = rows.emplace_back();
        row.input.capacity = {all.amounts_.data(), all.leaves_};
        row.input.workers = {static_cast<std::int32_t>(from.columns.size()), from.columns.data(),
                             from.amounts.data()};
        row.input.matches = from.filtered ? all.matches_.data() : nullptr;
        row.input.domain = {0, all.leaves_};
        row.slice = from.slice;
        row.counts.pods = row.counts.pods_with_leader = pods[r].data();
        row.counts.slices = row.counts.slices_with_leader = slices[r].data();
        row.counts.exclusion = exclusions[r].data();
      }
    }
    std::vector<CountRow> rows;
    std::vector<std::vector<StoredCount>> pods;
    std::vector<std::vector<StoredCount>> slices;
    std::vector<std::vector<std::int16_t>> exclusions;
  };

  Row MakeRow(const std::vector<Amount>& scale) {
    Row row;
    for (std::int32_t c = 0; c < kColumns; ++c) {
      if (Below(random_, 3) == 0) continue;
      row.columns.push_back(c);
      const auto column = static_cast<std::size_t>(c);
      row.amounts.push_back(Below(random_, 8) == 0   ? 0
                            : Below(random_, 2) == 0 ? scale[column]
                                                     : AnyRequest(random_));
    }
    if (row.columns.empty()) {
      row.columns.push_back(0);
      row.amounts.push_back(scale[0]);
    }
    row.slice.size = 1 + Below(random_, 4);
    row.slice.level = Below(random_, 4) == 0 ? -1 : 0;  // slices may exist above leaves only
    row.filtered = Below(random_, 2) == 0;
    return row;
  }

  // As PackTile does, which needs a whole cluster.
  std::vector<CountTile> MakeTiles(const std::vector<CountRow>& rows) {
    std::vector<CountTile> tiles;
    tables_.clear();
    for (std::size_t first = 0; first < rows.size(); first += kRowsPerBlock) {
      Table& table = *tables_.emplace_back(std::make_unique<Table>());
      CountTile& tile = tiles.emplace_back();
      tile.capacity = rows[first].input.capacity;
      tile.row_count =
          static_cast<std::int32_t>(std::min<std::size_t>(kRowsPerBlock, rows.size() - first));
      tile.rows = rows.data() + first;
      for (std::int32_t c = 0; c < kColumns; ++c) table.columns.push_back(c);
      table.inverse.resize(kColumns * kRowsPerBlock);
      table.entry.resize(kColumns * kRowsPerBlock);
      table.slice_inverse.resize(kRowsPerBlock);
      for (std::size_t r = 0; r < static_cast<std::size_t>(tile.row_count); ++r) {
        const Row& row = rows_[first + r];
        for (std::size_t i = 0; i < row.columns.size(); ++i) {
          const std::size_t at = static_cast<std::size_t>(row.columns[i]) * kRowsPerBlock + r;
          table.inverse[at] = row.amounts[i] == 0 ? 0 : ExactInverse(row.amounts[i]);
          table.entry[at] = static_cast<std::int32_t>(i);
        }
        table.slice_inverse[r] = row.slice.level == 0 ? ExactInverse(row.slice.size) : 0;
      }
      tile.column_count = kColumns;
      tile.column = table.columns.data();
      tile.inverse = table.inverse.data();
      tile.entry = table.entry.data();
      tile.slice_inverse = table.slice_inverse.data();
    }
    return tiles;
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
  std::vector<Row> rows_;
  std::vector<std::unique_ptr<Table>> tables_;
};

TEST(CountTilesTest, GivesWhatDividingGives) {
  std::uint64_t seed = 0;
  for (const std::int32_t leaves : {1, 2, 63, 64, 65, 1023, 1024, 1025, 2100}) {
    for (const std::int32_t rows : {1, 7, 8, 9, 20}) {
      BothWays both(leaves, rows, ++seed);
      RunOnTeams([&](const TeamRunner& runner) {
        SCOPED_TRACE(testing::Message() << leaves << " leaves, " << rows << " rows");
        both.Compare(runner);
      });
    }
  }
}

// What a tile cannot hold is counted the plain way.
TEST(FitsTileTest, OnlyWithinTheExactRange) {
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
    return job != nullptr && FitsTile(*job);
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
}  // namespace espalier
