// The leaves that a trial changes, over a capacity that stays as it is.
#pragma once

#include <cstdint>

#include "kernels/decisions/leaf_counts.hpp"
#include "kernels/macros.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Holds what a trial uses up on leaves, less what it gives back: one row of amounts, by column of
// the capacity, for each leaf that it changed.
struct ChangedLeaves {
  std::int32_t* row_of = nullptr;  // [leaves] -1: the leaf is as the capacity says
  Amount* rows = nullptr;          // [rows][columns]
  std::int32_t columns = 0;

  // Returns the row of a leaf, or null.
  ESPALIER_HD Amount* Find(std::int32_t leaf) const {
    return row_of[leaf] < 0 ? nullptr : Row(row_of[leaf]);
  }
  // Returns the row of a leaf, which becomes row `fresh`, of zeros, where it has none.
  ESPALIER_HD Amount* FindOrBegin(std::int32_t leaf, std::int32_t fresh) const {
    if (row_of[leaf] < 0) {
      row_of[leaf] = fresh;
      for (std::int32_t c = 0; c < columns; ++c) Row(fresh)[c] = 0;
    }
    return Row(row_of[leaf]);
  }

  // Makes `input`, which assumes no other usage, assume what the trial changed on one leaf; keeps a
  // reference to the leaf's number.
  ESPALIER_HD void Assume(const std::int32_t& leaf, LeafInput& input) const {
    const Amount* row = Find(leaf);
    input.assumed = {row != nullptr ? 1 : 0, &leaf, row, columns};
  }

 private:
  ESPALIER_HD Amount* Row(std::int32_t row) const { return rows + std::int64_t{row} * columns; }
};

}  // namespace espalier
