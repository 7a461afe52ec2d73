#include "host/packing/path_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "host/packing/parallel_for.hpp"

namespace espalier {
namespace {

// A part of a node's path, then its index: what both take together fits, as neither passes 31 bits.
using Keyed = std::uint64_t;

// Sorts by bits [begin, end) of the keys, a digit after the other; equal ones stay in their
// order.
void SortByBits(std::vector<Keyed>& nodes, int begin, int end, const WorkBudget& budget) {
  constexpr int kMostBits = 12;  // of a digit
  const int digits = std::max((end - begin + kMostBits - 1) / kMostBits, 1);
  const int width = (end - begin + digits - 1) / digits;
  const Keyed mask = (Keyed{1} << width) - 1;
  std::vector<Keyed> sorted(nodes.size());
  for (int shift = begin; shift < end && !budget.stopped(); shift += width) {
    std::array<std::uint32_t, 1 << kMostBits> next{};  // by digit: where its next node goes
    for (const Keyed node : nodes) ++next[(node >> shift) & mask];
    std::uint32_t sum = 0;
    for (std::uint32_t& at : next) at = std::exchange(sum, sum + at);
    for (const Keyed node : nodes) sorted[next[(node >> shift) & mask]++] = node;
    nodes.swap(sorted);
  }
}

// Bits that tell the values apart.
int Width(const LabelColumn& label) {
  return static_cast<int>(std::bit_width(label.values.size() - 1));
}

std::int32_t ValueOf(const LabelColumn& label, std::int32_t node) {
  return label.value_of[static_cast<std::size_t>(node)];
}

}  // namespace

bool PathLess(PathLabels levels, std::int32_t node_a, std::int32_t node_b) {
  for (const LabelColumn* label : levels) {
    const std::int32_t a = ValueOf(*label, node_a);
    const std::int32_t b = ValueOf(*label, node_b);
    if (a != b) return a < b;
  }
  return false;
}

void SortByPath(PathLabels levels, std::vector<std::int32_t>& nodes, const WorkBudget& budget) {
  constexpr std::size_t kFew = 4096;  // comparing them is quicker
  const auto less = [&](std::int32_t a, std::int32_t b) { return PathLess(levels, a, b); };
  if (std::ranges::is_sorted(nodes, less)) return;
  if (nodes.size() < kFew) {
    std::ranges::stable_sort(nodes, less);
    return;
  }

  // Values are numbered in their order. From the lowest level up, as many levels as fit one key.
  std::vector<Keyed> keyed(nodes.size());
  const int node_bits = std::bit_width(static_cast<std::uint32_t>(std::ranges::max(nodes)));
  for (std::size_t end = levels.size(); end > 0;) {
    std::size_t begin = end;
    int bits = node_bits;
    while (begin > 0 && bits + Width(*levels[begin - 1]) <= 64) bits += Width(*levels[--begin]);
    const PathLabels together = levels.subspan(begin, end - begin);
    constexpr std::size_t kNodes = 8192;  // of a part
    ParallelFor((keyed.size() + kNodes - 1) / kNodes, keyed.size(), [&](std::size_t part) {
      if (budget.stopped()) return;
      for (std::size_t i = part * kNodes; i < std::min((part + 1) * kNodes, keyed.size()); ++i) {
        Keyed key = 0;
        for (const LabelColumn* label : together) {
          key = key << Width(*label) | static_cast<Keyed>(ValueOf(*label, nodes[i]));
        }
        keyed[i] = key << node_bits | static_cast<Keyed>(nodes[i]);
      }
    });
    SortByBits(keyed, node_bits, bits, budget);
    if (budget.stopped()) return;  // not all keys were made
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i] = static_cast<std::int32_t>(keyed[i] & ((Keyed{1} << node_bits) - 1));
    }
    end = begin;
  }
}

}  // namespace espalier
