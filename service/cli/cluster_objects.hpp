// Model values as the Kubernetes objects they could have been read from.
#pragma once

#include "host/model/cluster.hpp"
#include "service/cli/object_writer.hpp"

namespace espalier {

// Each writes one object with what the readers look at.
void WriteObject(const Node& node, ObjectWriter& out);
void WriteObject(const Topology& topology, ObjectWriter& out);
void WriteObject(const ResourceFlavor& flavor, ObjectWriter& out);  // name and topology only
// Strategy, quota and the labels that namespaces must have.
void WriteObject(const ClusterQueue& queue, ObjectWriter& out);
void WriteObject(const LocalQueue& queue, ObjectWriter& out);
// Pod sets, admission and conditions; templates as far as requests and node selectors.
void WriteObject(const Workload& workload, ObjectWriter& out);

// The value of a pod set's topologyRequest.
void WriteTopologyRequest(const TopologyRequest& request, ObjectWriter& out);

}  // namespace espalier
