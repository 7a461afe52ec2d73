// Converts the messages in objects.proto. The wire does not carry what no scheduling decision
// reads: labels of a workload, reasons of conditions, limits on borrowing and the like.
#pragma once

#include "espalier/v1/objects.pb.h"
#include "host/model/cluster.hpp"
#include "service/wire/shared_rows.hpp"

namespace espalier {

// Reads the objects of one message: `tables` are its own, and `decoder` looks up its strings.
class ObjectReader {
 public:
  // Keeps references to both, which must outlive the reader.
  ObjectReader(const WorkloadTables& tables, Decoder& decoder)
      : tables_(tables), decoder_(decoder) {}

  Workload Read(const v1::Workload& message, const FieldPath& path);
  ClusterQueue Read(const v1::ClusterQueue& message, const FieldPath& path);
  LocalQueue Read(const v1::LocalQueue& message, const FieldPath& path);
  AdmissionCheck Read(const v1::AdmissionCheck& message, const FieldPath& path);
  Namespace Read(const v1::Namespace& message, const FieldPath& path);
  Pod Read(const v1::Pod& message, const FieldPath& path);

  // Reads a list of messages, element by element.
  template <class Value, class Messages>
  std::vector<Value> ReadList(const Messages& messages, const FieldPath& parent,
                              std::string_view field) {
    std::vector<Value> values;
    for (int i = 0; i < messages.size() && decoder_.ok(); ++i) {
      const FieldPath path(parent, field, i);
      decoder_.Charge(sizeof(Value), path);
      values.push_back(Read(messages[i], path));
    }
    return values;
  }

 private:
  PodSet Read(const v1::PodSet& message, const FieldPath& path);
  PodSetAssignment Read(const v1::AdmittedPodSet& message, const FieldPath& path);
  OwnerReference Read(const v1::OwnerReference& message, const FieldPath& path);
  Condition Read(const v1::Condition& message, const FieldPath& path);
  ReclaimablePod Read(const v1::ReclaimablePod& message, const FieldPath& path);
  AdmissionCheckState Read(const v1::AdmissionCheckState& message, const FieldPath& path);
  ResourceGroup Read(const v1::ResourceGroup& message, const FieldPath& path);
  FlavorQuota Read(const v1::FlavorQuota& message, const FieldPath& path);

  // Returns the string that a field refers to.
  const std::string& Text(std::uint32_t reference, const FieldPath& path, std::string_view field) {
    return decoder_.String(reference, FieldPath(path, field));
  }
  std::vector<std::string> Texts(const google::protobuf::RepeatedField<std::uint32_t>& references,
                                 const FieldPath& path, std::string_view field);

  const WorkloadTables& tables_;
  Decoder& decoder_;
};

// Writes what ObjectReader reads, and adds what the object refers to to the tables.
v1::Workload ToProto(const Workload& workload, WorkloadTablesWriter& tables);
v1::ClusterQueue ToProto(const ClusterQueue& queue, WorkloadTablesWriter& tables);
v1::LocalQueue ToProto(const LocalQueue& queue, WorkloadTablesWriter& tables);
v1::AdmissionCheck ToProto(const AdmissionCheck& check, WorkloadTablesWriter& tables);
v1::Namespace ToProto(const Namespace& name_space, WorkloadTablesWriter& tables);
v1::Pod ToProto(const Pod& pod, WorkloadTablesWriter& tables);

}  // namespace espalier
