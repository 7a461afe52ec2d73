// Pods and Kueue workloads as far as placement needs them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/flat_map.hpp"
#include "host/model/node.hpp"
#include "host/model/resources.hpp"
#include "host/model/shared_value.hpp"
#include "host/model/topology.hpp"

namespace espalier {

struct ObjectKey {
  std::string namespace_;
  std::string name;
  auto operator<=>(const ObjectKey&) const = default;
  std::string ToString() const { return namespace_.empty() ? name : namespace_ + "/" + name; }
};

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  bool operator==(const OwnerReference&) const = default;
};

struct Condition {
  std::string type;
  std::string status;  // True, False, Unknown
  std::string reason;
  std::string message;
  std::optional<std::int64_t> since_seconds = {};  // lastTransitionTime, Unix seconds
  bool operator==(const Condition&) const = default;
};

struct Pod {
  ObjectKey key;
  std::string uid;
  StringMap labels;
  StringMap annotations;
  std::vector<OwnerReference> owners;
  std::string node_name;  // empty: not bound
  std::string phase;      // Pending, Running, Succeeded, Failed, ...
  StringMap node_selector;
  std::vector<std::string> scheduling_gates;
  // True where its gates were removed by a write that is not confirmed yet (W2.7).
  bool ungating_unconfirmed = false;
  Resources requests;  // effective requests of the pod (R20.4), without the `pods` slot itself
  std::int64_t priority = 0;
  bool operator==(const Pod&) const = default;
};

// A claim in the spec of a pod (spec.resourceClaims); one of the names is set at most.
struct PodResourceClaim {
  std::string claim;           // resourceClaimName: a claim that pods may share
  std::string claim_template;  // resourceClaimTemplateName: each pod has a claim of its own
  bool operator==(const PodResourceClaim&) const = default;
};

// The part of a pod set's template that matters to placement.
struct PodTemplate {
  StringMap labels;
  StringMap annotations;
  StringMap node_selector;
  std::vector<Toleration> tolerations;
  NodeAffinity affinity;
  Resources requests;  // effective requests per pod (R20.4)
  // Constraints of the pods that placement ignores: "pod anti-affinity", "1 host port".
  std::vector<std::string> ignored_constraints;
  std::vector<PodResourceClaim> resource_claims = {};  // in the order of the spec
  // Requests, per pod, of resources that stand for devices of a DeviceClass, which quota counts as
  // `devices` (R30.7).
  Resources device_backed = {};
  Resources devices = {};  // what quota counts for the devices of a pod, besides its requests
  bool operator==(const PodTemplate&) const = default;
};

struct PodSet {
  std::string name;
  std::int32_t count = 0;
  std::optional<std::int32_t> min_count;  // partial admission (R21.11)
  std::optional<TopologyRequest> topology_request;
  PodTemplate pod_template;
  std::optional<Resources> max_requests = {};  // the largest expected size of a pod (W1.5)
  bool operator==(const PodSet&) const = default;
};

// Changes that a Ready admission check makes to the template (R6.10).
struct PodSetUpdate {
  std::string name;  // of the pod set
  StringMap labels;
  StringMap annotations;
  StringMap node_selector;
  std::vector<Toleration> tolerations;
  bool operator==(const PodSetUpdate&) const = default;
};

struct PodSetAssignment {
  std::string name;
  StringMap flavors;  // resource name -> flavor name
  Resources resource_usage;
  std::optional<std::int32_t> count;
  SharedValue<TopologyAssignment> topology_assignment;
  std::optional<std::string> delayed_topology_request;  // Pending or Ready
  bool operator==(const PodSetAssignment&) const = default;
};

struct Admission {
  std::string cluster_queue;
  std::vector<PodSetAssignment> pod_set_assignments;
  bool operator==(const Admission&) const = default;
};

struct ReclaimablePod {
  std::string name;  // of the pod set
  std::int32_t count = 0;
  bool operator==(const ReclaimablePod&) const = default;
};

struct AdmissionCheckState {
  std::string name;
  std::string state;  // Pending, Ready, Retry, Rejected
  std::vector<PodSetUpdate> pod_set_updates;
  bool operator==(const AdmissionCheckState&) const = default;
};

struct GangWorkload;  // host/gangs

struct Workload {
  ObjectKey key;
  std::string uid;
  StringMap labels;
  StringMap annotations;
  std::vector<OwnerReference> owners;
  std::int64_t creation_seconds = 0;  // metadata.creationTimestamp, Unix seconds
  std::int64_t priority = 0;
  std::string priority_class;
  std::string queue_name;  // LocalQueue
  bool active = true;
  std::vector<PodSet> pod_sets;
  std::optional<Admission> admission;
  std::vector<Condition> conditions;
  std::vector<std::string> unhealthy_nodes;
  std::vector<ReclaimablePod> reclaimable_pods;
  std::vector<AdmissionCheckState> admission_checks;
  std::optional<std::int64_t> requeue_at_seconds;  // status.requeueState.requeueAt, Unix seconds
  // Why Kueue refuses its requests, in Kueue's text: they are above limits or outside of a
  // LimitRange (R21.14). Empty when they are valid.
  std::string resources_error;
  // Lines with which Kueue's webhook of Workloads refuses it, sorted (R23.12, R23.13); of one that
  // Kueue would make of a job.
  std::vector<std::string> webhook_errors;
  // Why Kueue makes no Workload of the job as the input stands, in Kueue's text; empty: it makes
  // one. It is placed all the same, as what is missing may only be missing in the input.
  std::string reconcile_error;
  // Name of the Topology that its pods ask for; empty: any will do.
  std::string topology_name;
  // Why it cannot be placed on any cluster: its request is not understood or not known yet. Empty
  // when it can be placed.
  std::string refusal;
  // Requirements of its description that its pod sets do not hold to, a sentence each: it is placed
  // otherwise than it asks.
  std::vector<std::string> not_honoured;
  // The description that its pod sets are placed as, in groups inside groups; null: as Kueue places
  // them.
  std::shared_ptr<const GangWorkload> tree;
  bool operator==(const Workload&) const = default;
};

// Returns the name of the first workload of the chain of slices that this one is in: its own
// without one.
std::string_view SliceName(const Workload& workload);

// Returns the condition of this type where its status is True, or null.
const Condition* FindCondition(const Workload& workload, std::string_view type);

// Returns whether the workload has a condition of this type with status True.
inline bool HasCondition(const Workload& workload, std::string_view type) {
  return FindCondition(workload, type) != nullptr;
}

// Drops an admission whose quota was taken back, as the condition QuotaReserved with status False
// says: what is left of it holds nothing.
void DropWithdrawnAdmission(Workload& workload);

}  // namespace espalier
