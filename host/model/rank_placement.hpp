// Declares the ways in which the ranks of a group of pods are placed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

// The ways to place the ranks of a group, in addition to its topology request (R25.9 to R25.11).
enum class RankPlacement {
  kByPath,      // each pod set where R25.6 puts it; its ranks ascend in path order
  kContiguous,  // ranks ascend in path order over all pod sets of the group
  kTogether,    // pods of equal rank of all child groups in one domain of `rank_level`
  kBalanced,    // equal numbers in every domain of `rank_level`, consecutive ranks together
  kStriped,     // the same numbers, assigned round-robin by rank
};

// Returns whether the placement is by the domains of a level.
constexpr bool HasLevel(RankPlacement ranks) {
  return ranks == RankPlacement::kTogether || ranks == RankPlacement::kBalanced ||
         ranks == RankPlacement::kStriped;
}

// Returns the name in descriptions of workloads: "ByPath", "Contiguous", "Together", "Balanced" or
// "Striped".
constexpr std::string_view ToString(RankPlacement ranks) {
  switch (ranks) {
    case RankPlacement::kByPath:
      return "ByPath";
    case RankPlacement::kContiguous:
      return "Contiguous";
    case RankPlacement::kTogether:
      return "Together";
    case RankPlacement::kBalanced:
      return "Balanced";
    case RankPlacement::kStriped:
      break;
  }
  return "Striped";
}

// The placement that a group asks for its ranks.
struct RankRequest {
  RankPlacement placement = RankPlacement::kByPath;
  std::optional<std::string> level;  // level key; exactly where HasLevel(placement)
  bool operator==(const RankRequest&) const = default;
};

}  // namespace espalier
