// Memory one thread decides in, grown on demand and reused.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/decisions/workspace.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Owns the arrays of a CountsView.
class CountsStorage {
 public:
  // Arrays for `domains` domains; those of slices and of the leader only when they differ from
  // their twins. Keeps memory that is already there.
  void Resize(std::int32_t domains, bool with_slices, bool with_leader);
  CountsView View();
  bool with_slices() const { return with_slices_; }
  bool with_leader() const { return with_leader_; }

 private:
  std::vector<StoredCount> pods_;
  std::vector<StoredCount> slices_;
  std::vector<StoredCount> pods_with_leader_;
  std::vector<StoredCount> slices_with_leader_;
  std::vector<std::uint8_t> leaders_;
  bool with_slices_ = false;
  bool with_leader_ = false;
};

class Scratch {
 public:
  // A workspace for a tree; balanced placement's part only when asked for.
  Workspace Get(const TreeView& tree, bool balanced);
  // Where the leaf counts of the job at hand are made.
  CountsStorage& leaves() { return leaves_; }
  // More selection states for the next Get; false when the limit is reached.
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
