// Computes what the answer to a request books.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/engine/request.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Pods of one pod set that an answer adds to one leaf.
struct AddedPods {
  const PodSetRequest* pod_set = nullptr;  // in the request
  std::string leaf;                        // as in R4.1
  std::int64_t count = 0;                  // positive
};

// Returns what an answer adds, per pod set and domain in their order: for a replacement only the
// pods that moved, for a resize only those beyond the previous assignment (R21.8). Points into
// `request`.
std::vector<AddedPods> PodsAdded(const WorkloadRequest& request, const WorkloadAnswer& answer);

// Returns the usage that an answer books: per flavor and leaf id, pods * requests and the pod slots
// (R5.4). For replacements and resizes only the added pods count.
std::vector<FlavorLeafUsage> BookedUsage(const WorkloadRequest& request,
                                         const WorkloadAnswer& answer);

}  // namespace espalier
