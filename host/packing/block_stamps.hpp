// Which change each block of leaves has seen last. Whatever is made from a state, as counts of a
// shape or a copy on a device, remembers what it was made from, and is current where the stamps are
// the same, on whichever branch of the state that is asked.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier {

// Names one change of one state. Unique in the process, and ascending on every state.
using Stamp = std::uint64_t;

// Equal stamps of a block in two states mean that its leaves hold the same in both. The stamps
// outlive their state, so that what was made from it may serve another branch. Only the state
// writes them, and none does once they are frozen.
class BlockStamps {
 public:
  // Blocks that are looked at together: where the latest stamp of all of them is the same, so is
  // each one's.
  static constexpr std::size_t kGroup = 64;

  // Returns a stamp that is greater than all that were returned before.
  static Stamp Next();

  // Gives all blocks one new stamp.
  explicit BlockStamps(std::size_t blocks)
      : of_block_(blocks, Next()),
        of_group_((blocks + kGroup - 1) / kGroup, of_block_.empty() ? 0 : of_block_[0]),
        latest_(blocks == 0 ? Next() : of_block_[0]) {}
  // Copies the stamps; the copy is not frozen.
  BlockStamps(const BlockStamps& other)
      : of_block_(other.of_block_), of_group_(other.of_group_), latest_(other.latest_) {}
  BlockStamps& operator=(const BlockStamps&) = delete;

  std::span<const Stamp> of_block() const { return of_block_; }
  // Returns the greatest stamp of all.
  Stamp latest() const { return latest_; }

  // Notes that a block has changed. `stamp` is new, or that of the change before.
  void Set(std::size_t block, Stamp stamp) {
    of_block_[block] = stamp;
    of_group_[block / kGroup] = stamp;
    latest_ = stamp;
  }
  // Says that nothing is written from now on.
  void Freeze() { frozen_.store(true, std::memory_order_release); }
  bool frozen() const { return frozen_.load(std::memory_order_acquire); }

  // Calls visit(begin, end) for runs of blocks that hold all that changed after `since`.
  template <class Visit>
  void ForRunsSince(Stamp since, const Visit& visit) const {
    ForRuns([&](std::size_t group) { return of_group_[group] > since; }, visit);
  }

  // Calls visit(block), in ascending order, for the blocks of which something that was made from
  // `other`, when its latest stamp was `made_at`, may not be true here.
  template <class Visit>
  void ForEachDifference(const BlockStamps& other, Stamp made_at, const Visit& visit) const {
    const auto differs = [&](Stamp here, Stamp there) { return here != there || there > made_at; };
    ForRuns([&](std::size_t group) { return differs(of_group_[group], other.of_group_[group]); },
            [&](std::size_t begin, std::size_t end) {
              for (std::size_t block = begin; block < end; ++block) {
                if (differs(of_block_[block], other.of_block_[block])) visit(block);
              }
            });
  }

 private:
  template <class Wanted, class Visit>
  void ForRuns(const Wanted& wanted, const Visit& visit) const {
    for (std::size_t group = 0; group < of_group_.size();) {
      if (!wanted(group)) {
        ++group;
        continue;
      }
      const std::size_t first = group;
      while (++group < of_group_.size() && wanted(group)) {
      }
      visit(first * kGroup, std::min(group * kGroup, of_block_.size()));
    }
  }

  std::vector<Stamp> of_block_;
  std::vector<Stamp> of_group_;  // the latest of its blocks'
  Stamp latest_;
  std::atomic<bool> frozen_ = false;
};

inline Stamp BlockStamps::Next() {
  static std::atomic<Stamp> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace espalier
