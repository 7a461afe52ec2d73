// Reads and writes tables whose rows several objects of one message refer to, and values that are
// built on them.
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

// A table converted row by row; each copy of a row is charged what the row itself cost.
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

  // Returns the value that a reference names; default-made for 0.
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

  // Returns the same value without a copy.
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

// The tables that pod set assignments refer to.
struct AssignmentTables {
  template <class Message>
  AssignmentTables(const Message& message, const FieldPath& root, Decoder& decoder)
      : resources(message.resources(), root, "resources", decoder),
        assignments(message.assignments(), root, "assignments", decoder) {}

  SharedRows<Resources> resources;
  SharedRows<TopologyAssignment> assignments;
};

// The tables that workloads refer to.
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

// Fails when two pod sets of one workload have the same name, as answers, admissions and pods refer
// to them by name. `first` is the position of the first of them in the list `field`.
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

// Fails when two of the objects in the list `field` have the same key. `kind` is what one of them
// is called in the message.
template <class Object>
void CheckKeys(const std::vector<Object>& objects, std::string_view kind, const FieldPath& parent,
               std::string_view field, Decoder& decoder) {
  std::map<ObjectKey, std::size_t> positions;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto [first, fresh] = positions.emplace(objects[i].key, i);
    if (fresh) continue;
    decoder.Fail(FieldPath(parent, field, static_cast<std::int64_t>(i)),
                 "is {} as {}[{}] is; send each {} once", Excerpt(objects[i].key.ToString()), field,
                 first->second, kind);
    return;
  }
}

// Returns a count of pods; fails when it is negative.
std::int32_t PodCount(std::int32_t count, const FieldPath& path, Decoder& decoder);

// Writes the tables of a message. References are as in tables.hpp; empty values are 0.
class AssignmentTablesWriter {
 public:
  // `message` must be empty and outlive the writer.
  template <class Message>
  explicit AssignmentTablesWriter(Message& message)
      : strings(message.mutable_strings()),
        resources_(message.mutable_resources()),
        assignments_(message.mutable_assignments()) {}

  std::uint32_t Ref(const Resources& resources);
  // Returns the same, but adds an empty row when there are no resources.
  std::uint32_t RowOf(const Resources& resources);
  std::uint32_t Ref(const SharedValue<TopologyAssignment>& assignment);
  v1::AdmittedPodSet ToMessage(const PodSetAssignment& assignment);

  // Returns an error (kBadInput) for the first assignment that the wire cannot express.
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
  // Writes node selector, tolerations and affinity alone.
  std::uint32_t Ref(const PodTemplate& pod_template);

 private:
  RowTable<v1::TopologyRequest> topology_requests_;
  RowTable<v1::NodeConstraints> node_constraints_;
};

}  // namespace espalier
