// Which blocks of leaves changed on a state, and on the states it branched off from before that.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace espalier {

// Outlives its state, so that what was made from a state that is gone may serve another branch:
// only the blocks behind the entries they share have to be made anew.
struct ChangeLog {
  // Entries up to `end` were written by this state or one before it.
  struct Writer {
    std::uint64_t state = 0;  // FlavorState::identity
    std::size_t end = std::numeric_limits<std::size_t>::max();
  };

  std::vector<std::int32_t> blocks;  // oldest first
  std::vector<Writer> writers;       // oldest first; the last one is the log's own state
  std::atomic<bool> ended = false;   // the state is gone: anyone may read, nobody writes
};

// How many entries the logs of two branches have in common, from the first one on; nothing when the
// states have no origin in common. Neither may be written meanwhile.
inline std::optional<std::size_t> SharedEntries(const ChangeLog& a, const ChangeLog& b) {
  std::optional<std::size_t> shared;
  for (std::size_t i = 0; i < std::min(a.writers.size(), b.writers.size()); ++i) {
    const ChangeLog::Writer& of_a = a.writers[i];
    const ChangeLog::Writer& of_b = b.writers[i];
    if (of_a.state != of_b.state) break;
    shared = std::min({of_a.end, of_b.end, a.blocks.size(), b.blocks.size()});
    if (of_a.end != of_b.end) break;
  }
  return shared;
}

}  // namespace espalier
