#include "host/engine/placement_columns.hpp"

#include <algorithm>
#include <utility>

namespace espalier {
namespace {

auto FailureOf(auto& failures, std::size_t row) {
  return std::ranges::lower_bound(failures, static_cast<std::int32_t>(row), {},
                                  &FailedPlacement::row);
}

}  // namespace

bool ShareColumn::operator==(const ShareColumn& other) const {
  return std::ranges::equal(*this, other);
}

void ShareColumn::Return(std::span<const LeafShare> shares) {
  own_.assign(shares.begin(), shares.end());
  lender_ = nullptr;
}

PlacementResult PlacementColumns::At(std::size_t row) const {
  PlacementResult result{status[row], level[row], SharesOf(row), nullptr};
  if (result.status != PlacementStatus::kPlaced) result.failed = &*FailureOf(failures, row);
  return result;
}

void PlacementColumns::Clear() {
  status.clear();
  level.clear();
  share_end.clear();
  shares.Clear();
  failures.clear();
}

void PlacementColumns::Reserve(std::size_t rows) {
  status.reserve(rows);
  level.reserve(rows);
  share_end.reserve(rows);
}

FailedPlacement* PlacementColumns::EndRow(const PlacementOutcome& outcome, std::int32_t layers) {
  const auto row = static_cast<std::int32_t>(size());
  status.push_back(outcome.status);
  level.push_back(static_cast<std::int8_t>(outcome.level));
  share_end.push_back(static_cast<std::uint32_t>(shares.size()));
  if (outcome.status == PlacementStatus::kPlaced) return nullptr;
  FailedPlacement& failed = failures.emplace_back();
  failed.row = row;
  failed.fit = outcome.fit;
  failed.total = outcome.total;
  if (outcome.status == PlacementStatus::kDoesNotFit) {
    failed.layer_fits.assign(outcome.layer_fits, outcome.layer_fits + layers);
  }
  return &failed;
}

void PlacementColumns::MoveRow(PlacementColumns& from, std::size_t row) {
  const std::span<const LeafShare> of_row = from.SharesOf(row);
  std::vector<LeafShare>& own = shares.Own();
  own.insert(own.end(), of_row.begin(), of_row.end());
  if (from.status[row] != PlacementStatus::kPlaced) {
    failures.push_back(std::move(*FailureOf(from.failures, row)));
    failures.back().row = static_cast<std::int32_t>(size());
  }
  status.push_back(from.status[row]);
  level.push_back(from.level[row]);
  share_end.push_back(static_cast<std::uint32_t>(shares.size()));
}

void PlacementColumns::AddRows(const PlacementColumns& from) {
  const auto rows = static_cast<std::int32_t>(size());
  const auto had = static_cast<std::uint32_t>(shares.size());
  status.insert(status.end(), from.status.begin(), from.status.end());
  level.insert(level.end(), from.level.begin(), from.level.end());
  std::vector<LeafShare>& own = shares.Own();
  own.insert(own.end(), from.shares.begin(), from.shares.end());
  for (const std::uint32_t end : from.share_end) share_end.push_back(had + end);
  for (const FailedPlacement& failed : from.failures) {
    failures.push_back(failed);
    failures.back().row += rows;
  }
}

void Gather(std::span<PlacementColumns> parts, std::span<const RowOfPart> rows,
            PlacementColumns& columns) {
  columns.Clear();
  columns.Reserve(rows.size());
  std::size_t shares = 0;
  for (const PlacementColumns& part : parts) shares += part.shares.size();
  columns.shares.Own().reserve(shares);
  for (const RowOfPart& row : rows) {
    columns.MoveRow(parts[static_cast<std::size_t>(row.part)], static_cast<std::size_t>(row.row));
  }
}

}  // namespace espalier
