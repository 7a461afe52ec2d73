// Blocks that decide in order together: what each booked, all that come behind see.
#include "kernels/cuda/in_order_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/decisions/leaf_counts.hpp"
#include "tests/generated/random.hpp"
#include "tests/kernels/teams.hpp"
#include "tests/kernels/trees.hpp"

namespace espalier::in_order_blocks_test {
namespace {

constexpr std::int32_t kColumns = 3;

// Zones of rows of racks of leaves.
HandTree RandomTree(Random& random) {
  std::vector<std::vector<std::int32_t>> children = {{2}, {}, {}, {}};
  for (std::size_t level = 1; level < children.size(); ++level) {
    std::int64_t above = 0;
    for (const std::int32_t count : children[level - 1]) above += count;
    for (std::int64_t i = 0; i < above; ++i) {
      children[level].push_back(static_cast<std::int32_t>(random.Between(1, 5)));
    }
  }
  return HandTree(children);
}

struct Shape {
  PlacementQuery query;
  std::vector<Amount> request = std::vector<Amount>(kColumns);
  std::vector<double> inverse = std::vector<double>(kColumns);
  std::vector<std::uint64_t> matches;
};

Shape RandomShape(Random& random, const TreeView& tree) {
  Shape shape;
  PlacementQuery& query = shape.query;
  query.level = static_cast<std::int32_t>(random.Between(0, tree.lowest()));
  query.required = random.Chance(30);
  query.unconstrained = !query.required && random.Chance(30);
  query.least_free = random.Chance(15);
  const auto slice_level = static_cast<std::int32_t>(random.Between(query.level, tree.lowest()));
  query.slice = random.Chance(70) ? Slices(tree) : Slices(tree, {{slice_level, 2}});
  for (std::size_t c = 0; c < kColumns; ++c) {
    shape.request[c] = random.Between(c == 0 ? 1 : 0, 3);
    if (shape.request[c] > 0) shape.inverse[c] = 1.0 / static_cast<double>(shape.request[c]);
    // As host/packing/reciprocals.hpp has it.
    if (shape.request[c] == 3) shape.inverse[c] = 0x1.5555555555556p-2;
  }
  for (std::int32_t i = 0; i < tree.leaf_count() && random.Chance(50); i += 64) {
    shape.matches.resize(static_cast<std::size_t>(tree.leaf_count()) / 64 + 1);
    for (std::uint64_t& word : shape.matches) word = random.Next() | random.Next();
  }
  return shape;
}

// The answers of a sequence, row by row.
struct Answers {
  explicit Answers(std::size_t rows, std::size_t shares, std::size_t kinds)
      : status(rows),
        level(rows),
        share_count(rows),
        fit(rows),
        total(rows),
        layer_fits(rows),
        shares(shares),
        exclusions(rows * kinds) {}

  AnswerColumns View() {
    AnswerColumns columns;
    columns.status = status.data();
    columns.level = level.data();
    columns.share_count = share_count.data();
    columns.fit = fit.data();
    columns.total = total.data();
    columns.layer_fits = layer_fits.data();
    columns.layers = 1;
    return columns;
  }

  std::vector<PlacementStatus> status;
  std::vector<std::int8_t> level;
  std::vector<std::int32_t> share_count;
  std::vector<Count> fit;
  std::vector<Count> total;
  std::vector<Count> layer_fits;
  std::vector<Share> shares;
  std::vector<std::int64_t> exclusions;
};

class InOrderBlocks : public testing::TestWithParam<std::int32_t> {
 protected:
  void Make(std::uint64_t seed) {
    Random random(seed);
    tree_.emplace(RandomTree(random));
    const TreeView tree = tree_->view();
    leaves_ = tree.leaf_count();
    for (std::int32_t i = 0; i < kColumns * leaves_; ++i) {
      amounts_.push_back(random.Between(-1, random.Chance(50) ? 12 : 4));
    }
    for (int i = 0; i < 6; ++i) shapes_.push_back(RandomShape(random, tree));
    std::int64_t shares = 0;
    for (int i = 0; i < 80; ++i) {
      const auto shape = static_cast<std::int32_t>(random.Below(shapes_.size()));
      Count pods = random.Between(0, random.Chance(20) ? 60 : 8);
      pods -= pods % shapes_[static_cast<std::size_t>(shape)].query.slice.size;
      jobs_.push_back({pods, static_cast<std::int32_t>(shares), shape});
      shares += leaves_;
    }
    share_room_ = static_cast<std::size_t>(shares);
  }

  LeafInput InputOf(const Shape& shape, const CapacityView& capacity) const {
    static constexpr std::int32_t kAll[kColumns] = {0, 1, 2};
    LeafInput input;
    input.capacity = capacity;
    input.workers = {kColumns, kAll, shape.request.data()};
    input.matches = shape.matches.empty() ? nullptr : shape.matches.data();
    input.domain = {0, leaves_};
    return input;
  }

  // One after the other, on one lane and counts of all.
  Answers OneByOne() {
    const TreeView tree = tree_->view();
    std::vector<Amount> amounts = amounts_;
    Answers answers(jobs_.size(), share_room_, kColumns + 1);
    HandWorkspace workspace(tree);
    SerialTeam team;
    for (std::size_t row = 0; row < jobs_.size(); ++row) {
      const Shape& shape = shapes_[static_cast<std::size_t>(jobs_[row].shape)];
      PlacementQuery query = shape.query;
      query.pods = jobs_[row].pods;
      const LeafInput input = InputOf(shape, {amounts.data(), leaves_});
      HandCounts counts(tree);
      CountsView view = counts.view();
      if (query.slice.IsOnePod(tree.lowest())) view.slices = view.slices_with_leader = view.pods;
      CountLeaves(team, tree, query.slice, input, view);
      RollUp(team, tree, query.slice, view, 0, {0, tree.LevelEnd(0)});
      const auto outcome = Place(team, tree, view, query, workspace.view());
      Share* const shares = answers.shares.data() + jobs_[row].share_begin;
      const std::int32_t count = StoreShares(team, tree, outcome.shares, shares, leaves_);
      WriteRow(outcome, count, answers.View(), static_cast<std::int32_t>(row));
      if (outcome.status == PlacementStatus::kDoesNotFit) {
        std::int64_t* const excluded = answers.exclusions.data() + row * (kColumns + 1);
        CountExclusions(team, input, {0, leaves_}, {excluded + 1, excluded, kColumns});
      }
      for (std::int32_t i = 0; i < count; ++i) {
        for (std::size_t c = 0; c < kColumns; ++c) {
          amounts[c * static_cast<std::size_t>(leaves_) +
                  static_cast<std::size_t>(shares[i].domain)] -= shares[i].pods * shape.request[c];
        }
      }
    }
    return answers;
  }

  Answers Together(std::int32_t unit_level, std::int32_t blocks, std::int32_t lanes) {
    const TreeView tree = tree_->view();
    Answers answers(jobs_.size(), share_room_, kColumns + 1);
    std::vector<InOrderShape> shapes;
    for (const Shape& shape : shapes_) {
      InOrderShape& packed = shapes.emplace_back();
      packed.query = shape.query;
      packed.input = InputOf(shape, {});
      packed.inverse = shape.inverse.data();
      const bool sliced = shape.query.slice.level == tree.lowest();
      packed.slice_inverse = sliced ? 1.0 / static_cast<double>(shape.query.slice.size) : 0;
    }
    const std::int32_t units = tree.LevelEnd(unit_level) - tree.LevelBegin(unit_level);
    std::vector<std::int32_t> unit_begin;
    for (std::int32_t block = 0; block <= blocks; ++block) {
      unit_begin.push_back(units * block / blocks);
    }
    HandWorkspace workspace(tree);
    const Workspace of_first = workspace.view();
    PlacementQuery query;
    std::vector<StoredCount> pods(static_cast<std::size_t>(tree.domain_count()));
    std::vector<StoredCount> slices(pods.size());
    std::vector<std::uint64_t> words(static_cast<std::size_t>(GridExchange::Words(blocks)));
    DecideInOrderArgs args;
    args.tree = tree;
    args.amounts = amounts_.data();
    args.stride = leaves_;
    args.unit_level = unit_level;
    args.unit_begin = unit_begin.data();
    args.block_count = blocks;
    args.extent = {kColumns, leaves_, tree.domain_count(), leaves_};
    args.shapes = shapes.data();
    args.jobs = jobs_.data();
    args.job_count = static_cast<std::int32_t>(jobs_.size());
    args.pods = pods.data();
    args.slices = slices.data();
    args.workspace = &of_first;
    args.query = &query;
    args.words = words.data();
    args.answers = answers.View();
    args.shares = answers.shares.data();
    args.exclusions = answers.exclusions.data();
    args.kinds = kColumns + 1;
    const TeamRunner runner(lanes);
    std::vector<std::jthread> threads;
    for (std::int32_t block = blocks; block-- > 0;) {
      threads.emplace_back([&, block] {
        std::vector<std::int64_t> memory(InOrderMemory(args.extent, nullptr).bytes / 8);
        runner.Run([&](auto& team) {
          RunBlock(team, args, Grid{block, 0}, reinterpret_cast<std::byte*>(memory.data()));
        });
      });
    }
    threads.clear();
    return answers;
  }

  void ExpectSame(const Answers& right, const Answers& answers) const {
    EXPECT_EQ(answers.status, right.status);
    EXPECT_EQ(answers.level, right.level);
    EXPECT_EQ(answers.share_count, right.share_count);
    EXPECT_EQ(answers.exclusions, right.exclusions);
    for (std::size_t row = 0; row < jobs_.size(); ++row) {
      SCOPED_TRACE(row);
      if (right.status[row] != PlacementStatus::kPlaced) {
        EXPECT_EQ(answers.fit[row], right.fit[row]);
        EXPECT_EQ(answers.layer_fits[row], right.layer_fits[row]);
      }
      EXPECT_EQ(answers.total[row], right.total[row]);
      for (std::int32_t i = 0; i < right.share_count[row]; ++i) {
        const auto at = static_cast<std::size_t>(jobs_[row].share_begin + i);
        EXPECT_EQ(answers.shares[at].domain, right.shares[at].domain);
        EXPECT_EQ(answers.shares[at].pods, right.shares[at].pods);
      }
    }
  }

  std::optional<HandTree> tree_;
  std::int32_t leaves_ = 0;
  std::vector<Amount> amounts_;
  std::vector<Shape> shapes_;
  std::vector<DecideJob> jobs_;
  std::size_t share_room_ = 0;
};

TEST_P(InOrderBlocks, DecideLikeOneAfterTheOther) {
  constexpr std::uint64_t kSeeds = 25;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    amounts_.clear();
    shapes_.clear();
    jobs_.clear();
    Make(seed * 7 + static_cast<std::uint64_t>(GetParam()));
    const Answers right = OneByOne();
    const auto unit_level = static_cast<std::int32_t>(seed % 3);
    ExpectSame(right, Together(unit_level, 1 + static_cast<std::int32_t>(seed % 5), GetParam()));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, InOrderBlocks, testing::Values(1, 2, 3));

// Whoever is late, nobody goes on without it, and all learn the same.
TEST(GridExchangeTest, TellsTheLeastOfEachValue) {
  constexpr std::int32_t kBlocks = 4;
  constexpr std::uint64_t kRounds = 500;
  std::vector<std::uint64_t> words(static_cast<std::size_t>(GridExchange::Words(kBlocks)));
  std::vector<std::uint64_t> plain(kBlocks);  // written before an exchange, read after it
  std::vector<std::jthread> threads;
  for (std::int32_t block = 0; block < kBlocks; ++block) {
    threads.emplace_back([&, block] {
      std::uint64_t values[3];
      ThreadTeam::Run(2, [&](auto& team) {
        GridExchange exchange(words.data(), kBlocks, block);
        for (std::uint64_t round = 0; round < kRounds; ++round) {
          if (team.rank() == 0) {
            const auto turn = (static_cast<std::uint64_t>(block) + round) % kBlocks;
            values[0] = round * kBlocks + turn;
            values[1] = turn == 2 ? round : TightestKey::kNone;
            values[2] = TightestKey::kNone;
            plain[static_cast<std::size_t>(block)] = round;
          }
          exchange.Least(team, values, 3);
          EXPECT_EQ(values[0], round * kBlocks);
          EXPECT_EQ(values[1], round);
          EXPECT_EQ(values[2], TightestKey::kNone);
          for (const std::uint64_t of_block : plain) EXPECT_EQ(of_block, round);
          team.sync();
          if (team.rank() == 0) values[0] = 0;
          exchange.Least(team, values, 1);
        }
      });
    });
  }
}

}  // namespace
}  // namespace espalier::in_order_blocks_test
