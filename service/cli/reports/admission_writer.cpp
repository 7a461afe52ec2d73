#include "service/cli/reports/admission_writer.hpp"

#include "host/kueue/objects/assignment_encoding.hpp"
#include "host/kueue/objects/quantity_text.hpp"

namespace espalier {
namespace {

void WriteText(std::string_view key, std::string_view value, ObjectWriter& out) {
  out.Field(key, value);
}

void WriteValues(const EncodedValues& values, ObjectWriter& out) {
  out.BeginMap();
  if (const auto* text = std::get_if<std::string>(&values)) {
    WriteText("universal", *text, out);
  } else {
    const auto& individual = std::get<IndividualValues>(values);
    out.Key("individual");
    out.BeginMap();
    if (!individual.prefix.empty()) WriteText("prefix", individual.prefix, out);
    if (!individual.suffix.empty()) WriteText("suffix", individual.suffix, out);
    out.Field("roots", individual.roots);
    out.EndMap();
  }
  out.EndMap();
}

void WriteSlice(const EncodedSlice& slice, ObjectWriter& out) {
  out.BeginMap();
  out.Field("domainCount", std::int64_t{slice.domain_count});
  out.Key("valuesPerLevel");
  out.BeginList();
  for (const EncodedValues& values : slice.values_per_level) WriteValues(values, out);
  out.EndList();
  out.Key("podCounts");
  out.BeginMap();
  if (const auto* count = std::get_if<std::int32_t>(&slice.pod_counts)) {
    out.Field("universal", std::int64_t{*count});
  } else {
    out.Key("individual");
    out.BeginList();
    for (const std::int32_t each : std::get<std::vector<std::int32_t>>(slice.pod_counts)) {
      out.Value(std::int64_t{each});
    }
    out.EndList();
  }
  out.EndMap();
  out.EndMap();
}

void WritePodSet(const PodSetAssignment& pod_set, const FeatureGates& gates, ObjectWriter& out) {
  out.BeginMap();
  WriteText("name", pod_set.name, out);
  out.Key("flavors");
  out.BeginMap();
  for (const auto& [resource, flavor] : pod_set.flavors) WriteText(resource, flavor, out);
  out.EndMap();
  out.Key("resourceUsage");
  out.BeginMap();
  for (const auto& [resource, amount] : pod_set.resource_usage) {
    WriteText(resource, QuantityText(resource, amount), out);
  }
  out.EndMap();
  if (pod_set.count) out.Field("count", std::int64_t{*pod_set.count});
  if (pod_set.topology_assignment) {
    out.Key("topologyAssignment");
    WriteTopologyAssignment(*pod_set.topology_assignment, gates, out);
  }
  if (pod_set.delayed_topology_request) {
    WriteText("delayedTopologyRequest", *pod_set.delayed_topology_request, out);
  }
  out.EndMap();
}

}  // namespace

void WriteTopologyAssignment(const TopologyAssignment& assignment, const FeatureGates& gates,
                             ObjectWriter& out) {
  const EncodedAssignment encoded = EncodeAssignment(assignment, gates);
  out.BeginMap();
  out.Field("levels", encoded.levels);
  out.Key("slices");
  out.BeginList();
  for (const EncodedSlice& slice : encoded.slices) WriteSlice(slice, out);
  out.EndList();
  out.EndMap();
}

void WriteAdmission(const Admission& admission, const FeatureGates& gates, ObjectWriter& out) {
  out.BeginMap();
  WriteText("clusterQueue", admission.cluster_queue, out);
  out.Key("podSetAssignments");
  out.BeginList();
  for (const PodSetAssignment& pod_set : admission.pod_set_assignments) {
    WritePodSet(pod_set, gates, out);
  }
  out.EndList();
  out.EndMap();
}

}  // namespace espalier
