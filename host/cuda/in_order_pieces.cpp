#include "host/cuda/in_order_pieces.hpp"

#include <algorithm>
#include <utility>

namespace espalier {
namespace {

// A piece may have so much more leaves than with the finest units, as one part in this many.
constexpr std::int32_t kUneven = 4;

// Returns the first leaf below each domain of a level, from 0, and the end of all.
std::vector<std::int32_t> LeafBegins(const TreeView& tree, std::int32_t level) {
  const std::int32_t first_leaf = tree.LevelBegin(tree.lowest());
  std::vector<std::int32_t> begins;
  for (std::int32_t d = tree.LevelBegin(level); d <= tree.LevelEnd(level); ++d) {
    std::int32_t below = d;
    for (std::int32_t l = level; l < tree.lowest(); ++l) below = tree.ChildBegin(below);
    begins.push_back(below - first_leaf);
  }
  return begins;
}

// Spreads the units of one level by their leaves. Sets the extent's leaves.
InOrderPieces SpreadUnits(const TreeView& tree, std::int32_t level, std::int32_t blocks) {
  InOrderPieces pieces;
  pieces.unit_level = level;
  const std::vector<std::int32_t> begins = LeafBegins(tree, level);
  const auto units = static_cast<std::int32_t>(begins.size()) - 1;
  std::int32_t unit = 0;
  for (std::int32_t block = 0; block < blocks; ++block) {
    pieces.unit_begin.push_back(unit);
    const std::int64_t end = std::int64_t{tree.leaf_count()} * (block + 1) / blocks;
    const std::int32_t first = begins[static_cast<std::size_t>(unit)];
    while (unit < units && begins[static_cast<std::size_t>(unit)] < end) ++unit;
    pieces.extent.leaves =
        std::max(pieces.extent.leaves, begins[static_cast<std::size_t>(unit)] - first);
  }
  pieces.unit_begin.push_back(units);
  return pieces;
}

// Sets how many domains a piece has, and how many of a level a unit has.
void MeasureDomains(const TreeView& tree, InOrderPieces& pieces) {
  const std::int32_t level = pieces.unit_level;
  const auto domains_below = [&](std::int32_t first, std::int32_t end, const auto& visit) {
    const std::int32_t begin = tree.LevelBegin(level);
    for (std::int32_t l = level; l <= tree.lowest(); ++l) {
      visit(Descendants(tree, {begin + first, begin + end}, level, l).size());
    }
  };
  for (std::size_t block = 0; block + 1 < pieces.unit_begin.size(); ++block) {
    std::int32_t domains = 0;
    domains_below(pieces.unit_begin[block], pieces.unit_begin[block + 1],
                  [&](std::int32_t count) { domains += count; });
    pieces.extent.domains = std::max(pieces.extent.domains, domains);
  }
  for (std::int32_t unit = 0; unit < pieces.unit_begin.back(); ++unit) {
    domains_below(unit, unit + 1, [&](std::int32_t count) {
      pieces.extent.list = std::max(pieces.extent.list, count);
    });
  }
}

}  // namespace

InOrderPieces SpreadInOrder(const TreeView& tree, std::int32_t columns, const Device& device) {
  const std::int32_t finest = tree.lowest() - 1;
  const bool numbered = tree.domain_count() < (1 << TightestKey::kDomainBits);
  if (device.blocks_in_order() <= 0 || finest < 0 || tree.leaf_count() == 0 || !numbered) return {};
  const std::int32_t blocks = std::min(device.blocks_in_order(), tree.leaf_count());
  InOrderPieces pieces = SpreadUnits(tree, finest, blocks);
  const std::int32_t most = pieces.extent.leaves + pieces.extent.leaves / kUneven;
  for (std::int32_t level = finest - 1; level >= std::max(tree.lowest() - kPieceLevels + 1, 0);
       --level) {
    InOrderPieces coarser = SpreadUnits(tree, level, blocks);
    if (coarser.extent.leaves > most) break;
    pieces = std::move(coarser);
  }
  MeasureDomains(tree, pieces);
  pieces.extent.columns = columns;
  if (InOrderMemory(pieces.extent, nullptr).bytes > device.block_memory_bytes()) return {};
  return pieces;
}

}  // namespace espalier
