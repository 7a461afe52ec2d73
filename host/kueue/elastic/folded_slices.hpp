// Adds slices per replica to the workload that they belong to (KEP-77, W5.7).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "host/model/kueue_keys.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// Folds slices into one parent, each once.
class FoldedSlices {
 public:
  // Begins with the slices that are recorded in `parent`.
  explicit FoldedSlices(const Workload& parent);

  // Adds a slice's admission to the parent's counts, usage and assignment, and records the slice in
  // the parent by its uid or, before it has one, by its name, so that folding it again changes
  // nothing.
  void Fold(const Workload& slice, Workload& parent);

 private:
  std::unordered_set<std::string> names_;
};

// Returns the prefix of the names of the workload's slices per replica; a number follows it.
std::string ReplicaPrefix(const Workload& parent);

// Returns the first number that no folded slice has in its name. Names are not reused, as a name
// identifies a slice that has no uid yet.
std::int64_t NextReplicaNumber(const Workload& parent);

}  // namespace espalier
