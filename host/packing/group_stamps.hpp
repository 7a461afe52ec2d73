// Records the last change of each group of leaves. Whatever is derived from a state, such as counts
// of a shape or a copy on a device, keeps the stamps it was made from, and is current where they
// are the same on the state or branch that is read.
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

// The stamp of the last change of each group of leaves of one state. Equal stamps of a group in two
// states mean that its leaves hold the same in both. Stamps outlive their state, so that what was
// cached for it may serve another branch. Only the state writes them, and nobody does once they are
// frozen.
class GroupStamps {
 public:
  // Number of groups that are checked together: when the latest stamp of all of them is the same,
  // each one's is.
  static constexpr std::size_t kChunk = 64;

  // Returns a stamp that is greater than all that were returned before.
  static Stamp Next();

  // Gives all groups one new stamp.
  explicit GroupStamps(std::size_t groups)
      : of_group_(groups, Next()),
        of_chunk_((groups + kChunk - 1) / kChunk, of_group_.empty() ? 0 : of_group_[0]),
        latest_(groups == 0 ? Next() : of_group_[0]),
        listed_since_(latest_) {}
  // Copies the stamps; the copy is not frozen.
  GroupStamps(const GroupStamps& other)
      : of_group_(other.of_group_),
        of_chunk_(other.of_chunk_),
        latest_(other.latest_),
        listed_since_(latest_) {}
  GroupStamps& operator=(const GroupStamps&) = delete;

  std::span<const Stamp> of_group() const { return of_group_; }
  // Returns the greatest stamp of all.
  Stamp latest() const { return latest_; }

  // Records that a group has changed. `stamp` is new, or that of the change before.
  void Set(std::size_t group, Stamp stamp) {
    if (of_group_[group] == stamp) return;
    of_group_[group] = stamp;
    of_chunk_[group / kChunk] = stamp;
    latest_ = stamp;
    List(group / kChunk, std::uint64_t{1} << (group % kChunk), stamp);
  }
  // Marks the stamps as final: nothing is written from now on.
  void Freeze() { frozen_.store(true, std::memory_order_release); }
  bool frozen() const { return frozen_.load(std::memory_order_acquire); }

  // Calls visit(chunk, groups) for each change after `since`: bit i of `groups` is set where group
  // chunk * kChunk + i changed. Returns false, and does nothing, where that is longer ago than
  // changes are listed.
  template <class Visit>
  bool ForEachListedSince(Stamp since, const Visit& visit) const {
    if (since < listed_since_) return false;
    const std::size_t first = changes_ - std::min(changes_, kListed);
    for (std::size_t i = changes_; i > first; --i) {
      const Change& change = listed_[(i - 1) % kListed];
      if (change.stamp <= since) break;
      visit(change.chunk, change.groups);
    }
    return true;
  }

  // Calls visit(begin, end) for runs of groups that include all that changed after `since`.
  template <class Visit>
  void ForRunsSince(Stamp since, const Visit& visit) const {
    ForRuns([&](std::size_t chunk) { return of_chunk_[chunk] > since; }, visit);
  }

  // Calls visit(group), in ascending order, for the groups that changed after `since`.
  template <class Visit>
  void ForEachSince(Stamp since, const Visit& visit) const {
    ForEachDifference(*this, since, visit);
  }
  // Calls visit(group), in ascending order, for the groups in which something that was made from
  // `other`, when its latest stamp was `made_at`, may not be current here.
  template <class Visit>
  void ForEachDifference(const GroupStamps& other, Stamp made_at, const Visit& visit) const {
    const auto differs = [&](Stamp here, Stamp there) { return here != there || there > made_at; };
    ForRuns([&](std::size_t chunk) { return differs(of_chunk_[chunk], other.of_chunk_[chunk]); },
            [&](std::size_t begin, std::size_t end) {
              for (std::size_t group = begin; group < end; ++group) {
                if (differs(of_group_[group], other.of_group_[group])) visit(group);
              }
            });
  }

 private:
  template <class Wanted, class Visit>
  void ForRuns(const Wanted& wanted, const Visit& visit) const {
    for (std::size_t chunk = 0; chunk < of_chunk_.size();) {
      if (!wanted(chunk)) {
        ++chunk;
        continue;
      }
      const std::size_t first = chunk;
      while (++chunk < of_chunk_.size() && wanted(chunk)) {
      }
      visit(first * kChunk, std::min(chunk * kChunk, of_group_.size()));
    }
  }

  // Groups of one chunk that changed with one stamp.
  struct Change {
    Stamp stamp = 0;
    std::size_t chunk = 0;
    std::uint64_t groups = 0;
  };
  static_assert(kChunk == 64, "a bit for each group of a chunk");

  void List(std::size_t chunk, std::uint64_t group, Stamp stamp) {
    if (of_group_.size() < kWorthListing) {
      listed_since_ = stamp;
      return;
    }
    if (changes_ > 0) {
      Change& last = listed_[(changes_ - 1) % kListed];
      if (last.stamp == stamp && last.chunk == chunk) {
        last.groups |= group;
        return;
      }
    }
    if (listed_.size() < kListed) {
      listed_.push_back({stamp, chunk, group});
    } else {
      Change& oldest = listed_[changes_ % kListed];
      listed_since_ = oldest.stamp;
      oldest = {stamp, chunk, group};
    }
    ++changes_;
  }

  // Number of changes that are listed. It takes as long to look at all groups of a large cluster as
  // at these.
  static constexpr std::size_t kListed = 2048;
  // Changes are listed from this many groups on: with fewer, looking at all stamps is sooner than
  // going through a list.
  static constexpr std::size_t kWorthListing = 2048;

  std::vector<Stamp> of_group_;
  std::vector<Stamp> of_chunk_;  // the latest of its groups'
  Stamp latest_;
  std::size_t changes_ = 0;     // so far; change i is listed at i % kListed
  std::vector<Change> listed_;  // the latest ones
  Stamp listed_since_;          // every change with a later stamp is listed
  std::atomic<bool> frozen_ = false;
};

inline Stamp GroupStamps::Next() {
  static std::atomic<Stamp> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace espalier
