// Reads which devices claims ask for, and charges them to quota as Kueue does (R30.7).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "host/model/cluster.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

struct ClusterDefaults;  // host/readers/effective_requests.hpp
struct NamespaceLimits;

// The devices that a claim asks for, as far as quota counts them.
struct ClaimedDevices {
  std::map<std::string, std::int64_t> count_of_class;  // DeviceClass -> devices
  // Why Kueue counts none of them, in its words: the field below the claim, its value as Go prints
  // it, and what is wrong with it. Empty when it counts them.
  std::string problem_field;
  std::string problem_value;
  std::string problem;
  bool has_selectors = false;  // Kueue also looks whether there are as many devices
};

// Reads the requests for devices of a ResourceClaimTemplate. What the API server fills in counts as
// filled in.
ClaimedDevices ReadClaimedDevices(JsonValue claim_template, const ReadContext& context);

// Returns what the containers of a PodSpec request of resources that a DeviceClass stands for: the
// most of any init container, or the sum of the others where that is more. `limits` are those of
// the namespace, or null.
Resources DeviceBackedRequests(JsonValue pod_spec, const ReadContext& context,
                               const ClusterDefaults& defaults, const NamespaceLimits* limits);

// Fills `devices` of the pod sets of unfinished workloads with a queue, by the mappings of Kueue's
// Configuration, and refuses those whose devices Kueue does not count: of those that run, the
// slices that are to replace them. Empties `device_backed` where the Configuration has quota count
// these as they are requested. With `levels_count`, claims that say where pods go (W8.2) are not
// charged. Without a Configuration nothing is charged, and a warning says so.
void ChargeDevices(const ClusterDefaults& defaults, bool levels_count, Cluster& cluster,
                   Diagnostics& diagnostics);

}  // namespace espalier
