// Counts and remembers the ways in which holds ended.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

namespace espalier {

enum class HoldEnd : std::uint8_t {
  kConfirmed,  // usage was reported in its place
  kReleased,
  kExpired,
  kBroken,   // an update took a node of it away
  kDropped,  // a load has a node of it no more, or its state was unloaded
};
constexpr std::size_t kHoldEnds = 5;

// Counts holds over the life of a server. Thread-safe.
struct HoldCounts {
  std::atomic<std::int64_t> made = 0;
  std::array<std::atomic<std::int64_t>, kHoldEnds> ended{};  // by HoldEnd

  void CountEnd(HoldEnd how, std::size_t holds = 1) {
    ended[static_cast<std::size_t>(how)] += static_cast<std::int64_t>(holds);
  }
};

// Remembers how the latest holds of a state ended.
class EndedHolds {
 public:
  static constexpr std::size_t kMost = 4096;

  void Remember(const std::string& id, HoldEnd how);

  // Returns how the hold of an id ended; nullopt when it did not, or too long ago.
  std::optional<HoldEnd> Find(const std::string& id) const;

 private:
  // Ids by their hashes, as ids are long and only tell what an error says.
  std::unordered_map<std::size_t, HoldEnd> how_;
  std::deque<std::size_t> latest_;
};

}  // namespace espalier
