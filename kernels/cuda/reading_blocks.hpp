// The work of one block of the kernel that reads counts for questions about every domain; see
// count_blocks.hpp.
#pragma once

#include <cstdint>

#include "kernels/cuda/count_blocks.hpp"
#include "kernels/cuda/grid.hpp"
#include "kernels/decisions/domain_question.hpp"
#include "kernels/decisions/fit_bound.hpp"
#include "kernels/decisions/leader_first.hpp"
#include "kernels/team/team.hpp"
#include "kernels/views.hpp"

namespace espalier {

inline constexpr std::int32_t kBitsOfWord = 32;

// Returns how many words have a bit for each of so many domains. Of `words` words, bit b of word w
// is that of domain b * words + w, so that lanes beside each other read counts beside each other.
ESPALIER_HD inline std::int32_t WordsFor(std::int32_t domains) {
  return BlocksFor(domains, kBitsOfWord);
}

// What is asked of the counts of a shape, and where the answer goes.
struct ReadingOfShape {
  const ResidentShape* shape = nullptr;
  DomainQuestion asked;
  Count* held = nullptr;    // [levels] how often the domains of each level that is asked count
  Count* slices = nullptr;  // what those of the first level hold together; null: not wanted
  std::uint32_t* bits = nullptr;  // [WordsFor(domains)] which of the last level count; null: not
                                  // wanted
};

// Makes readings [0, reading_count) of levels from 0 to before `level_end`.
struct ReadDomainsArgs {
  TreeView tree;
  std::int32_t level_end = 0;
  const ReadingOfShape* readings = nullptr;
  std::int32_t reading_count = 0;
  bool operator==(const ReadDomainsArgs&) const = default;
};

// Readings may be more than the blocks that a launch has in the y direction, levels may not.
inline Grid GridOf(const ReadDomainsArgs& args) { return {args.reading_count, args.level_end}; }

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const ReadDomainsArgs& args, Grid block) {
  const ReadingOfShape& reading = args.readings[block.x];
  const DomainQuestion asked = reading.asked;
  const std::int32_t level = block.y;
  if (level < asked.first_level || level > asked.last_level) return;
  const CountsView counts = reading.shape->counts;
  const DomainRange domains = DomainsOf(args.tree, level);
  const std::int32_t words = WordsFor(domains.size());
  std::uint32_t* const bits = level == asked.last_level ? reading.bits : nullptr;
  const bool summed = level == asked.first_level && reading.slices != nullptr;
  Count held = 0;
  Count slices = 0;
  for (std::int32_t w = team.rank(); w < words; w += team.size()) {
    std::uint32_t word = 0;
    for (std::int32_t b = 0; b < kBitsOfWord; ++b) {
      const std::int32_t domain = domains.begin + b * words + w;
      if (domain >= domains.end) continue;
      const Count times = TimesHeld(counts, domain, asked);
      held += times;
      word |= (times > 0 ? 1u : 0u) << b;
      if (summed) slices += SlicesEitherWay(MakeCandidate(counts, domain));
    }
    if (bits != nullptr) bits[w] = word;
  }
  held = team.reduce(held, Count{0}, PlusCount{});
  if (summed) slices = team.reduce(slices, Count{0}, PlusCount{});
  if (team.rank() != 0) return;
  reading.held[level] = held;
  if (summed) *reading.slices = slices;
}

}  // namespace espalier
