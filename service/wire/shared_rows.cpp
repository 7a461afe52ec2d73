#include "service/wire/shared_rows.hpp"

namespace espalier {

PodSetAssignment FromProto(const v1::AdmittedPodSet& message, const AssignmentTables& tables,
                           const FieldPath& path, Decoder& decoder) {
  PodSetAssignment admitted;
  decoder.Charge(sizeof(PodSetAssignment), path);
  admitted.name = decoder.String(message.name(), FieldPath(path, "name"));
  admitted.flavors = FromProto(message.flavors(), FieldPath(path, "flavors"), decoder);
  admitted.resource_usage =
      tables.resources.Get(message.resource_usage(), FieldPath(path, "resource_usage"), decoder);
  if (message.has_count()) {
    admitted.count = PodCount(message.count(), FieldPath(path, "count"), decoder);
  }
  admitted.topology_assignment =
      tables.assignments.GetShared(message.assignment(), FieldPath(path, "assignment"), decoder);
  if (message.delayed_topology_request() != 0) {
    admitted.delayed_topology_request = decoder.String(message.delayed_topology_request(),
                                                       FieldPath(path, "delayed_topology_request"));
  }
  return admitted;
}

PodSetUpdate FromProto(const v1::PodSetUpdate& message, const FieldPath& path, Decoder& decoder) {
  PodSetUpdate update;
  update.name = decoder.String(message.name(), FieldPath(path, "name"));
  update.labels = FromProto(message.labels(), FieldPath(path, "labels"), decoder);
  update.annotations = FromProto(message.annotations(), FieldPath(path, "annotations"), decoder);
  update.node_selector =
      FromProto(message.node_selector(), FieldPath(path, "node_selector"), decoder);
  update.tolerations =
      FromProtoList<Toleration>(message.tolerations(), path, "tolerations", decoder);
  return update;
}

v1::PodSetUpdate ToProto(const PodSetUpdate& update, StringTable& strings) {
  v1::PodSetUpdate message;
  message.set_name(strings.Ref(update.name));
  *message.mutable_labels() = ToProto(update.labels, strings);
  *message.mutable_annotations() = ToProto(update.annotations, strings);
  *message.mutable_node_selector() = ToProto(update.node_selector, strings);
  for (const Toleration& toleration : update.tolerations) {
    *message.add_tolerations() = ToProto(toleration, strings);
  }
  return message;
}

std::int32_t PodCount(std::int32_t count, const FieldPath& path, Decoder& decoder) {
  if (count < 0) decoder.Fail(path, "is {}; pods are 0 or more", count);
  return count;
}

std::uint32_t AssignmentTablesWriter::Ref(const Resources& resources) {
  return resources.empty() ? 0 : RowOf(resources);
}

std::uint32_t AssignmentTablesWriter::RowOf(const Resources& resources) {
  return resources_.Ref(ToProto(resources, strings));
}

std::uint32_t AssignmentTablesWriter::Ref(const SharedValue<TopologyAssignment>& assignment) {
  if (!assignment) return 0;
  Result<v1::TopologyAssignment> row = ToProto(*assignment, strings);
  if (row) return assignments_.Ref(*std::move(row));
  if (!error_) error_ = row.error();
  return 0;
}

v1::AdmittedPodSet AssignmentTablesWriter::ToMessage(const PodSetAssignment& assignment) {
  v1::AdmittedPodSet message;
  message.set_name(strings.Ref(assignment.name));
  *message.mutable_flavors() = ToProto(assignment.flavors, strings);
  message.set_resource_usage(Ref(assignment.resource_usage));
  if (assignment.count) message.set_count(*assignment.count);
  message.set_assignment(Ref(assignment.topology_assignment));
  message.set_delayed_topology_request(strings.Ref(assignment.delayed_topology_request));
  return message;
}

std::uint32_t WorkloadTablesWriter::Ref(const std::optional<TopologyRequest>& request) {
  return request ? topology_requests_.Ref(ToProto(*request, strings)) : 0;
}

std::uint32_t WorkloadTablesWriter::Ref(const PodTemplate& pod_template) {
  v1::NodeConstraints row = NodeConstraintsToProto(pod_template, strings);
  return row.ByteSizeLong() == 0 ? 0 : node_constraints_.Ref(std::move(row));
}

}  // namespace espalier
