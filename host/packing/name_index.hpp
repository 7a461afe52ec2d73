// Positions in a list of 100,000s of names, by name: one flat table, which fills several times as
// fast as one with a node per name.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace espalier {

// Does not hold the names: `name_at` gives the one at a position.
class NameIndex {
 public:
  NameIndex() = default;
  // For up to `names` names.
  explicit NameIndex(std::size_t names) : slots_(std::bit_ceil(2 * names + 1)) {}

  // The bytes that an index for so many names takes.
  static std::size_t Bytes(std::size_t names) {
    return std::bit_ceil(2 * names + 1) * sizeof(Slot);
  }

  static std::uint32_t Hash(std::string_view name) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>()(name));
  }

  // False when an equal name is there already; it stays.
  template <class NameAt>
  bool Add(std::int32_t position, const NameAt& name_at) {
    return Add(position, Hash(name_at(position)), name_at);
  }
  // The same with the hash of the name.
  template <class NameAt>
  bool Add(std::int32_t position, std::uint32_t hash, const NameAt& name_at) {
    Slot& slot = slots_[SlotOf(
        hash, [&](std::int32_t other) { return name_at(other) == name_at(position); })];
    if (slot.position >= 0) return false;
    slot = {hash, position};
    return true;
  }

  // The position of a name, or -1.
  template <class NameAt>
  std::int32_t Find(std::string_view name, const NameAt& name_at) const {
    if (slots_.empty()) return -1;
    return slots_[SlotOf(Hash(name),
                         [&](std::int32_t position) { return name_at(position) == name; })]
        .position;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t position = -1;  // -1: free
  };

  // The slot that holds the name of this hash, or the free one where it belongs.
  template <class HasName>
  std::size_t SlotOf(std::uint32_t hash, const HasName& has_name) const {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].position >= 0 &&
           (slots_[at].hash != hash || !has_name(slots_[at].position))) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
};

}  // namespace espalier
