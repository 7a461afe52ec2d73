// Columns of messages, one entry for each workload or pod set, or none at all.
#pragma once

#include <algorithm>

namespace espalier {

// The entry of a column that may be empty.
template <class Column>
auto EntryOf(const Column& column, int i) {
  return column.empty() ? typename Column::value_type{} : column[i];
}

// Whether a column says no more than an empty one does.
bool AllZero(const auto& column) {
  return std::ranges::all_of(column, [](const auto entry) { return entry == 0; });
}

}  // namespace espalier
