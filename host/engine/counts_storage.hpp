// Memory for the counts of domains, grown on demand and reused.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/views.hpp"

namespace espalier {

// Owns the arrays of a CountsView.
class CountsStorage {
 public:
  // Number of entries behind the last domain that may be read.
  static constexpr std::int32_t kReadAhead = 16;

  // Makes arrays for `domains` domains; those of slices and of the leader only when they differ
  // from their twins. Keeps memory that is already there.
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

}  // namespace espalier
