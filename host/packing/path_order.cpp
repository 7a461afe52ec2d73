#include "host/packing/path_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "host/packing/parts.hpp"

namespace espalier {
namespace {

// A node and a part of its path.
struct Keyed {
  std::uint64_t key;
  std::int32_t node;
};

// By the lowest `bits` of the keys, a digit after the other; equal keys stay in their order.
void SortByKey(std::vector<Keyed>& nodes, int bits) {
  constexpr int kDigit = 12;
  constexpr std::uint64_t kMask = (1U << kDigit) - 1;
  std::vector<Keyed> sorted(nodes.size());
  for (int shift = 0; shift < bits; shift += kDigit) {
    std::array<std::uint32_t, kMask + 1> next{};  // by digit: where its next node goes
    for (const Keyed& node : nodes) ++next[(node.key >> shift) & kMask];
    std::uint32_t sum = 0;
    for (std::uint32_t& at : next) at = std::exchange(sum, sum + at);
    for (const Keyed& node : nodes) sorted[next[(node.key >> shift) & kMask]++] = node;
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

void SortByPath(PathLabels levels, std::vector<std::int32_t>& nodes) {
  constexpr std::size_t kFew = 4096;  // comparing them is quicker
  const auto less = [&](std::int32_t a, std::int32_t b) { return PathLess(levels, a, b); };
  if (std::ranges::is_sorted(nodes, less)) return;
  if (nodes.size() < kFew) {
    std::ranges::stable_sort(nodes, less);
    return;
  }

  // Values are numbered in their order. From the lowest level up, as many levels as fit one key.
  std::vector<Keyed> keyed(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) keyed[i].node = nodes[i];
  for (std::size_t end = levels.size(); end > 0;) {
    std::size_t begin = end;
    int bits = 0;
    while (begin > 0 && bits + Width(*levels[begin - 1]) <= 64) bits += Width(*levels[--begin]);
    const PathLabels together = levels.subspan(begin, end - begin);
    constexpr std::size_t kNodes = 8192;  // of a part
    ForEachPart((keyed.size() + kNodes - 1) / kNodes, keyed.size(), [&](std::size_t part) {
      const std::size_t size = std::min(kNodes, keyed.size() - part * kNodes);
      for (Keyed& node : std::span(keyed).subspan(part * kNodes, size)) {
        node.key = 0;
        for (const LabelColumn* label : together) {
          node.key =
              node.key << Width(*label) | static_cast<std::uint64_t>(ValueOf(*label, node.node));
        }
      }
    });
    SortByKey(keyed, bits);
    end = begin;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = keyed[i].node;
}

}  // namespace espalier
