// The objects of slices that are yet to be made (KEP-77, W5.3, W8.9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "host/kueue/cycle/nomination.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// Returns a slice that replaces `old` with the same counts, still without a name of its own.
Workload SliceAfter(const Workload& old);

// Returns a slice per replica of the workload: one pod of the pod set, still without a name.
Workload ReplicaSliceOf(const Workload& parent, std::size_t pod_set);

// Returns about what such a slice takes in memory, in bytes.
std::int64_t ReplicaSliceBytes(const Workload& parent, std::size_t pod_set);

// Leaves of a pod set's assignment, which `nomination` gave it with one pod more than before, that
// one pod, with the usage that quota counts by Kueue's Configuration (null: its defaults).
void KeepAddedPod(const Nomination& nomination, const PodSet& pod_set,
                  const KueueConfiguration* configuration, PodSetAssignment& assignment);

// Names for workloads of one namespace that none has yet.
class FreeNames {
 public:
  // Looks at `workloads` once, when a name is asked for; they outlive it.
  FreeNames(const std::vector<Workload>& workloads, std::string name_space)
      : workloads_(workloads), namespace_(std::move(name_space)) {}

  // Returns the first of PREFIX and a number from `number` on that no workload has, and none was
  // given before; `number` is left there.
  std::string Take(const std::string& prefix, std::int64_t& number);

 private:
  const std::vector<Workload>& workloads_;
  std::string namespace_;
  bool read_ = false;
  std::set<std::string> taken_;
};

}  // namespace espalier
