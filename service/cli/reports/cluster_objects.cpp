#include "service/cli/reports/cluster_objects.hpp"

#include <chrono>
#include <string>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "host/kueue/objects/quantity_text.hpp"
#include "service/cli/reports/admission_writer.hpp"

namespace espalier {
namespace {

constexpr std::string_view kKueue = "kueue.x-k8s.io/v1beta2";

void Text(std::string_view key, std::string_view value, ObjectWriter& out) {
  out.Field(key, value);
}

void TextMap(std::string_view key, const StringMap& map, ObjectWriter& out) {
  if (map.empty()) return;
  out.Key(key);
  out.BeginMap();
  for (const auto& [name, value] : map) Text(name, value, out);
  out.EndMap();
}

void Quantities(std::string_view key, const Resources& resources, ObjectWriter& out) {
  out.Key(key);
  out.BeginMap();
  for (const auto& [name, amount] : resources) Text(name, QuantityText(name, amount), out);
  out.EndMap();
}

// Opens the object and writes all but the rest of its metadata, which stays open.
void BeginObject(std::string_view api_version, std::string_view kind, const ObjectKey& key,
                 ObjectWriter& out) {
  out.BeginMap();
  Text("apiVersion", api_version, out);
  Text("kind", kind, out);
  out.Key("metadata");
  out.BeginMap();
  Text("name", key.name, out);
  if (!key.namespace_.empty()) Text("namespace", key.namespace_, out);
}

void BeginSpec(ObjectWriter& out) {
  out.EndMap();  // metadata
  out.Key("spec");
  out.BeginMap();
}

void EndSpec(ObjectWriter& out) {
  out.EndMap();  // spec
  out.EndMap();
}

void WriteCondition(std::string_view type, std::string_view status, std::string_view reason,
                    ObjectWriter& out) {
  out.BeginMap();
  Text("type", type, out);
  Text("status", status, out);
  if (!reason.empty()) Text("reason", reason, out);
  out.EndMap();
}

// One container that has all requests.
void WriteContainers(const Resources& requests, ObjectWriter& out) {
  out.Key("containers");
  out.BeginList();
  out.BeginMap();
  Text("name", "main", out);
  out.Key("resources");
  out.BeginMap();
  Quantities("requests", requests, out);
  out.EndMap();
  out.EndMap();
  out.EndList();
}

void WritePodSet(const PodSet& pod_set, ObjectWriter& out) {
  out.BeginMap();
  Text("name", pod_set.name, out);
  out.Field("count", std::int64_t{pod_set.count});
  if (pod_set.topology_request) {
    out.Key("topologyRequest");
    WriteTopologyRequest(*pod_set.topology_request, out);
  }
  out.Key("template");
  out.BeginMap();
  out.Key("spec");
  out.BeginMap();
  TextMap("nodeSelector", pod_set.pod_template.node_selector, out);
  WriteContainers(pod_set.pod_template.requests, out);
  out.EndMap();
  out.EndMap();
  out.EndMap();
}

void WriteStatus(const Workload& workload, ObjectWriter& out) {
  out.Key("status");
  out.BeginMap();
  if (workload.admission) {
    out.Key("admission");
    WriteAdmission(*workload.admission, {}, out);
  }
  out.Key("conditions");
  out.BeginList();
  for (const auto& condition : workload.conditions) {
    WriteCondition(condition.type, condition.status, condition.reason, out);
  }
  out.EndList();
  out.EndMap();
}

}  // namespace

void WriteTopologyRequest(const TopologyRequest& request, ObjectWriter& out) {
  out.BeginMap();
  if (request.required) Text("required", *request.required, out);
  if (request.preferred) Text("preferred", *request.preferred, out);
  if (request.unconstrained) {
    out.Key("unconstrained");
    out.Flag(*request.unconstrained);
  }
  if (request.slice_topology) Text("podSetSliceRequiredTopology", *request.slice_topology, out);
  if (request.slice_size) out.Field("podSetSliceSize", std::int64_t{*request.slice_size});
  if (request.pod_set_group_name) Text("podSetGroupName", *request.pod_set_group_name, out);
  out.EndMap();
}

void WriteObject(const Node& node, ObjectWriter& out) {
  BeginObject("v1", "Node", {"", node.name}, out);
  TextMap("labels", node.labels, out);
  out.EndMap();  // metadata
  out.Key("status");
  out.BeginMap();
  Quantities("allocatable", node.allocatable, out);
  out.Key("conditions");
  out.BeginList();
  WriteCondition("Ready", node.ready ? "True" : "False", "", out);
  out.EndList();
  out.EndMap();
  out.EndMap();
}

void WriteObject(const Topology& topology, ObjectWriter& out) {
  BeginObject(kKueue, "Topology", {"", topology.name}, out);
  BeginSpec(out);
  out.Key("levels");
  out.BeginList();
  for (const std::string& level : topology.levels) {
    out.BeginMap();
    Text("nodeLabel", level, out);
    out.EndMap();
  }
  out.EndList();
  EndSpec(out);
}

void WriteObject(const ResourceFlavor& flavor, ObjectWriter& out) {
  BeginObject(kKueue, "ResourceFlavor", {"", flavor.name}, out);
  BeginSpec(out);
  TextMap("nodeLabels", flavor.node_labels, out);
  if (flavor.topology_name) Text("topologyName", *flavor.topology_name, out);
  EndSpec(out);
}

void WriteObject(const ClusterQueue& queue, ObjectWriter& out) {
  BeginObject(kKueue, "ClusterQueue", {"", queue.name}, out);
  BeginSpec(out);
  Text("queueingStrategy", queue.queueing_strategy, out);
  if (queue.namespace_selector) {
    out.Key("namespaceSelector");
    out.BeginMap();
    TextMap("matchLabels", queue.namespace_selector->match_labels, out);
    out.EndMap();
  }
  out.Key("resourceGroups");
  out.BeginList();
  for (const ResourceGroup& group : queue.resource_groups) {
    out.BeginMap();
    out.Key("coveredResources");
    out.BeginList();
    for (const std::string& resource : group.covered_resources) {
      out.Value(std::string_view(resource));
    }
    out.EndList();
    out.Key("flavors");
    out.BeginList();
    for (const FlavorQuota& flavor : group.flavors) {
      out.BeginMap();
      Text("name", flavor.flavor, out);
      out.Key("resources");
      out.BeginList();
      for (const FlavorQuota::Quota& quota : flavor.resources) {
        out.BeginMap();
        Text("name", quota.resource, out);
        Text("nominalQuota", QuantityText(quota.resource, quota.nominal), out);
        out.EndMap();
      }
      out.EndList();
      out.EndMap();
    }
    out.EndList();
    out.EndMap();
  }
  out.EndList();
  EndSpec(out);
}

void WriteObject(const LocalQueue& queue, ObjectWriter& out) {
  BeginObject(kKueue, "LocalQueue", queue.key, out);
  BeginSpec(out);
  Text("clusterQueue", queue.cluster_queue, out);
  EndSpec(out);
}

void WriteObject(const Pod& pod, ObjectWriter& out) {
  BeginObject("v1", "Pod", pod.key, out);
  Text("uid", pod.uid, out);
  out.Key("ownerReferences");
  out.BeginList();
  for (const OwnerReference& owner : pod.owners) {
    out.BeginMap();
    Text("apiVersion", owner.api_version, out);
    Text("kind", owner.kind, out);
    Text("name", owner.name, out);
    Text("uid", owner.uid, out);
    out.Key("controller");
    out.Flag(owner.controller);
    out.EndMap();
  }
  out.EndList();
  BeginSpec(out);
  Text("nodeName", pod.node_name, out);
  WriteContainers(pod.requests, out);
  out.EndMap();  // spec
  out.Key("status");
  out.BeginMap();
  Text("phase", pod.phase, out);
  out.EndMap();
  out.EndMap();
}

void WriteObject(const Workload& workload, ObjectWriter& out) {
  BeginObject(kKueue, "Workload", workload.key, out);
  Text("uid", workload.uid, out);
  const std::chrono::sys_seconds created(std::chrono::seconds(workload.creation_seconds));
  Text("creationTimestamp",
       fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                   fmt::gmtime(std::chrono::system_clock::to_time_t(created))),
       out);
  BeginSpec(out);
  Text("queueName", workload.queue_name, out);
  out.Key("podSets");
  out.BeginList();
  for (const PodSet& pod_set : workload.pod_sets) WritePodSet(pod_set, out);
  out.EndList();
  out.EndMap();  // spec
  if (workload.admission || !workload.conditions.empty()) WriteStatus(workload, out);
  out.EndMap();
}

}  // namespace espalier
