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
  // Levels that are required beside `levels->required`, in any order. Resolved before anything is
  // placed: the finest of all is required then, and these are none.
  std::vector<std::string> also_required = {};

  bool empty() const { return !levels && claims.empty() && !segments && also_required.empty(); }
  bool operator==(const GroupTopologyRequest&) const = default;
};

// A reference in pods to the part of another description that they belong to.
struct PartReference {
  enum class Kind {
    kNone,
    kWorkload,
    kWorkloadPodGroup,
    kPodGroup,
    kKaiPodGroup,
    kKueuePodGroup,
    kCoschedulingPodGroup,  // of the scheduler plugins
    kVolcanoPodGroup,
  };
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
  std::vector<std::string> names = {};    // of the pods, ascending
  std::vector<std::string> pending = {};  // those of them that do not run for all their node
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
  // Each run of this many consecutive pods has a domain of the level to itself, among all such runs
  // of its gang: the pods of one Job of an exclusive JobSet, one pod by anti-affinity.
  std::optional<SliceConstraint> apart = {};
  // Requirements that keep its pods apart from each other and that nothing here honours, such as
  // "topology spread over cloud/rack".
  std::vector<std::string> kept_apart = {};
  bool operator==(const EqGroup&) const = default;
};

// A group between a gang group and ranked groups inside of it, which it holds together.
struct MiddleGroup {
  std::string name;
  std::int32_t within = -1;  // position of the middle group around it, before its own; -1: none
  // Minimum of the groups right inside it that are placed; absent: all.
  std::optional<std::int32_t> min_groups = {};
  GroupTopologyRequest topology_request = {};
  bool operator==(const MiddleGroup&) const = default;
};

// Pods that are numbered 0 to N without gaps across its equivalence groups.
struct RankedGroup {
  std::string name;
  std::string rank_from;  // field path of a pod's rank; empty: rank mode Off
  RankRequest ranks;      // never Together
  GroupTopologyRequest topology_request;
  std::vector<EqGroup> eq_groups;
  std::int32_t within = -1;  // position of the middle group around it; -1: none
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
  // Those inside of one middle group follow each other.
  std::vector<RankedGroup> ranked_groups;
  std::string waits_for = {};  // why it alone cannot be placed yet; empty when it can
  // Groups around ranked groups; each comes behind the one around it.
  std::vector<MiddleGroup> middle_groups = {};
  // Minimum of the groups right inside it that are placed; absent: all.
  std::optional<std::int32_t> min_groups = {};
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
  std::int32_t with_workload = 0;        // replicas that Workloads of Kueue's stand for
  GroupTopologyRequest topology_request;
  std::vector<GangGroup> gang_groups;
  std::vector<RunningPods> beside = {};  // of gangs of it that are not among these
  // All gang groups are placed together or none, as Kueue places a job; of replicated gangs those
  // of each replica.
  bool whole = false;
  bool in_order = false;  // each gang group starts after the one before it
  std::string waits_for;  // why it cannot be placed yet; empty when it can
  bool running = false;   // its pods exist already
  // Of one that runs: why its other pods are not placed; empty where it has none.
  std::string others_wait = {};
  // Level of which each copy of its gang group has a domain to itself; empty: none.
  std::string exclusive_level = {};
  std::string preemptibility;      // as in its source
  std::vector<std::string> notes;  // what is ignored or was chosen, a sentence each
  bool operator==(const GangWorkload&) const = default;
};

// Returns the field path of a pod's label: "metadata.labels['KEY']".
std::string LabelFieldPath(std::string_view key);

}  // namespace espalier
