// Converts the messages in types.proto, both ways. FromProto reports errors to the decoder.
#pragma once

#include <vector>

#include "espalier/v1/types.pb.h"
#include "host/model/node.hpp"
#include "host/model/resources.hpp"
#include "host/model/topology.hpp"
#include "host/model/workload.hpp"
#include "service/wire/decoder.hpp"
#include "service/wire/tables.hpp"

namespace espalier {

StringMap FromProto(const v1::StringMap& message, const FieldPath& path, Decoder& decoder);
Resources FromProto(const v1::ResourceVector& message, const FieldPath& path, Decoder& decoder);
Taint FromProto(const v1::Taint& message, const FieldPath& path, Decoder& decoder);
Toleration FromProto(const v1::Toleration& message, const FieldPath& path, Decoder& decoder);
NodeSelectorRequirement FromProto(const v1::NodeSelectorRequirement& message, const FieldPath& path,
                                  Decoder& decoder);
// Sets node selector, tolerations and affinity.
PodTemplate FromProto(const v1::NodeConstraints& message, const FieldPath& path, Decoder& decoder);
TopologyRequest FromProto(const v1::TopologyRequest& message, const FieldPath& path,
                          Decoder& decoder);
TopologyAssignment FromProto(const v1::TopologyAssignment& message, const FieldPath& path,
                             Decoder& decoder);

// Fails when an amount is negative.
void CheckAmounts(const Resources& amounts, const FieldPath& path, Decoder& decoder);

// Fails when there are more resources than one pod can request.
void CheckRequests(const Resources& requests, const FieldPath& path, Decoder& decoder);

// Appends the values of a list of messages, element by element.
template <class Value, class Messages>
void AppendFromProto(const Messages& messages, const FieldPath& parent, std::string_view field,
                     Decoder& decoder, std::vector<Value>& values) {
  for (int i = 0; i < messages.size() && decoder.ok(); ++i) {
    const FieldPath path(parent, field, i);
    decoder.Charge(sizeof(Value), path);
    values.push_back(FromProto(messages[i], path, decoder));
  }
}
// Returns them.
template <class Value, class Messages>
std::vector<Value> FromProtoList(const Messages& messages, const FieldPath& parent,
                                 std::string_view field, Decoder& decoder) {
  std::vector<Value> values;
  AppendFromProto(messages, parent, field, decoder, values);
  return values;
}

v1::StringMap ToProto(const StringMap& map, StringTable& strings);
v1::ResourceVector ToProto(const Resources& resources, StringTable& strings);
// Writes the same into an empty message in place, for messages of an arena.
void Fill(const StringMap& map, StringTable& strings, v1::StringMap& message);
void Fill(const Resources& resources, StringTable& strings, v1::ResourceVector& message);
v1::Taint ToProto(const Taint& taint, StringTable& strings);
v1::Toleration ToProto(const Toleration& toleration, StringTable& strings);
v1::NodeSelectorRequirement ToProto(const NodeSelectorRequirement& requirement,
                                    StringTable& strings);
v1::NodeConstraints NodeConstraintsToProto(const PodTemplate& pod_template, StringTable& strings);
v1::TopologyRequest ToProto(const TopologyRequest& request, StringTable& strings);

// Returns the message of an assignment. Errors: kBadInput when a domain has not one value per
// level, which the wire cannot express.
Result<v1::TopologyAssignment> ToProto(const TopologyAssignment& assignment, StringTable& strings);

}  // namespace espalier
