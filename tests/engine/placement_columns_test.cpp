// Columns of answers: rows that are put together keep their shares and failures.
#include "host/engine/placement_columns.hpp"

#include <array>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

namespace espalier::placement_columns_test {
namespace {

// A row with as many shares as pods, one each from leaf `leaf` on; none: it does not fit.
void AddRow(std::int32_t leaf, std::int32_t pods, PlacementColumns& columns) {
  PlacementOutcome outcome;
  outcome.level = leaf % 3;
  outcome.total = 7;
  outcome.layer_fits[0] = leaf;
  if (pods > 0) outcome.status = PlacementStatus::kPlaced;
  for (std::int32_t i = 0; i < pods; ++i) columns.shares.Own().push_back({LeafId(leaf + i), 0, 1});
  FailedPlacement* failed = columns.EndRow(outcome, 1);
  EXPECT_EQ(failed == nullptr, pods > 0);
  if (failed != nullptr) failed->limited_by = {leaf};
}

PlacementColumns Columns(std::initializer_list<std::pair<std::int32_t, std::int32_t>> rows) {
  PlacementColumns columns;
  for (const auto& [leaf, pods] : rows) AddRow(leaf, pods, columns);
  return columns;
}

TEST(PlacementColumnsTest, RowsHaveTheirSharesAndFailures) {
  const PlacementColumns columns = Columns({{10, 2}, {20, 0}, {30, 1}, {40, 0}});
  ASSERT_EQ(columns.size(), 4u);
  EXPECT_EQ(columns.At(0).shares.size(), 2u);
  EXPECT_EQ(columns.At(0).failed, nullptr);
  EXPECT_EQ(columns.At(2).shares.front().leaf, LeafId(30));
  EXPECT_EQ(columns.At(2).level, 0);
  EXPECT_TRUE(columns.At(3).shares.empty());
  ASSERT_NE(columns.At(3).failed, nullptr);
  EXPECT_EQ(columns.At(3).failed->layer_fits, (std::vector<Count>{40}));
  EXPECT_EQ(columns.At(1).failed->total, 7);
}

TEST(PlacementColumnsTest, NoLayersOfWhatFailsOtherwise) {
  PlacementColumns columns;
  PlacementOutcome outcome;
  outcome.status = PlacementStatus::kNoDomains;
  EXPECT_TRUE(columns.EndRow(outcome, 1)->layer_fits.empty());
}

TEST(PlacementColumnsTest, GatherPutsRowsOfPartsInOrder) {
  std::array<PlacementColumns, 3> parts = {Columns({{50, 0}, {10, 2}}), Columns({}),
                                           Columns({{20, 0}, {40, 3}, {30, 0}})};
  PlacementColumns gathered = Columns({{99, 9}});
  Gather(parts, std::array<RowOfPart, 5>{{{0, 1}, {2, 0}, {2, 2}, {2, 1}, {0, 0}}}, gathered);
  EXPECT_EQ(gathered, Columns({{10, 2}, {20, 0}, {30, 0}, {40, 3}, {50, 0}}));
}

TEST(PlacementColumnsTest, RowsAreAddedBehindOthers) {
  const PlacementColumns more = Columns({{30, 2}, {40, 0}});
  PlacementColumns columns = Columns({{10, 0}, {20, 1}});
  columns.AddRows(more);
  EXPECT_EQ(columns, Columns({{10, 0}, {20, 1}, {30, 2}, {40, 0}}));
  PlacementColumns first;
  first.AddRows(more);
  EXPECT_EQ(first, more);
}

// Lends two shares; tells whether they are still held.
struct Lender {
  std::shared_ptr<const LeafShare[]> shares{
      new const LeafShare[2]{{LeafId(5), 0, 1}, {LeafId(6), 1, 2}}};
  bool held() const { return shares.use_count() > 1; }
  ShareColumn Lend() const {
    ShareColumn column;
    column.Borrow({shares.get(), 2}, {shares, shares.get()});
    return column;
  }
};

TEST(ShareColumnTest, LentSharesAreReadWhereTheyAre) {
  const Lender lender;
  ShareColumn column = lender.Lend();
  EXPECT_EQ(column.begin(), lender.shares.get());
  EXPECT_EQ(column, (ShareColumn{{LeafId(5), 0, 1}, {LeafId(6), 1, 2}}));
  const ShareColumn moved = std::move(column);
  EXPECT_EQ(moved.begin(), lender.shares.get());
  EXPECT_EQ(moved.size(), 2u);
}

TEST(ShareColumnTest, WhatIsLentIsGivenBack) {
  const Lender lender;
  {
    const ShareColumn column = lender.Lend();
    EXPECT_TRUE(lender.held());
  }
  EXPECT_FALSE(lender.held());
  PlacementColumns columns;
  columns.shares = lender.Lend();
  columns.Clear();
  EXPECT_FALSE(lender.held());
  EXPECT_EQ(columns.shares.size(), 0u);
  columns.shares = lender.Lend();
  columns.shares = {};
  EXPECT_FALSE(lender.held());
}

TEST(ShareColumnTest, CopiesAndWhatIsChangedAreInMemoryOfTheirOwn) {
  const Lender lender;
  ShareColumn column = lender.Lend();
  const ShareColumn copy = column;
  column.Own().push_back({LeafId(7), 0, 3});
  EXPECT_FALSE(lender.held());
  EXPECT_EQ(column, (ShareColumn{{LeafId(5), 0, 1}, {LeafId(6), 1, 2}, {LeafId(7), 0, 3}}));
  EXPECT_EQ(copy, lender.Lend());
}

TEST(ShareColumnTest, RowsAreAddedBehindLentOnes) {
  const Lender lender;
  PlacementColumns columns = Columns({{5, 2}});
  columns.shares = lender.Lend();
  columns.AddRows(Columns({{30, 1}}));
  PlacementColumns moved;
  moved.MoveRow(columns, 1);
  moved.MoveRow(columns, 0);
  EXPECT_FALSE(lender.held());
  EXPECT_EQ(moved.SharesOf(0).front().leaf, LeafId(30));
  EXPECT_EQ(moved.SharesOf(1).back().leaf, LeafId(6));
}

}  // namespace
}  // namespace espalier::placement_columns_test
