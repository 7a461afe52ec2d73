#include <vector>

#include <fmt/format.h>

#include "tests/differential/instance.hpp"

namespace espalier::differential {
namespace {

std::string Json(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + "\"";
}

// Items are separated by commas.
void AppendItem(std::string& list, const std::string& item) {
  if (!list.empty()) list += ',';
  list += item;
}

std::string Json(bool value) { return value ? "true" : "false"; }
std::string Json(std::int32_t value) { return std::to_string(value); }
std::string Json(std::int64_t value) { return std::to_string(value); }

std::string Json(const Taint& taint);
std::string Json(const Toleration& toleration);
std::string Json(const NodeSelectorRequirement& requirement);
std::string Json(const NodeSelectorTerm& term);
std::string Json(const PreferredSchedulingTerm& term);
std::string Json(const SliceConstraint& constraint);
std::string Json(const Node& node);
std::string Json(const LeafUsage& usage);
std::string Json(const PodSetUpdate& update);
std::string Json(const PodSetRequest& request);

template <class T>
std::string Json(const std::vector<T>& values) {
  std::string json;
  for (const T& value : values) AppendItem(json, Json(value));
  return "[" + json + "]";
}

template <class Value>
std::string Json(const FlatMap<Value>& map) {
  std::string json;
  for (const auto& [key, value] : map) {
    AppendItem(json, Json(key) + ":" + Json(value));
  }
  return "{" + json + "}";
}

// An object of members in order; empty ones are left out.
class Object {
 public:
  Object& Add(const std::string& name, const std::string& json) {
    if (json.empty() || json == "{}" || json == "[]" || json == "\"\"") return *this;
    return AddAlways(name, json);
  }
  Object& AddAlways(const std::string& name, const std::string& json) {
    AppendItem(members_, Json(name) + ":" + json);
    return *this;
  }
  template <class T>
  Object& AddIf(const std::string& name, const std::optional<T>& value) {
    return value ? AddAlways(name, Json(T{*value})) : *this;
  }
  std::string Text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

std::string Json(const Taint& taint) {
  return Object()
      .AddAlways("key", Json(taint.key))
      .Add("value", Json(taint.value))
      .AddAlways("effect", Json(taint.effect))
      .Text();
}

std::string Json(const Toleration& toleration) {
  return Object()
      .Add("key", Json(toleration.key))
      .Add("operator", Json(toleration.operation))
      .Add("value", Json(toleration.value))
      .Add("effect", Json(toleration.effect))
      .Text();
}

std::string Json(const NodeSelectorRequirement& requirement) {
  return Object()
      .AddAlways("key", Json(requirement.key))
      .AddAlways("operator", Json(requirement.operation))
      .Add("values", Json(requirement.values))
      .Text();
}

std::string Json(const NodeSelectorTerm& term) {
  return Object()
      .Add("matchExpressions", Json(term.match_expressions))
      .Add("matchFields", Json(term.match_fields))
      .Text();
}

std::string Json(const PreferredSchedulingTerm& term) {
  return Object()
      .AddAlways("weight", Json(std::int64_t{term.weight}))
      .AddAlways("preference", Json(term.preference))
      .Text();
}

std::string Json(const SliceConstraint& constraint) {
  return Object()
      .AddAlways("topology", Json(constraint.topology))
      .AddAlways("size", Json(std::int64_t{constraint.size}))
      .Text();
}

std::string Json(const TopologyRequest& request) {
  return Object()
      .AddIf("required", request.required)
      .AddIf("preferred", request.preferred)
      .AddIf("unconstrained", request.unconstrained)
      .AddIf("podSetSliceRequiredTopology", request.slice_topology)
      .AddIf("podSetSliceSize", request.slice_size)
      .Add("podsetSliceRequiredTopologyConstraints", Json(request.slice_constraints))
      .Text();
}

std::string Quantities(const Resources& resources) {
  Object json;
  for (const auto& [name, amount] : resources) {
    json.AddAlways(name, Json(std::to_string(amount) + (name == "cpu" ? "m" : "")));
  }
  return json.Text();
}

std::string Json(const Node& node) {
  const std::string ready =
      Object()
          .AddAlways("type", Json(std::string("Ready")))
          .AddAlways("status", Json(std::string(node.ready ? "True" : "False")))
          .Text();
  Object spec;
  spec.Add("taints", Json(node.taints));
  if (node.unschedulable) spec.AddAlways("unschedulable", "true");
  return Object()
      .AddAlways(
          "metadata",
          Object().AddAlways("name", Json(node.name)).Add("labels", Json(node.labels)).Text())
      .Add("spec", spec.Text())
      .AddAlways("status", Object()
                               .Add("allocatable", Quantities(node.allocatable))
                               .AddAlways("conditions", "[" + ready + "]")
                               .Text())
      .Text();
}

std::string PodJson(const std::string& name, const std::string& node, const Resources& requests) {
  const std::string container =
      Object()
          .AddAlways("name", Json(std::string("main")))
          .Add("resources", Object().Add("requests", Quantities(requests)).Text())
          .Text();
  return Object()
      .AddAlways("metadata", Object().AddAlways("name", Json(name)).Text())
      .AddAlways("spec", Object()
                             .AddAlways("nodeName", Json(node))
                             .AddAlways("containers", "[" + container + "]")
                             .Text())
      .AddAlways("status", Object().AddAlways("phase", Json(std::string("Running"))).Text())
      .Text();
}

// Returns as many pods as the usage has pod slots; the first of each node requests everything.
std::string Pods(const std::vector<NodeUsage>& usage) {
  std::string json;
  for (const NodeUsage& on_node : usage) {
    Resources requests = on_node.usage;
    const Amount* slots = requests.Find(kPodsResource);
    const Amount pods = slots == nullptr ? 1 : *slots;
    requests.Erase(kPodsResource);
    for (Amount i = 0; i < pods; ++i) {
      AppendItem(json, PodJson(fmt::format("{}-{}", on_node.node, i), on_node.node,
                               i == 0 ? requests : Resources{}));
    }
  }
  return "[" + json + "]";
}

std::string LeafUsages(const std::vector<FlavorLeafUsage>& usage) {
  std::string json;
  for (const FlavorLeafUsage& on_leaf : usage) {
    AppendItem(json, Object()
                         .AddAlways("leaf", Json(on_leaf.leaf))
                         .AddAlways("tas", Json(on_leaf.usage))
                         .Text());
  }
  return "[" + json + "]";
}

std::string Json(const LeafUsage& usage) {
  return Object().AddAlways("leaf", Json(usage.leaf)).AddAlways("usage", Json(usage.usage)).Text();
}

// One slice per domain: always valid, if not what the encoder would choose (R19.1).
std::string Encoded(const TopologyAssignment& assignment) {
  std::string slices;
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    std::string values;
    for (const std::string& value : domain.values) {
      AppendItem(values, Object().AddAlways("universal", Json(value)).Text());
    }
    AppendItem(
        slices,
        Object()
            .AddAlways("domainCount", "1")
            .AddAlways("podCounts",
                       Object().AddAlways("universal", Json(std::int64_t{domain.count})).Text())
            .AddAlways("valuesPerLevel", "[" + values + "]")
            .Text());
  }
  return Object()
      .AddAlways("levels", Json(assignment.levels))
      .AddAlways("slices", "[" + slices + "]")
      .Text();
}

std::string Json(const PodSetUpdate& update) {
  return Object()
      .AddAlways("name", Json(update.name))
      .Add("annotations", Json(update.annotations))
      .Add("labels", Json(update.labels))
      .Add("nodeSelector", Json(update.node_selector))
      .Add("tolerations", Json(update.tolerations))
      .Text();
}

std::string Template(const PodTemplate& pod) {
  Object node_affinity;
  if (pod.affinity.required) {
    node_affinity.AddAlways(
        "requiredDuringSchedulingIgnoredDuringExecution",
        Object().AddAlways("nodeSelectorTerms", Json(*pod.affinity.required)).Text());
  }
  node_affinity.Add("preferredDuringSchedulingIgnoredDuringExecution",
                    Json(pod.affinity.preferred));
  const std::string spec =
      Object()
          .Add("nodeSelector", Json(pod.node_selector))
          .Add("tolerations", Json(pod.tolerations))
          .Add("affinity", Object().Add("nodeAffinity", node_affinity.Text()).Text())
          .Text();
  const std::string metadata =
      Object().Add("annotations", Json(pod.annotations)).Add("labels", Json(pod.labels)).Text();
  return Object().Add("metadata", metadata).Add("spec", spec).Text();
}

std::string Json(const PodSetRequest& request) {
  Object pod_set;
  pod_set.AddAlways("name", Json(request.name));
  if (request.topology_request) {
    pod_set.AddAlways("topologyRequest", Json(*request.topology_request));
  }
  pod_set.Add("template", Template(request.pod_template));

  Object json;
  json.AddAlways("podSet", pod_set.Text());
  json.AddAlways("count", Json(std::int64_t{request.count}));
  json.AddAlways("requests", Json(request.requests));
  json.Add("podSetUpdates", Json(request.updates));
  if (request.implied) json.AddAlways("implied", "true");
  json.AddIf("podSetGroup", request.group);
  if (request.previous_assignment) {
    json.AddAlways("previousAssignment", Encoded(*request.previous_assignment));
  }
  return json.Text();
}

std::string WorkloadJson(const ReplacementContext& context) {
  std::string assignments;
  for (const PodSetAssignment& admitted : context.admitted) {
    Object json;
    json.AddAlways("name", Json(admitted.name));
    if (admitted.topology_assignment) {
      json.AddAlways("topologyAssignment", Encoded(*admitted.topology_assignment));
    }
    AppendItem(assignments, json.Text());
  }
  std::string unhealthy;
  for (const std::string& node : context.unhealthy_nodes) {
    AppendItem(unhealthy, Object().AddAlways("name", Json(node)).Text());
  }
  Object metadata;
  metadata.AddAlways("name", Json(std::string("wl")));
  metadata.AddAlways("namespace", Json(std::string("default")));
  if (context.owned_by_single_pod) {
    metadata.AddAlways("ownerReferences",
                       R"([{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}])");
  }
  const std::string admission = Object()
                                    .AddAlways("clusterQueue", "\"\"")
                                    .AddAlways("podSetAssignments", "[" + assignments + "]")
                                    .Text();
  return Object()
      .AddAlways("metadata", metadata.Text())
      .AddAlways("status", Object()
                               .AddAlways("admission", admission)
                               .AddAlways("unhealthyNodes", "[" + unhealthy + "]")
                               .Text())
      .Text();
}

std::string RequestJson(const WorkloadRequest& request) {
  Object json;
  json.AddAlways("podSets", Json(request.pod_sets));
  if (request.simulate_empty) json.AddAlways("simulateEmpty", "true");
  if (request.replacement) json.AddAlways("workload", WorkloadJson(*request.replacement));
  return json.Text();
}

std::string Gates(const FeatureGates& gates) {
  const FeatureGates defaults;
  Object json;
  const auto add = [&](const char* name, bool FeatureGates::*gate) {
    if (gates.*gate != defaults.*gate) json.AddAlways(name, Json(gates.*gate));
  };
  add("TASProfileMixed", &FeatureGates::profile_mixed);
  add("TASBalancedPlacement", &FeatureGates::balanced_placement);
  add("TASRespectNodeAffinityPreferred", &FeatureGates::respect_node_affinity_preferred);
  add("TASHandleOverlappingFlavors", &FeatureGates::handle_overlapping_flavors);
  add("SkipReassignmentForPodOwnedWorkloads",
      &FeatureGates::skip_reassignment_for_pod_owned_workloads);
  add("TASAssignmentsEncodingByHostnamePrefix",
      &FeatureGates::assignments_encoding_by_hostname_prefix);
  add("ElasticJobsViaWorkloadSlicesWithTAS",
      &FeatureGates::elastic_jobs_via_workload_slices_with_tas);
  return json.Text();
}

std::string Expected(const WorkloadAnswer& answer) {
  Object json;
  for (const PodSetAnswer& pod_set : answer.pod_sets) {
    Object entry;
    if (pod_set.assignment) {
      std::string domains;
      for (const TopologyDomainAssignment& domain : pod_set.assignment->domains) {
        AppendItem(domains, Object()
                                .AddAlways("count", Json(std::int64_t{domain.count}))
                                .AddAlways("values", Json(domain.values))
                                .Text());
      }
      entry.AddAlways("assignment", Object()
                                        .AddAlways("domains", "[" + domains + "]")
                                        .AddAlways("levels", Json(pod_set.assignment->levels))
                                        .Text());
    }
    if (pod_set.failure) entry.AddAlways("reason", Json(pod_set.failure->reason));
    json.AddAlways(pod_set.name, entry.Text());
  }
  return json.Text();
}

}  // namespace

std::string CaseLine(const std::string& name, const Instance& instance,
                     const WorkloadAnswer& expected) {
  const std::string topology = Object()
                                   .AddAlways("levels", Json(instance.topology().levels))
                                   .AddAlways("name", Json(instance.topology().name))
                                   .Text();
  const std::string flavor = Object()
                                 .AddAlways("name", Json(instance.flavor().name))
                                 .Add("nodeLabels", Json(instance.flavor().node_labels))
                                 .Add("tolerations", Json(instance.flavor().tolerations))
                                 .Text();
  return Object()
      .AddAlways("name", Json(name))
      .Add("gates", Gates(instance.gates))
      .AddAlways("topology", topology)
      .AddAlways("flavor", flavor)
      .AddAlways("nodes", Json(instance.cluster.nodes))
      .Add("pods", Pods(instance.cluster.non_tas_usage))
      .Add("leafUsage", LeafUsages(instance.cluster.tas_usage))
      .Add("assumedUsage", Json(instance.request.assumed_usage))
      .AddAlways("request", RequestJson(instance.request))
      .AddAlways("expect", Expected(expected))
      .Text();
}

}  // namespace espalier::differential
