// Writes model values as the Kubernetes objects that they could have been read from.
#pragma once

#include "host/model/cluster.hpp"
#include "service/cli/reports/object_writer.hpp"

namespace espalier {

// Writes an object with the fields that generated clusters have, as do the functions below.
void WriteObject(const Node& node, ObjectWriter& out);
void WriteObject(const Topology& topology, ObjectWriter& out);
void WriteObject(const ResourceFlavor& flavor, ObjectWriter& out);  // name and topology only
// Writes strategy, quota and the labels that namespaces must have.
void WriteObject(const ClusterQueue& queue, ObjectWriter& out);
void WriteObject(const LocalQueue& queue, ObjectWriter& out);
// Writes owners, node, requests and phase.
void WriteObject(const Pod& pod, ObjectWriter& out);
// Writes pod sets, admission and conditions; of templates only requests and node selectors.
void WriteObject(const Workload& workload, ObjectWriter& out);

// Writes the value of a pod set's topologyRequest.
void WriteTopologyRequest(const TopologyRequest& request, ObjectWriter& out);

}  // namespace espalier
