#include "host/webhooks/object_rules.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "host/kueue/objects/assignment_encoding.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/model/label_key.hpp"
#include "host/webhooks/topology_annotations.hpp"

namespace espalier {
namespace {

constexpr std::string_view kImmutable = "field is immutable";

// Collects what is wrong with one object.
class Findings {
 public:
  Findings(std::string_view kind, std::string_view name)
      : object_(fmt::format("{} {}", kind, name)) {}

  void Add(std::string field, std::string_view value, std::string_view message) {
    found_.push_back({object_, std::move(field), std::string(value), std::string(message), {}});
  }
  void Add(std::string field, std::int64_t value, std::string_view message) {
    Add(std::move(field), fmt::format("{}", value), message);
  }
  void CheckBytes(std::string field, std::string_view text, std::size_t least, std::size_t most) {
    if (text.size() >= least && text.size() <= most) return;
    Add(std::move(field), text, fmt::format("must have {} to {} bytes", least, most));
  }
  void CheckItems(std::string field, std::size_t items, std::size_t least, std::size_t most) {
    if (items >= least && items <= most) return;
    Add(std::move(field), fmt::format("{} items", items),
        fmt::format("must have {} to {} items", least, most));
  }

  std::vector<Violation> Take() { return std::move(found_); }

 private:
  std::string object_;
  std::vector<Violation> found_;
};

void CheckOptionalBytes(Findings& findings, const std::string& field,
                        const std::optional<std::string>& text, std::size_t most) {
  if (text) findings.CheckBytes(field, *text, 0, most);
}

// R23.14
void CheckTopologyRequest(Findings& findings, const std::string& path,
                          const TopologyRequest& request) {
  CheckOptionalBytes(findings, path + ".required", request.required, 63);
  CheckOptionalBytes(findings, path + ".preferred", request.preferred, 63);
  CheckOptionalBytes(findings, path + ".podSetSliceRequiredTopology", request.slice_topology, 63);
  CheckOptionalBytes(findings, path + ".podIndexLabel", request.pod_index_label, 317);
  CheckOptionalBytes(findings, path + ".subGroupIndexLabel", request.sub_group_index_label, 317);
  CheckOptionalBytes(findings, path + ".podSetGroupName", request.pod_set_group_name, 256);
  if (request.sub_group_count.value_or(0) < 0) {
    findings.Add(path + ".subGroupCount", *request.sub_group_count,
                 "must be greater than or equal to 0");
  }
  const std::string constraints = path + ".podsetSliceRequiredTopologyConstraints";
  findings.CheckItems(constraints, request.slice_constraints.size(), 0, 3);
  for (std::size_t i = 0; i < request.slice_constraints.size(); ++i) {
    findings.CheckBytes(fmt::format("{}[{}].topology", constraints, i),
                        request.slice_constraints[i].topology, 1, 63);
  }
}

// R23.12 with its gate on, the schema's lower limit (R23.14) otherwise.
void CheckSliceSizes(Findings& findings, const std::string& path, const TopologyRequest& request,
                     const FeatureGates& gates) {
  const std::string size_field = path + ".podSetSliceSize";
  if (gates.validate_workload_slice_size && request.slice_topology && !request.slice_size) {
    findings.Add(size_field, "", "must be set when podSetSliceRequiredTopology is specified");
  }
  if (gates.validate_workload_slice_size && request.slice_size && !request.slice_topology) {
    findings.Add(size_field, *request.slice_size,
                 "may not be set when podSetSliceRequiredTopology is not specified");
  }
  const std::string_view too_small = gates.validate_workload_slice_size
                                         ? "must be greater than 0"
                                         : "must be greater than or equal to 1";
  if (request.slice_size && *request.slice_size < 1) {
    findings.Add(size_field, *request.slice_size, too_small);
  }
  for (std::size_t i = 0; i < request.slice_constraints.size(); ++i) {
    if (request.slice_constraints[i].size >= 1) continue;
    findings.Add(fmt::format("{}.podsetSliceRequiredTopologyConstraints[{}].size", path, i),
                 request.slice_constraints[i].size, too_small);
  }
}

// R23.13
void CheckRequests(Findings& findings, const std::string& path, const Resources& requests,
                   const FeatureGates& gates) {
  const std::string field = path + ".template.spec.containers";
  for (const auto& [resource, amount] : requests) {
    const std::string value = fmt::format("{}: {}", resource, amount);
    if (resource == kPodsResource) {
      findings.Add(field, value, "may not request the resource pods");
    }
    if (amount < 0 && gates.workload_validate_resources_are_non_negative) {
      findings.Add(field, value, "must be greater than or equal to 0");
    }
  }
}

// R19.9
void CheckAssignment(Findings& findings, const std::string& path,
                     const TopologyAssignment& assignment) {
  for (std::size_t i = 0; i < assignment.domains.size(); ++i) {
    const std::size_t values = assignment.domains[i].values.size();
    if (values == assignment.levels.size()) continue;
    return findings.Add(path, fmt::format("{} values in domain {}", values, i),
                        "must have one value per level in every domain");
  }
  const auto decoded = DecodeAssignment(EncodeAssignment(assignment, FeatureGates{}));
  if (!decoded) findings.Add(path, "", decoded.error().message);
}

void CheckStatus(Findings& findings, const Workload& workload) {
  findings.CheckItems("status.unhealthyNodes", workload.unhealthy_nodes.size(), 0, 8);
  if (!workload.admission) return;
  const std::string path = "status.admission.podSetAssignments";
  const auto& assignments = workload.admission->pod_set_assignments;
  findings.CheckItems(path, assignments.size(), 0, 18);
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    if (!assignments[i].topology_assignment) continue;
    CheckAssignment(findings, fmt::format("{}[{}].topologyAssignment", path, i),
                    *assignments[i].topology_assignment);
  }
}

// The pattern of the CRD takes capital letters too.
bool IsPodSetName(std::string_view name) {
  std::string lower(name);
  for (char& character : lower) {
    if (character >= 'A' && character <= 'Z') character = static_cast<char>(character - 'A' + 'a');
  }
  return lower.find('.') == std::string::npos && IsDnsSubdomain(lower);
}

// Pod sets are admitted by one assignment each, of which R23.14 has the most.
void CheckPodSetNames(Findings& findings, const std::vector<PodSet>& pod_sets) {
  findings.CheckItems("spec.podSets", pod_sets.size(), 0, 18);
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    const std::string& name = pod_sets[i].name;
    const std::string field = fmt::format("spec.podSets[{}].name", i);
    findings.CheckBytes(field, name, 1, 63);
    if (!name.empty() && !IsPodSetName(name)) {
      findings.Add(field, name, "must be letters, digits and '-', with no '-' at either end");
    }
    if (!seen.insert(name).second) findings.Add(field, name, "must be unique");
  }
}

bool IsElasticJob(const Workload& workload, const FeatureGates& gates) {
  const std::string* elastic = workload.annotations.Find(kElasticJobAnnotation);
  return gates.elastic_jobs_via_workload_slices && elastic && *elastic == "true";
}

// The kind of job that made the workload; without an owner it is taken for a batch Job.
std::string_view OwnerKind(const Workload& workload) {
  const auto it = std::ranges::find(workload.owners, true, &OwnerReference::controller);
  if (it != workload.owners.end()) return it->kind;
  return workload.owners.empty() ? "Job" : std::string_view(workload.owners[0].kind);
}

void MoveTo(std::vector<Violation>& all, std::vector<Violation> more) {
  std::ranges::move(more, std::back_inserter(all));
}

// Returns what must stay the same of an admission: all but the two fields named in R23.13.
Admission FixedPart(Admission admission) {
  for (PodSetAssignment& assignment : admission.pod_set_assignments) {
    assignment.topology_assignment.reset();
    assignment.delayed_topology_request.reset();
  }
  return admission;
}

}  // namespace

std::vector<Violation> ValidateTopology(const Topology& topology) {
  Findings findings("Topology", topology.name);
  findings.CheckItems("spec.levels", topology.levels.size(), 1, 16);
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < topology.levels.size(); ++i) {
    const std::string& level = topology.levels[i];
    const std::string field = fmt::format("spec.levels[{}].nodeLabel", i);
    findings.CheckBytes(field, level, 1, 316);
    if (!level.empty() && !IsQualifiedName(level))
      findings.Add(field, level, "must be a label key");
    if (!seen.insert(level).second) findings.Add(field, level, "must be unique");
    if (level == kHostnameLabel && i + 1 < topology.levels.size()) {
      findings.Add(field, level, "may only be used at the lowest level of the topology");
    }
  }
  return findings.Take();
}

std::vector<Violation> ValidateTopologyUpdate(const Topology& before, const Topology& after) {
  Findings findings("Topology", after.name);
  const auto ends_with_host = [](const Topology& topology) {
    return !topology.levels.empty() && topology.levels.back() == kHostnameLabel;
  };
  if (before.levels != after.levels && !(ends_with_host(before) && ends_with_host(after))) {
    findings.Add("spec.levels", fmt::format("{}", fmt::join(after.levels, ", ")),
                 fmt::format("may only change when {} is the lowest level before and after",
                             kHostnameLabel));
  }
  return findings.Take();
}

std::vector<Violation> ValidateResourceFlavor(const ResourceFlavor& flavor) {
  Findings findings("ResourceFlavor", flavor.name);
  if (flavor.topology_name && flavor.node_labels.empty()) {
    findings.Add("spec.nodeLabels", "", "must have at least one label when topologyName is set");
  }
  findings.CheckItems("spec.nodeLabels", flavor.node_labels.size(), 0, 8);
  findings.CheckItems("spec.nodeTaints", flavor.node_taints.size(), 0, 8);
  findings.CheckItems("spec.tolerations", flavor.tolerations.size(), 0, 8);
  return findings.Take();
}

std::vector<Violation> ValidateResourceFlavorUpdate(const ResourceFlavor& before,
                                                    const ResourceFlavor& after) {
  Findings findings("ResourceFlavor", after.name);
  if (before.topology_name && before.topology_name != after.topology_name) {
    findings.Add("spec.topologyName", after.topology_name.value_or(""), kImmutable);
  }
  return findings.Take();
}

std::vector<Violation> ValidateWorkload(const Workload& workload, const FeatureGates& gates) {
  const std::string name = workload.key.ToString();
  Findings findings("Workload", name);
  CheckPodSetNames(findings, workload.pod_sets);
  for (std::size_t i = 0; i < workload.pod_sets.size(); ++i) {
    const PodSet& pod_set = workload.pod_sets[i];
    const std::string path = fmt::format("spec.podSets[{}]", i);
    if (pod_set.topology_request) {
      CheckTopologyRequest(findings, path + ".topologyRequest", *pod_set.topology_request);
      CheckSliceSizes(findings, path + ".topologyRequest", *pod_set.topology_request, gates);
    }
    CheckRequests(findings, path, pod_set.pod_template.requests, gates);
  }
  CheckStatus(findings, workload);
  std::vector<Violation> all = findings.Take();
  MoveTo(all, ValidatePodTemplates(fmt::format("Workload {}", name), workload.pod_sets,
                                   IsElasticJob(workload, gates),
                                   TemplateRulesOf(OwnerKind(workload)), gates));
  return all;
}

std::vector<Violation> ValidateWorkloadUpdate(const Workload& before, const Workload& after) {
  Findings findings("Workload", after.key.ToString());
  if (before.admission && after.admission &&
      FixedPart(*before.admission) != FixedPart(*after.admission)) {
    findings.Add("status.admission", after.admission->cluster_queue, kImmutable);
  }
  return findings.Take();
}

TemplateRules TemplateRulesOf(std::string_view kind) {
  if (kind == "Pod") return {.bounded_by_count = false, .groups = false};
  constexpr std::string_view kWithGroups[] = {"JobSet",     "LeaderWorkerSet", "MPIJob",
                                              "RayCluster", "RayJob",          "RayService"};
  return {.bounded_by_count = true, .groups = std::ranges::count(kWithGroups, kind) > 0};
}

std::vector<Violation> ValidatePodTemplates(const std::string& object,
                                            std::span<const PodSet> pod_sets, bool elastic,
                                            const TemplateRules& which, const FeatureGates& gates) {
  std::vector<PodSetToCheck> checked;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    checked.push_back({fmt::format("spec.podSets[{}].template.metadata.annotations", i),
                       pod_sets[i].pod_template.annotations, pod_sets[i].count});
  }
  Violations found(object);
  for (const PodSetToCheck& pod_set : checked) {
    CheckTopologyAnnotations(pod_set, gates, found);
    if (which.bounded_by_count) CheckSlicesFit(pod_set, gates, found);
    if (elastic) CheckElasticTopology(pod_set, found);
  }
  if (which.groups) CheckPodSetGroups(checked, found);
  return found.Take();
}

std::vector<Violation> ValidateCluster(const Cluster& cluster, const FeatureGates& gates) {
  std::vector<Violation> all;
  for (const Topology& topology : cluster.topologies) MoveTo(all, ValidateTopology(topology));
  for (const ResourceFlavor& flavor : cluster.flavors) MoveTo(all, ValidateResourceFlavor(flavor));
  for (const Workload& workload : cluster.workloads) MoveTo(all, ValidateWorkload(workload, gates));
  return all;
}

}  // namespace espalier
