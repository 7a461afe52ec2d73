// A queue for the nodes of pool `tas`, whose topology is block, rack and host.
#pragma once

namespace espalier {

inline constexpr const char* kQueues = R"(
apiVersion: kueue.x-k8s.io/v1beta1
kind: Topology
metadata: {name: default}
spec: {levels: [{nodeLabel: cloud/block}, {nodeLabel: cloud/rack}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: tas}
spec: {nodeLabels: {pool: tas}, topologyName: default}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: tas, resources: [{name: cpu, nominalQuota: '1000'}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: q, namespace: default}
spec: {clusterQueue: cq}
)";

}  // namespace espalier
