// Memory for the decisions of one thread, grown on demand and reused.
#pragma once

#include <cstdint>
#include <vector>

#include "host/engine/counts_storage.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/views.hpp"

namespace espalier {

class Scratch {
 public:
  // Returns a workspace for a tree; balanced placement's part only when asked for.
  Workspace Get(const TreeView& tree, bool balanced);
  // Returns the memory for the leaf counts of the current job.
  CountsStorage& leaves() { return leaves_; }
  // Adds selection states for the next Get; returns false when the limit is reached.
  bool GrowStates();

 private:
  std::vector<Candidate> level_;
  std::vector<Candidate> chosen_;
  std::vector<Share> current_;
  std::vector<Share> next_;
  CountsStorage leaves_;
  CountsStorage trial_;
  CountsStorage best_;
  std::vector<double> entropy_;
  std::vector<Count> terms_;
  std::vector<SelectionState> states_;
  std::vector<std::int32_t> state_heads_;
};

}  // namespace espalier
