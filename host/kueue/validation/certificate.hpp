// Explains why a workload is not placed, and which small changes would let it fit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/engine/request.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/kueue/objects/node_participation.hpp"
#include "host/kueue/validation/ruled_out.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"
#include "host/what_if/prefix_search.hpp"

namespace espalier {

// A requested resource of which a domain has too little.
struct BindingResource {
  std::string resource;
  std::int64_t pods = 0;  // pods that the domain has enough of it for
  Amount missing = 0;     // what the remaining pods request of it
};

// The domain that comes nearest to holding a pod set that does not fit.
struct NearMiss {
  std::string pod_set;
  std::string flavor;
  std::string level;                     // label key; empty: the whole flavor was not enough
  std::vector<std::string> domain;       // values, coarsest first; empty with the level
  std::int64_t fit = 0;                  // pods that it can hold, in whole slices
  std::int64_t pods = 0;                 // pods that have to fit
  std::int64_t nodes = 0;                // leaves in it
  std::int64_t nodes_with_room = 0;      // leaves with room for one pod at least
  std::int64_t nodes_not_matching = 0;   // leaves that selector, affinity or taints rule out
  std::vector<BindingResource> binding;  // the scarcest first; empty: resources are not why
  std::vector<RuledOut> ruled_out = {};  // of nodes_not_matching, most nodes first
};

// The most that a pod may ask of a resource.
struct LowerRequest {
  std::string resource;
  Amount amount = 0;
  Amount asked = 0;  // that it asks for
  bool operator==(const LowerRequest&) const = default;
};

// Nodes that take part once they have a label of a level.
struct LabelledNodes {
  std::string label;
  std::string value;
  std::vector<std::string> nodes;
  bool operator==(const LabelledNodes&) const = default;
};

// Changes after each of which alone the workload fits.
struct PossibleChanges {
  std::int32_t fewer_pods = 0;        // the most pods that fit; 0: not even one, or not asked
  std::string coarser_level;          // label key to require instead; empty when no level helps
  bool anywhere = false;              // whether it fits when no level is required
  std::vector<std::string> repaired;  // cordoned or not-ready nodes to repair, any one of them
  std::vector<ObjectKey> gone;        // admitted workloads to remove, lowest priority first
  // Nodes to repair at once, none of which could be left out; none where one is enough.
  std::vector<std::string> repaired_together = {};
  std::vector<LabelledNodes> labelled = {};  // labels of levels that nodes lack
  std::int32_t slice_size = 0;               // the largest smaller one; 0: none, or not asked
  std::vector<LowerRequest> lower_requests = {};
  std::vector<std::string> other_flavors = {};  // of the state
  std::vector<std::string> without = {};        // parts of selector and affinity, as RuledOut::by
  std::vector<std::string> tolerated = {};      // taints, as key=value:effect
};

struct Certificate {
  bool fits = false;
  WorkloadAnswer answer;   // on the cluster as it is
  bool never = false;      // whether it does not fit even on empty nodes
  bool undecided = false;  // whether empty nodes hold it is not known (DecideVerdicts)
  WorkloadAnswer empty;    // the answer on empty nodes; set only when it does not fit
  // The near miss on the cluster as it is, or on empty nodes for a workload that never fits. Absent
  // when the request is refused whatever capacity there is.
  std::optional<NearMiss> near_miss;
  std::vector<LeftOutNodes> left_out = {};  // of the flavors of the request
  PossibleChanges changes;
};

// Returns the domain that comes nearest to holding a request on a state, or nullopt when the
// request fits or is refused whatever capacity there is.
std::optional<NearMiss> FindNearMiss(const ClusterState& state, const WorkloadRequest& request,
                                     const Engine& engine);

// An admitted workload, and the usage that is freed when it is removed.
struct RunningWorkload {
  ObjectKey key;
  Victim victim;
  std::int64_t priority = 0;
};

// Returns the jobs that hold quota, each as one, but for that of `workload`: by priority, then key.
std::vector<RunningWorkload> RunningWorkloads(const Cluster& cluster, const ObjectKey& workload);

// Explains a request on `state`, which was built from `input`; each of `running` is tried alone, in
// order. Every change is tried, not guessed. Errors are those of ClusterState::Build and of the
// search for victims, and why the engine's budget was stopped.
Result<Certificate> Explain(const ClusterState& state, const ClusterStateInput& input,
                            std::span<const RunningWorkload> running,
                            const WorkloadRequest& request, const Engine& engine);

}  // namespace espalier
