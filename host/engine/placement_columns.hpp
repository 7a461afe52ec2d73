// The answers of many evaluations in columns, as back ends write them and as they go to the wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/engine/share_column.hpp"
#include "host/packing/flavor_state.hpp"
#include "kernels/views.hpp"

namespace espalier {

// The numbers of an evaluation that placed nothing.
struct FailedPlacement {
  std::int32_t row = 0;                  // of the columns
  Count fit = 0;                         // slices
  Count total = 0;                       // slices
  std::vector<Count> layer_fits;         // one per constraint layer; only for kDoesNotFit
  std::vector<std::int64_t> limited_by;  // leaves without room by worker resource; for kDoesNotFit
  std::int64_t outside_domain = 0;       // leaves outside the replacement domain; for kDoesNotFit

  bool operator==(const FailedPlacement&) const = default;
};

// One row of the columns, which it is valid as long as.
struct PlacementResult {
  PlacementStatus status = PlacementStatus::kDoesNotFit;
  std::int32_t level = 0;                   // where the search ended
  std::span<const LeafShare> shares;        // path order, no empty ones; only for kPlaced
  const FailedPlacement* failed = nullptr;  // null for kPlaced
};

// Answers of N evaluations with S shares between them.
struct PlacementColumns {
  std::vector<PlacementStatus> status;    // [N]
  std::vector<std::int8_t> level;         // [N] where the search ended
  std::vector<std::uint32_t> share_end;   // [N] shares of row r are [share_end[r-1], share_end[r])
  ShareColumn shares;                     // [S] path order within a row
  std::vector<FailedPlacement> failures;  // rows ascend: every one whose status is not kPlaced

  std::size_t size() const { return status.size(); }
  std::span<const LeafShare> SharesOf(std::size_t row) const {
    const std::uint32_t begin = row == 0 ? 0 : share_end[row - 1];
    return {shares.begin() + begin, shares.begin() + share_end[row]};
  }
  PlacementResult At(std::size_t row) const;

  // Removes all rows; keeps the memory, and gives back what is lent.
  void Clear();
  void Reserve(std::size_t rows);

  // Adds the row of an outcome, whose shares were added already, with the first `layers` of its
  // layer fits. Returns what else is to be said of a failure, null for kPlaced. The pointer is
  // valid until the next row is added.
  FailedPlacement* EndRow(const PlacementOutcome& outcome, std::int32_t layers);
  // Adds a row of other columns, whose failure is moved.
  void MoveRow(PlacementColumns& from, std::size_t row);
  // Adds all rows of other columns.
  void AddRows(const PlacementColumns& from);

  bool operator==(const PlacementColumns&) const = default;
};

// Names a row of one of several columns.
struct RowOfPart {
  std::int32_t part = 0;
  std::int32_t row = 0;
};

// Puts rows together: row i becomes row `rows[i].row` of the columns `rows[i].part`, whose failures
// are moved. Overwrites `columns` and reuses its memory.
void Gather(std::span<PlacementColumns> parts, std::span<const RowOfPart> rows,
            PlacementColumns& columns);

}  // namespace espalier
