// Columns of answers: rows that are put together keep their shares and failures.
#include "host/engine/placement_columns.hpp"

#include <array>

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
  for (std::int32_t i = 0; i < pods; ++i) columns.shares.push_back({LeafId(leaf + i), 0, 1});
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

}  // namespace
}  // namespace espalier::placement_columns_test
