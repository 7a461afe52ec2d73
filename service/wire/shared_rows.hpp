// Tables whose rows several objects of one message refer to, and what is built on them: reading
// and writing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/v1/types.pb.h"
#include "espalier/v1/workload.pb.h"
#include "host/model/excerpt.hpp"
#include "host/model/shared_value.hpp"
#include "host/model/workload.hpp"
#include "service/wire/decoder.hpp"
#include "service/wire/tables.hpp"
#include "service/wire/types.hpp"

namespace espalier {

// A table converted row by row; each copy of a row is charged what the row cost.
template <class Value>
class SharedRows {
 public:
  template <class Messages>
  SharedRows(const Messages& messages, const FieldPath& parent, std::string_view field,
             Decoder& decoder) {
    for (int i = 0; i < messages.size() && decoder.ok(); ++i) {
      const FieldPath path(parent, field, i);
      const std::int64_t before = decoder.charged();
      decoder.Charge(sizeof(Value), path);
      Value value = FromProto(messages[i], path, decoder);
      rows_.push_back({SharedValue<Value>(std::move(value)), decoder.charged() - before});
    }
  }

  // The value a reference names; default-made for 0.
  Value Get(std::uint32_t reference, const FieldPath& path, Decoder& decoder) const {
    return GetOptional(reference, path, decoder).value_or(Value{});
  }

  std::optional<Value> GetOptional(std::uint32_t reference, const FieldPath& path,
                                   Decoder& decoder) const {
    const Row* row = decoder.Row(rows_, reference, path);
    if (!row) return std::nullopt;
    decoder.Charge(row->bytes, path);
    if (!decoder.ok()) return std::nullopt;
    return *row->value;
  }

  // The same without a copy.
  SharedValue<Value> GetShared(std::uint32_t reference, const FieldPath& path,
                               Decoder& decoder) const {
    const Row* row = decoder.Row(rows_, reference, path);
    return row == nullptr ? std::nullopt : row->value;
  }

 private:
  struct Row {
    SharedValue<Value> value;
    std::int64_t bytes;
  };
  std::vector<Row> rows_;
};

// What pod set assignments refer to.
struct AssignmentTables {
  template <class Message>
  AssignmentTables(const Message& message, const FieldPath& root, Decoder& decoder)
      : resources(message.resources(), root, "resources", decoder),
        assignments(message.assignments(), root, "assignments", decoder) {}

  SharedRows<Resources> resources;
  SharedRows<TopologyAssignment> assignments;
};

// What workloads refer to.
struct WorkloadTables : AssignmentTables {
  template <class Message>
  WorkloadTables(const Message& message, const FieldPath& root, Decoder& decoder)
      : AssignmentTables(message, root, decoder),
        topology_requests(message.topology_requests(), root, "topology_requests", decoder),
        node_constraints(message.node_constraints(), root, "node_constraints", decoder) {}

  SharedRows<TopologyRequest> topology_requests;
  SharedRows<PodTemplate> node_constraints;
};

PodSetAssignment FromProto(const v1::AdmittedPodSet& message, const AssignmentTables& tables,
                           const FieldPath& path, Decoder& decoder);
PodSetUpdate FromProto(const v1::PodSetUpdate& message, const FieldPath& path, Decoder& decoder);
v1::PodSetUpdate ToProto(const PodSetUpdate& update, StringTable& strings);

// Fails when two of the pod sets of one workload have one name: answers, admissions and pods say by
// name which is meant. `first` is where the first of them stands in the list `field`.
template <class PodSet>
void CheckPodSetNames(const std::vector<PodSet>& pod_sets, const FieldPath& parent,
                      std::string_view field, std::int64_t first, Decoder& decoder) {
  if (pod_sets.size() < 2) return;
  std::map<std::string_view, std::size_t> positions;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    const auto [it, fresh] = positions.emplace(pod_sets[i].name, i);
    if (fresh) continue;
    decoder.Fail(
        FieldPath(parent, field, first + static_cast<std::int64_t>(i)),
        "is \"{}\", as that of pod set {} of the same workload; each pod set has a name of "
        "its own",
        Excerpt(pod_sets[i].name), it->second);
    return;
  }
}

// A count of pods; fails below 0.
std::int32_t PodCount(std::int32_t count, const FieldPath& path, Decoder& decoder);

// Writes the tables of a message. References as in tables.hpp; empty values are 0.
class AssignmentTablesWriter {
 public:
  // `message` must be empty and outlive the writer.
  template <class Message>
  explicit AssignmentTablesWriter(Message& message)
      : strings(message.mutable_strings()),
        resources_(message.mutable_resources()),
        assignments_(message.mutable_assignments()) {}

  std::uint32_t Ref(const Resources& resources);
  // The same, but an empty row where there are none.
  std::uint32_t RowOf(const Resources& resources);
  std::uint32_t Ref(const SharedValue<TopologyAssignment>& assignment);
  v1::AdmittedPodSet ToMessage(const PodSetAssignment& assignment);

  // The first assignment that the wire cannot say; kBadInput.
  const std::optional<Error>& error() const { return error_; }

  StringTable strings;

 private:
  RowTable<v1::ResourceVector> resources_;
  RowTable<v1::TopologyAssignment> assignments_;
  std::optional<Error> error_;
};

class WorkloadTablesWriter : public AssignmentTablesWriter {
 public:
  template <class Message>
  explicit WorkloadTablesWriter(Message& message)
      : AssignmentTablesWriter(message),
        topology_requests_(message.mutable_topology_requests()),
        node_constraints_(message.mutable_node_constraints()) {}

  using AssignmentTablesWriter::Ref;
  std::uint32_t Ref(const std::optional<TopologyRequest>& request);
  // Node selector, tolerations and affinity alone.
  std::uint32_t Ref(const PodTemplate& pod_template);

 private:
  RowTable<v1::TopologyRequest> topology_requests_;
  RowTable<v1::NodeConstraints> node_constraints_;
};

}  // namespace espalier
