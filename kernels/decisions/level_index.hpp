// Tells the tightest domain of a level from what it must hold, so that a decision need not look at
// every domain of a wide level.
#pragma once

#include <cstdint>

#include "kernels/decisions/scans.hpp"
#include "kernels/macros.hpp"
#include "kernels/team/scanning.hpp"
#include "kernels/views.hpp"

namespace espalier {

// A domain and what it holds as one number of 62 bits, by which the tightest comes first: the
// finest level, then what holds least, then the first. A tree has less than 2^29 domains.
struct TightestKey {
  static constexpr int kDomainBits = 29;
  static constexpr int kHeldBits = 31;
  static constexpr std::uint64_t kNone = (std::uint64_t{1} << 62) - 1;  // behind all others

  // `held` is 0 or more, `coarseness` how far the level is above the finest that is looked at: less
  // than 4.
  static ESPALIER_HD std::uint64_t Of(StoredCount held, std::int32_t domain,
                                      std::int32_t coarseness = 0) {
    return static_cast<std::uint64_t>(coarseness) << (kHeldBits + kDomainBits) |
           static_cast<std::uint64_t>(held) << kDomainBits | static_cast<std::uint32_t>(domain);
  }
  static ESPALIER_HD std::int32_t DomainOf(std::uint64_t key) {
    return static_cast<std::int32_t>(key & ((1u << kDomainBits) - 1));
  }
  static ESPALIER_HD std::int32_t CoarsenessOf(std::uint64_t key) {
    return static_cast<std::int32_t>(key >> (kHeldBits + kDomainBits));
  }
};

// An index of how many slices the domains of one level hold, without a leader.
struct LevelIndex {
  static constexpr StoredCount kNeeds = 256;  // 0 to kNeeds - 1 are told

  StoredCount most = 0;  // slices of one domain; 0 where there is none
  // By need, the key of the tightest domain that holds so many, by its pods.
  std::uint64_t tightest[kNeeds] = {};

  // Returns whether it tells the tightest domain that holds `need`.
  ESPALIER_HD bool Tells(Count need) const { return need < kNeeds || need > most; }
  // Returns that domain, or -1 where none holds so much.
  ESPALIER_HD std::int32_t Tightest(Count need) const {
    if (need > most) return -1;
    const std::uint64_t found = tightest[need > 0 ? need : 0];
    return found == TightestKey::kNone ? -1 : TightestKey::DomainOf(found);
  }
};

// Returns the index of a level, where there is one and nothing but capacity tells its domains
// apart; null elsewhere.
ESPALIER_HD inline const LevelIndex* LevelIndexOf(const TreeView& tree, const CountsView& counts,
                                                  std::int32_t level) {
  if (counts.index == nullptr || counts.affinity != nullptr || level == tree.lowest()) {
    return nullptr;
  }
  return counts.index + level;
}

// Lowers a value that several lanes may lower at the same time.
ESPALIER_HD inline void LowerTo(std::uint64_t& least, std::uint64_t value) {
#ifdef __CUDA_ARCH__
  auto* at = reinterpret_cast<unsigned long long*>(&least);
  // Domains come in the order of their ids, so that most are not less.
  if (value < *static_cast<volatile unsigned long long*>(at)) atomicMin(at, value);
#else
  std::uint64_t known = __atomic_load_n(&least, __ATOMIC_RELAXED);
  while (value < known && !__atomic_compare_exchange_n(&least, &known, value, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

// Makes the index of the domains of one level, whose counts have no leader; a barrier must follow
// before it is read.
template <class Team>
ESPALIER_HD void IndexLevel(Team& team, const CountsView& counts, DomainRange level,
                            LevelIndex& index) {
  constexpr StoredCount kLast = LevelIndex::kNeeds - 1;
  for (StoredCount v = team.rank(); v <= kLast; v += team.size()) {
    index.tightest[v] = TightestKey::kNone;
  }
  // Of the domains that hold the last need or more, those that hold the least are the tightest.
  StoredCount tightest_of_last = kMaxStored;
  StoredCount most = 0;
  for (std::int32_t d = level.begin + team.rank(); d < level.end; d += team.size()) {
    const StoredCount held = counts.slices[d];
    if (held >= kLast && held < tightest_of_last) tightest_of_last = held;
    if (held > most) most = held;
  }
  tightest_of_last = team.reduce(tightest_of_last, kMaxStored, SmallerInt{});
  most = team.reduce(most, 0, LargerStored{});
  for (std::int32_t d = level.begin + team.rank(); d < level.end; d += team.size()) {
    const StoredCount held = counts.slices[d];
    if (held > tightest_of_last) continue;
    LowerTo(index.tightest[held < kLast ? held : kLast], TightestKey::Of(counts.pods[d], d));
  }
  team.sync();
  if (team.rank() == 0) index.most = most;
  // What no domain holds exactly is told as what comes next: each lane fills a run of needs.
  const StoredCount of_lane = (LevelIndex::kNeeds + team.size() - 1) / team.size();
  const StoredCount begin = team.rank() * of_lane;
  const StoredCount end =
      begin + of_lane < LevelIndex::kNeeds ? begin + of_lane : LevelIndex::kNeeds;
  std::uint64_t next = TightestKey::kNone;
  for (StoredCount v = end; v < LevelIndex::kNeeds && next == TightestKey::kNone; ++v) {
    next = index.tightest[v];
  }
  team.sync();
  for (StoredCount v = end; v-- > begin;) {
    if (index.tightest[v] == TightestKey::kNone) index.tightest[v] = next;
    next = index.tightest[v];
  }
}

}  // namespace espalier
