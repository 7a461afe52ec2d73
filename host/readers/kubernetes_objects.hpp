// From one parsed Kubernetes or Kueue object to its model value. Objects may be cut to what
// matters: kind, apiVersion, uid, status and the like may be absent. Whatever is wrong is reported
// to the context with its field path; the value returned then holds what could be read.
#pragma once

#include <optional>
#include <string_view>

#include "host/model/cluster.hpp"
#include "host/model/node.hpp"
#include "host/model/topology.hpp"
#include "host/model/workload.hpp"
#include "host/readers/effective_requests.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

Node ReadNode(JsonValue object, const ReadContext& context);
// ReadNode, and warns of a hostname label that Kueue would trip over.
Node ReadClusterNode(JsonValue object, const ReadContext& context);
std::vector<Taint> ReadTaints(JsonValue parent, std::string_view name, const ReadContext& context);
std::vector<Toleration> ReadTolerations(JsonValue parent, std::string_view name,
                                        const ReadContext& context);
// `affinity` is a Kubernetes Affinity object; only its nodeAffinity is read.
NodeAffinity ReadNodeAffinity(JsonValue affinity, const ReadContext& context);

// Of the annotations only those of Kueue are kept, of the owners only the controller.
Pod ReadPod(JsonValue object, const ReadContext& context, const ClusterDefaults& defaults = {});
// `object` is a PodTemplateSpec, `name_space` that of the workload.
PodTemplate ReadPodTemplate(JsonValue object, const ReadContext& context,
                            const ClusterDefaults& defaults = {}, std::string_view name_space = {});

Topology ReadTopology(JsonValue object, const ReadContext& context);
ResourceFlavor ReadResourceFlavor(JsonValue object, const ReadContext& context);
ClusterQueue ReadClusterQueue(JsonValue object, const ReadContext& context);
LocalQueue ReadLocalQueue(JsonValue object, const ReadContext& context);
AdmissionCheck ReadAdmissionCheck(JsonValue object, const ReadContext& context);
// With the label of its name, which the API server gives every Namespace.
Namespace ReadNamespace(JsonValue object, const ReadContext& context);
WorkloadPriorityClass ReadWorkloadPriorityClass(JsonValue object, const ReadContext& context);

// A Kueue Workload of v1beta1 or v1beta2. An absent spec.priority is the value of its priority
// class.
Workload ReadWorkload(JsonValue object, const ReadContext& context,
                      const ClusterDefaults& defaults = {});
// The topology request is the field, or else what the template's annotations say.
PodSet ReadPodSet(JsonValue object, const ReadContext& context,
                  const ClusterDefaults& defaults = {}, std::string_view name_space = {});
TopologyRequest ReadTopologyRequest(JsonValue object, const ReadContext& context);
PodSetUpdate ReadPodSetUpdate(JsonValue object, const ReadContext& context);
// Both encodings: `domains` of v1beta1 and `slices` of v1beta2 (R19.1), held to the limits of
// R19.9, so that the memory used stays in proportion to the input.
TopologyAssignment ReadTopologyAssignment(JsonValue object, const ReadContext& context);

// What the annotations of a PodTemplateSpec ask for (R20.11); an empty `pod_index_label` means that
// the pods have no index. Reports values that cannot be read; whether annotations may stand
// together is for validation (section 23).
std::optional<TopologyRequest> ReadTopologyAnnotations(JsonValue pod_template,
                                                       std::string_view pod_index_label,
                                                       const ReadContext& context);

// The Workload that Kueue makes of a batch Job: one pod set `main`. It carries the Job's name and
// uid.
Workload ReadJob(JsonValue object, const ReadContext& context,
                 const ClusterDefaults& defaults = {});
// True when a Job has a Kueue queue label or Kueue annotations on its template.
bool IsKueueJob(JsonValue object);

}  // namespace espalier
