// Reads columns of messages, which have one entry for each workload or pod set, or none at all.
#pragma once

#include <algorithm>

namespace espalier {

// Returns entry `i` of a column, or a default-made one when the column is empty.
template <class Column>
auto EntryOf(const Column& column, int i) {
  return column.empty() ? typename Column::value_type{} : column[i];
}

// Returns whether a column is all zeros, so that an empty one means the same.
bool AllZero(const auto& column) {
  return std::ranges::all_of(column, [](const auto entry) { return entry == 0; });
}

}  // namespace espalier
