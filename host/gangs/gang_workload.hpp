// The canonical description of a workload whose pods are placed together: one tree, whatever kind
// of object described it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/flat_map.hpp"
#include "host/model/rank_placement.hpp"
#include "host/model/workload.hpp"

namespace espalier {

enum class ReplicaMode {
  kUnreplicated,     // one copy
  kReplicatedPods,   // each replica is one pod
  kReplicatedGangs,  // each replica is a copy of the one gang group
};

// Returns the mode's name in the gang API: "Unreplicated", "ReplicatedPods" or "ReplicatedGangs".
std::string_view ToString(ReplicaMode mode);

enum class GangMode {
  kGang,  // nothing is placed until minCount pods can be placed together
  kOff,   // every pod is placed on its own
};

// Returns the mode's name in the gang API: "Gang" or "Off".
std::string_view ToString(GangMode mode);

// A topology domain that is requested by a claim of dynamic resource allocation.
struct TopologyClaim {
  std::string name;
  std::string resource_claim;           // name of a claim; or
  std::string resource_claim_template;  // name of a template; one of the two is set
  bool operator==(const TopologyClaim&) const = default;
};

// The topology request of one level of the tree: by level, by claim, or both.
struct GroupTopologyRequest {
  std::optional<TopologyRequest> levels;
  std::vector<TopologyClaim> claims;
  // Each run of this many consecutive pods shares a domain; unlike a slice, the last run may be
  // shorter.
  std::optional<SliceConstraint> segments = {};

  bool empty() const { return !levels && claims.empty() && !segments; }
  bool operator==(const GroupTopologyRequest&) const = default;
};

// A reference in pods to the part of another description that they belong to.
struct PartReference {
  enum class Kind { kNone, kWorkload, kWorkloadPodGroup, kPodGroup, kKaiPodGroup, kKueuePodGroup };
  Kind kind = Kind::kNone;
  std::string name;         // of the Workload or pod group
  std::string part;         // of a Workload: its pod group, or the path of a gang's part
  std::string replica_key;  // of a Workload's pod group
  auto operator<=>(const PartReference&) const = default;
};

// Pods of one shape that have the same node already.
struct RunningPods {
  std::string node;
  std::int32_t pods = 0;
  StringMap labels = {};                  // of the node; empty: it is not in the input
  std::vector<std::string> pending = {};  // names of those that do not run for all their node
  std::int64_t pending_since = 0;  // Unix seconds when the first of these was scheduled; 0: unknown
  bool operator==(const RunningPods&) const = default;
};

// Pods that are equal for placement: one shape. Counts include the pods that run already.
struct EqGroup {
  std::string name;
  PartReference part_of;  // resolved before anything is placed
  std::optional<std::int32_t> min_count;
  std::optional<std::int32_t> max_count;
  std::optional<std::int32_t> count;          // desired number now; absent: min_count
  std::optional<std::int32_t> partial_count;  // the least that partial admission may place (R21.11)
  std::optional<PodTemplate> pod_template;    // absent: the shape is unknown
  std::optional<Resources> max_requests;      // the largest expected size of a pod
  GroupTopologyRequest topology_request;
  std::vector<RunningPods> running = {};  // by node, each once
  std::string claim_problem;  // why a resource claim of its pods is not understood; empty: all are
  bool operator==(const EqGroup&) const = default;
};

// Pods that are numbered 0 to N without gaps across its equivalence groups.
struct RankedGroup {
  std::string name;
  std::string rank_from;  // field path of a pod's rank; empty: rank mode Off
  RankRequest ranks;      // never Together
  GroupTopologyRequest topology_request;
  std::vector<EqGroup> eq_groups;
  bool operator==(const RankedGroup&) const = default;
};

// Pods that are placed all or not at all.
struct GangGroup {
  std::string name;
  std::string pod_group;  // name of its PodGroup; empty: made from the workload
  GangMode mode = GangMode::kGang;
  std::optional<std::int32_t> min_count;  // of all its pods, those that run included
  std::optional<std::int32_t> max_count;
  std::optional<std::int32_t> schedule_timeout_seconds;
  std::string rescheduling_policy;
  RankRequest ranks;  // of its ranked groups against each other: ByPath or Together
  GroupTopologyRequest topology_request;
  std::vector<RankedGroup> ranked_groups;
  std::string waits_for = {};  // why it alone cannot be placed yet; empty when it can
  bool operator==(const GangGroup&) const = default;
};

// The object that a workload describes.
struct TrueWorkload {
  std::string api_group;
  std::string kind;
  std::string name;
  bool operator==(const TrueWorkload&) const = default;
};

struct GangWorkload {
  Workload head;       // facts of the whole: name, age, priority, queue; no pod sets
  std::string source;  // what it was read from, such as "jobset.x-k8s.io/v1alpha2 JobSet"
  std::optional<TrueWorkload> true_workload;
  ReplicaMode replica_mode = ReplicaMode::kUnreplicated;
  std::optional<std::int32_t> replicas;  // absent: not known
  GroupTopologyRequest topology_request;
  std::vector<GangGroup> gang_groups;
  bool whole = false;          // all gang groups are placed together or none, as Kueue places a job
  bool in_order = false;       // each gang group starts after the one before it
  std::string waits_for;       // why it cannot be placed yet; empty when it can
  bool running = false;        // its pods exist already
  std::string preemptibility;  // as in its source
  std::vector<std::string> notes;  // what is ignored or was chosen, a sentence each
  bool operator==(const GangWorkload&) const = default;
};

// Returns the field path of a pod's label: "metadata.labels['KEY']".
std::string LabelFieldPath(std::string_view key);

}  // namespace espalier
