// Reads one parsed Kubernetes or Kueue object into its model value. Objects may be cut to what
// matters: kind, apiVersion, uid, status and the like may be absent. Errors are reported to the
// context with their field path; the value returned then holds what could be read.
#pragma once

#include <optional>
#include <string_view>

#include "host/model/cluster.hpp"
#include "host/model/daemon_set.hpp"
#include "host/model/node.hpp"
#include "host/model/topology.hpp"
#include "host/model/workload.hpp"
#include "host/readers/effective_requests.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

Node ReadNode(JsonValue object, const ReadContext& context);
// Reads a node, and warns of a hostname label that Kueue cannot handle.
Node ReadClusterNode(JsonValue object, const ReadContext& context);
std::vector<Taint> ReadTaints(JsonValue parent, std::string_view name, const ReadContext& context);
std::vector<Toleration> ReadTolerations(JsonValue parent, std::string_view name,
                                        const ReadContext& context);
// Reads the terms of a NodeSelector, which are OR-ed.
std::vector<NodeSelectorTerm> ReadNodeSelectorTerms(JsonValue selector, const ReadContext& context);
// Reads the nodeAffinity of a Kubernetes Affinity object; the rest of it is ignored.
NodeAffinity ReadNodeAffinity(JsonValue affinity, const ReadContext& context);

// Reads a pod; keeps only Kueue's annotations, and of the owners only the controller.
Pod ReadPod(JsonValue object, const ReadContext& context, const ClusterDefaults& defaults = {});
// Returns the constraints of a PodSpec that placement ignores, as Kueue does: "pod affinity",
// "topology spread", "2 host ports".
std::vector<std::string> IgnoredConstraints(JsonValue pod_spec);
// Reads a PodTemplateSpec. `name_space` is that of the workload.
PodTemplate ReadPodTemplate(JsonValue object, const ReadContext& context,
                            const ClusterDefaults& defaults = {}, std::string_view name_space = {},
                            PodOrigin origin = PodOrigin::kTemplate);
// Reads a PodSpec in the same way, without labels and annotations.
PodTemplate ReadPodSpec(JsonValue spec, const ReadContext& context, const ClusterDefaults& defaults,
                        std::string_view name_space, PodOrigin origin = PodOrigin::kTemplate);

DaemonSet ReadDaemonSet(JsonValue object, const ReadContext& context,
                        const ClusterDefaults& defaults = {});

Topology ReadTopology(JsonValue object, const ReadContext& context);
ResourceFlavor ReadResourceFlavor(JsonValue object, const ReadContext& context);
ClusterQueue ReadClusterQueue(JsonValue object, const ReadContext& context);
LabelSelector ReadLabelSelector(JsonValue object, const ReadContext& context);
LocalQueue ReadLocalQueue(JsonValue object, const ReadContext& context);
AdmissionCheck ReadAdmissionCheck(JsonValue object, const ReadContext& context);
// Reads a namespace; adds the label with its name, which the API server gives every Namespace.
Namespace ReadNamespace(JsonValue object, const ReadContext& context);
WorkloadPriorityClass ReadWorkloadPriorityClass(JsonValue object, const ReadContext& context);

// Reads a Kueue Workload of v1beta1 or v1beta2. An absent spec.priority is the value of its
// priority class.
Workload ReadWorkload(JsonValue object, const ReadContext& context,
                      const ClusterDefaults& defaults = {});
// Reads a pod set. Its topology request is the field or, without it, what the template's
// annotations say.
PodSet ReadPodSet(JsonValue object, const ReadContext& context,
                  const ClusterDefaults& defaults = {}, std::string_view name_space = {});
TopologyRequest ReadTopologyRequest(JsonValue object, const ReadContext& context);
PodSetUpdate ReadPodSetUpdate(JsonValue object, const ReadContext& context);
// Reads both encodings: `domains` of v1beta1 and `slices` of v1beta2 (R19.1), held to the limits of
// R19.9, so that the memory used stays in proportion to the input. Reads the first form too,
// `groups` of node labels (W8.8), which does not say the order of the levels: they are in ascending
// order until OrderLevels.
TopologyAssignment ReadTopologyAssignment(JsonValue object, const ReadContext& context);
// Puts the levels of an assignment in the order of `levels`, where they are the same.
void OrderLevels(const std::vector<std::string>& levels, TopologyAssignment& assignment);

// Reads the topology request in the annotations of a PodTemplateSpec (R20.11). An empty
// `pod_index_label` means that the pods have no index. Reports values that cannot be read; which
// annotations exclude each other is checked by validation (section 23).
std::optional<TopologyRequest> ReadTopologyAnnotations(JsonValue pod_template,
                                                       std::string_view pod_index_label,
                                                       const ReadContext& context);

// Returns Kueue's text where it makes no topology request of a template's annotations, so that it
// makes no Workload; empty: it does. `with_layers`: gate TASMultiLayerTopology.
std::string TopologyRequestError(const StringMap& annotations, bool with_layers = true);

// Returns the Workload that Kueue makes of a batch Job: it has one pod set `main`, and the Job's
// name and uid.
Workload ReadJob(JsonValue object, const ReadContext& context,
                 const ClusterDefaults& defaults = {});
// Returns whether a Job has a Kueue queue label or Kueue annotations on its template.
bool IsKueueJob(JsonValue object);

}  // namespace espalier
