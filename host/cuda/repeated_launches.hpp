// Remembers launches, so that a device can record those that repeat as one graph: a queue that is
// nominated every cycle has the same shapes, and so the same kernels with the same arguments.
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

// A cache of recorded sequences of kernels. `Graph` is what a device makes of a sequence.
template <class Graph>
class RepeatedLaunches {
 public:
  // Returns the graph of these calls, or null when they must be launched one by one. Calls
  // `record(calls)` to make a graph the second time they come; it may return nullopt, and is not
  // called again for them then.
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

  // Calls let_go(graph) for each graph and forgets all sequences.
  template <class LetGo>
  void Abandon(const LetGo& let_go) {
    for (Sequence& sequence : sequences_) {
      if (sequence.graph) let_go(*sequence.graph);
    }
    sequences_.clear();
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
