#include "host/packing/tiled_capacity.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "host/packing/parallel_for.hpp"

namespace espalier {

// Units are -1 or more: their bits are in order as integers are, which a compiler finds the largest
// of in vectors.
float TiledCapacity::MostIn(const Row& row) {
  std::int32_t bits[kTileLeaves];
  std::memcpy(bits, row.units, sizeof(bits));
  std::int32_t most = bits[0];
  for (const std::int32_t lane : bits) most = std::max(most, lane);
  return std::bit_cast<float>(most);
}

TiledCapacity::TiledCapacity(std::int32_t leaves, std::span<const Amount> magnitudes)
    : columns_(magnitudes.size()),
      tiles_(static_cast<std::size_t>((leaves + kTileLeaves - 1) / kTileLeaves)),
      min_tile_max_(columns_, static_cast<float>(kMaxUnits)),
      exact_(columns_, 1),
      shift_(columns_, 0) {
  for (std::size_t column = 0; column < columns_; ++column) {
    while ((magnitudes[column] >> shift_[column]) > kMaxUnits) ++shift_[column];
  }
}

TiledCapacity::TiledCapacity(std::span<const Amount> amounts, std::int64_t stride,
                             std::int32_t leaves, std::span<const Amount> magnitudes)
    : TiledCapacity(leaves, magnitudes) {
  PackDense(amounts, stride, leaves, WorkBudget::Unlimited());
}

TiledCapacity::TiledCapacity(const PagedArray<Amount>& amounts, std::int64_t stride,
                             std::int32_t leaves, std::span<const Amount> magnitudes,
                             WorkBudget& budget)
    : TiledCapacity(leaves, magnitudes) {
  if (amounts.sparse()) {
    PackSparse(amounts, stride, leaves, budget);
  } else if (budget.Charge(static_cast<std::int64_t>(RowCount() * sizeof(Row)))) {
    PackDense({amounts.data(), amounts.size()}, stride, leaves, budget);
  }
}

void TiledCapacity::PackSparse(const PagedArray<Amount>& amounts, std::int64_t stride,
                               std::int32_t leaves, WorkBudget& budget) {
  if (!budget.Charge(PagedArray<Row>::FirstBytes(RowCount(), true))) return;
  rows_ = PagedArray<Row>(RowCount(), true);
  // Tiles that nobody has written have no stored maximum, so the lower bound is -1.
  std::ranges::fill(min_tile_max_, -1.0F);
  const auto row_of = [&](std::size_t at) -> Row& {
    if (rows_.Use(at)) budget.Charge(PagedArray<Row>::kPageBytes);
    return rows_[at];
  };
  const auto present = static_cast<std::size_t>(leaves) % kTileLeaves;  // of the last tile
  const auto width = static_cast<std::size_t>(stride);
  for (std::size_t column = 0; column < columns_; ++column) {
    if (budget.stopped()) return;
    if (present != 0) {
      Row& row = row_of((tiles_ - 1) * columns_ + column);
      std::fill(std::begin(row.units) + present, std::end(row.units), -1.0F);
    }
    amounts.ForEachUsed(column * width, (column + 1) * width, [&](std::size_t at, std::size_t end) {
      for (; at < end && !budget.stopped(); ++at) {
        const auto leaf = at - column * width;
        if (amounts[at] == 0) continue;
        row_of(leaf / kTileLeaves * columns_ + column).units[leaf % kTileLeaves] =
            static_cast<float>(std::max(amounts[at], Amount{-1}) >> shift_[column]);
      }
    });
  }
  // The most of a tile is 0 where nothing was written, as it must be.
  rows_.ForEachUsed(0, tiles_ * columns_, [&](std::size_t at, std::size_t end) {
    for (; at < end && !budget.stopped(); ++at) {
      const float most = MostIn(rows_[at]);
      if (most == 0) continue;
      const std::size_t tile = at / columns_;
      row_of(MostRow(tile, at % columns_)).units[tile % kTileLeaves] = most;
    }
  });
}

void TiledCapacity::PackDense(std::span<const Amount> amounts, std::int64_t stride,
                              std::int32_t leaves, const WorkBudget& budget) {
  rows_ = PagedArray<Row>(RowCount(), false);
  const auto groups = rows_.begin() + static_cast<std::ptrdiff_t>(tiles_ * columns_);
  Row most_possible;
  std::ranges::fill(most_possible.units, static_cast<float>(kMaxUnits));
  std::fill(groups, rows_.end(), most_possible);
  // Tile by tile, in the order of memory.
  constexpr std::size_t kTiles = 512;  // of a part
  ParallelFor((tiles_ + kTiles - 1) / kTiles, amounts.size(), [&](std::size_t part) {
    if (budget.stopped()) return;
    for (std::size_t tile = part * kTiles; tile < std::min((part + 1) * kTiles, tiles_); ++tile) {
      const std::size_t first = tile * kTileLeaves;
      const std::size_t present =
          std::min<std::size_t>(static_cast<std::size_t>(leaves) - first, kTileLeaves);
      for (std::size_t column = 0; column < columns_; ++column) {
        const Amount* amount = amounts.data() + column * static_cast<std::size_t>(stride) + first;
        std::int32_t units[kTileLeaves];
        std::fill_n(units, kTileLeaves, -1);
        for (std::size_t lane = 0; lane < present; ++lane) {
          units[lane] =
              static_cast<std::int32_t>(std::max(amount[lane], Amount{-1}) >> shift_[column]);
        }
        Row& row = rows_[tile * columns_ + column];
        std::ranges::copy(units, row.units);
        MostOf(tile, column) = static_cast<float>(*std::ranges::max_element(units));
      }
    }
  });
  for (auto row = groups; row != rows_.end(); ++row) {
    float& least = min_tile_max_[static_cast<std::size_t>(row - groups) % columns_];
    for (const float most : row->units) least = std::min(least, most);
  }
}

void TiledCapacity::CopyTiles(const TiledCapacity& other, DomainRange leaves) {
  if (leaves.size() == 0) return;
  for (std::size_t tile = TileOf(leaves.begin); tile <= TileOf(leaves.end - 1); ++tile) {
    std::copy_n(&other.rows_[tile * columns_], columns_, &rows_[tile * columns_]);
    for (std::size_t column = 0; column < columns_; ++column) {
      const std::size_t row = MostRow(tile, column);
      rows_[row].units[tile % kTileLeaves] = other.rows_[row].units[tile % kTileLeaves];
    }
  }
}

void TiledCapacity::CopyRanges(const TiledCapacity& other) {
  min_tile_max_ = other.min_tile_max_;
  exact_ = other.exact_;
}

}  // namespace espalier
