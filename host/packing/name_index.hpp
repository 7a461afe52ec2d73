// Indexes the positions in a list of 100,000s of names: one flat table, which fills several times
// as fast as one with a node per name.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace espalier {

// Finds the position of a name among names that it does not hold itself: `name_at` returns the name
// at a position. Names may be of any type if their hashes are given.
class NameIndex {
 public:
  NameIndex() = default;
  // Makes room for `names` names; more make it grow.
  explicit NameIndex(std::size_t names) : slots_(std::bit_ceil(2 * names + 1)) {}

  // Returns the bytes that an index for this many names takes.
  static std::size_t Bytes(std::size_t names) {
    return std::bit_ceil(2 * names + 1) * sizeof(Slot);
  }

  static std::uint32_t Hash(std::string_view name) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>()(name));
  }

  // Adds a name. Returns false, and keeps the other one, when an equal name is there already.
  template <class NameAt>
  bool Add(std::int32_t position, const NameAt& name_at) {
    return Add(position, Hash(name_at(position)), name_at);
  }
  // Adds a name whose hash is known.
  template <class NameAt>
  bool Add(std::int32_t position, std::uint32_t hash, const NameAt& name_at) {
    if (FindIf(hash, [&](std::int32_t other) { return name_at(other) == name_at(position); }) >=
        0) {
      return false;
    }
    AddNew(position, hash);
    return true;
  }
  // Adds a name that is not there yet.
  void AddNew(std::int32_t position, std::uint32_t hash) {
    if (slots_.size() < 2 * (size_ + 1)) Grow();
    slots_[SlotOf(hash, [](std::int32_t /*position*/) { return false; })] = {hash, position};
    ++size_;
  }
  // Adds the names of another index at the positions `renumber(position)`; those at -1 are left
  // out. None of them is here yet.
  template <class Renumber>
  void AddRenumbered(const NameIndex& other, const Renumber& renumber) {
    for (const Slot& slot : other.slots_) {
      const std::int32_t position = slot.position < 0 ? -1 : renumber(slot.position);
      if (position >= 0) AddNew(position, slot.hash);
    }
  }

  // Returns the position of a name, or -1.
  template <class NameAt>
  std::int32_t Find(std::string_view name, const NameAt& name_at) const {
    return FindIf(Hash(name), [&](std::int32_t position) { return name_at(position) == name; });
  }
  // Returns the position of the name of this hash for which has_name(position), or -1.
  template <class HasName>
  std::int32_t FindIf(std::uint32_t hash, const HasName& has_name) const {
    return slots_.empty() ? -1 : slots_[SlotOf(hash, has_name)].position;
  }

  // Asks for the memory in which a name of this hash is looked for.
  void Prefetch(std::uint32_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }

  // Writes the positions of `names`, as Find, to `positions`. The memory that several of them need
  // is asked for before any of it is waited for.
  template <class Position, class NameAt>
  void FindEach(std::span<const std::string_view> names, std::span<Position> positions,
                const NameAt& name_at) const {
    constexpr std::size_t kTogether = 16;
    std::array<std::uint32_t, kTogether> hashes;
    for (std::size_t begin = 0; begin < names.size(); begin += kTogether) {
      const std::size_t end = std::min(begin + kTogether, names.size());
      for (std::size_t i = begin; i < end; ++i) {
        hashes[i - begin] = Hash(names[i]);
        Prefetch(hashes[i - begin]);
      }
      for (std::size_t i = begin; i < end; ++i) {
        const std::int32_t likely = FindIf(hashes[i - begin], [](std::int32_t) { return true; });
        if (likely >= 0) __builtin_prefetch(name_at(likely).data());
      }
      for (std::size_t i = begin; i < end; ++i) {
        positions[i] = Position(FindIf(hashes[i - begin], [&](std::int32_t position) {
          return name_at(position) == names[i];
        }));
      }
    }
  }

  // Changes the position of the name at `from` to `to`.
  void Move(std::uint32_t hash, std::int32_t from, std::int32_t to) {
    slots_[SlotAt(hash, from)].position = to;
  }
  void Erase(std::uint32_t hash, std::int32_t position) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t free = SlotAt(hash, position);
    // Names behind it move up, unless that is before where a search for them begins.
    for (std::size_t at = free; slots_[at = (at + 1) & mask].position >= 0;) {
      if (((at - slots_[at].hash) & mask) < ((at - free) & mask)) continue;
      slots_[free] = slots_[at];
      free = at;
    }
    slots_[free] = {};
    --size_;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t position = -1;  // -1: free
  };

  // Returns the slot that holds the name of this hash, or the free one where it belongs.
  template <class HasName>
  std::size_t SlotOf(std::uint32_t hash, const HasName& has_name) const {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].position >= 0 &&
           (slots_[at].hash != hash || !has_name(slots_[at].position))) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }
  std::size_t SlotAt(std::uint32_t hash, std::int32_t position) const {
    return SlotOf(hash, [&](std::int32_t other) { return other == position; });
  }

  void Grow() {
    std::vector<Slot> before(std::max<std::size_t>(2 * slots_.size(), 8));
    before.swap(slots_);
    size_ = 0;
    for (const Slot& slot : before) {
      if (slot.position >= 0) AddNew(slot.position, slot.hash);
    }
  }

  std::vector<Slot> slots_;  // none or a power of two, at most half of them taken
  std::size_t size_ = 0;
};

}  // namespace espalier
