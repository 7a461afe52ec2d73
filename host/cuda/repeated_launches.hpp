// Which launches came before, so that a device can keep those that repeat as one graph: a queue
// that is nominated every cycle has the same shapes, and so the same kernels with the same
// arguments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "host/cuda/device.hpp"

namespace espalier {

// `Graph` is what a device makes of a sequence.
template <class Graph>
class RepeatedLaunches {
 public:
  // The graph of these calls, or null: launch them one by one. `record(calls)` makes one the second
  // time they come; it may answer nothing, and is not asked again then.
  template <class Record>
  const Graph* Find(std::span<const KernelCall> calls, const Record& record) {
    if (calls.size() < 2) return nullptr;  // nothing to gain
    const auto known = std::ranges::find_if(
        sequences_, [&](const Sequence& s) { return std::ranges::equal(s.calls, calls); });
    if (known == sequences_.end()) {
      if (sequences_.size() == kMaxSequences) sequences_.pop_back();
      sequences_.emplace_front().calls.assign(calls.begin(), calls.end());
      return nullptr;
    }
    sequences_.splice(sequences_.begin(), sequences_, known);
    Sequence& sequence = sequences_.front();
    if (!sequence.seen_again) sequence.graph = record(calls);
    sequence.seen_again = true;
    return sequence.graph ? &*sequence.graph : nullptr;
  }

 private:
  static constexpr std::size_t kMaxSequences = 16;
  struct Sequence {
    std::vector<KernelCall> calls;
    bool seen_again = false;
    std::optional<Graph> graph;
  };
  std::list<Sequence> sequences_;  // most recently used first
};

}  // namespace espalier
