// A cluster of one node, n1, with a queue in namespace team.
#pragma once

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace espalier {

// Returns its objects as YAML. `allocatable` is that of the node besides 110 pods, `quota` what the
// only flavor has of each resource: "cpu: 8, example.com/gpu: 4".
inline std::string QueueOfOne(const std::string& allocatable, const std::string& quota) {
  std::string covered;
  std::string nominal;
  for (std::size_t at = 0; at < quota.size();) {
    const std::size_t colon = quota.find(": ", at);
    const std::size_t end = std::min(quota.find(", ", at), quota.size());
    const std::string resource = quota.substr(at, colon - at);
    covered += covered.empty() ? resource : ", " + resource;
    nominal += fmt::format("{}{{name: {}, nominalQuota: {}}}", nominal.empty() ? "" : ", ",
                           resource, quota.substr(colon + 2, end - colon - 2));
    at = std::min(end + 2, quota.size());
  }
  return fmt::format(R"(
apiVersion: v1
kind: Node
metadata: {{name: n1, labels: {{pool: a, kubernetes.io/hostname: n1}}}}
status: {{allocatable: {{{}, pods: "110"}}, conditions: [{{type: Ready, status: "True"}}]}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {{name: t}}
spec: {{levels: [{{nodeLabel: kubernetes.io/hostname}}]}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: f}}
spec: {{nodeLabels: {{pool: a}}, topologyName: t}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: cq}}
spec:
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [{}]
    flavors: [{{name: f, resources: [{}]}}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: lq, namespace: team}}
spec: {{clusterQueue: cq}}
)",
                     allocatable, covered, nominal);
}

}  // namespace espalier
