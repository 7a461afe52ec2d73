#include "service/wire/types.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "host/model/assignment_limits.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/object_limits.hpp"

namespace espalier {
namespace {

// Parallel columns of keys (references, distinct) and values.
template <class Value, class Keys, class Values, class Convert>
FlatMap<Value> MapFromColumns(const Keys& keys, const Values& values, const FieldPath& path,
                              Decoder& decoder, const Convert& convert) {
  if (keys.size() != values.size()) {
    decoder.Fail(path, "has {} keys and {} values; as many of one as of the other expected",
                 keys.size(), values.size());
    return {};
  }
  if (static_cast<std::size_t>(keys.size()) > kMaxMapEntries) {
    decoder.Fail(path, "has {} entries; at most {} expected, which no object in a cluster exceeds",
                 keys.size(), kMaxMapEntries);
    return {};
  }
  const Decoder::MapKeys* known =
      decoder.Keys({keys.data(), static_cast<std::size_t>(keys.size())}, path);
  if (known == nullptr) return {};
  std::vector<Value> ordered;
  ordered.reserve(known->order.size());
  decoder.Charge(static_cast<std::int64_t>(sizeof(Value) * known->order.size()), path);
  for (const int position : known->order) {
    if (!decoder.ok()) return {};
    ordered.push_back(convert(values[position]));
  }
  return FlatMap<Value>(known->keys, std::move(ordered));
}

template <class Refs>
std::vector<std::string> StringsFromRefs(const Refs& refs, const FieldPath& path,
                                         Decoder& decoder) {
  std::vector<std::string> texts;
  for (int i = 0; i < refs.size() && decoder.ok(); ++i) {
    texts.push_back(decoder.String(refs[i], path));
  }
  return texts;
}

std::optional<std::string> OptionalString(std::uint32_t reference, const FieldPath& parent,
                                          std::string_view field, Decoder& decoder) {
  if (reference == 0) return std::nullopt;
  return decoder.String(reference, FieldPath(parent, field));
}

}  // namespace

void CheckAmounts(const Resources& amounts, const FieldPath& path, Decoder& decoder) {
  for (const auto& [resource, amount] : amounts) {
    if (amount < 0) decoder.Fail(path, "has {} {}; 0 or more expected", amount, Excerpt(resource));
  }
}

void CheckRequests(const Resources& requests, const FieldPath& path, Decoder& decoder) {
  if (requests.size() <= kMaxRequestedResources) return;
  decoder.Fail(path, "has {} resources; at most {} expected", requests.size(),
               kMaxRequestedResources);
}

// Not in the unnamed namespace: FromProtoList finds them by their arguments.
NodeSelectorRequirement FromProto(const v1::NodeSelectorRequirement& message, const FieldPath& path,
                                  Decoder& decoder) {
  NodeSelectorRequirement requirement;
  requirement.key = decoder.String(message.key(), FieldPath(path, "key"));
  requirement.operation = decoder.String(message.operation(), FieldPath(path, "operation"));
  requirement.values = StringsFromRefs(message.values(), FieldPath(path, "values"), decoder);
  return requirement;
}

static NodeSelectorTerm FromProto(const v1::NodeSelectorTerm& message, const FieldPath& path,
                                  Decoder& decoder) {
  NodeSelectorTerm term;
  term.match_expressions = FromProtoList<NodeSelectorRequirement>(message.match_expressions(), path,
                                                                  "match_expressions", decoder);
  term.match_fields =
      FromProtoList<NodeSelectorRequirement>(message.match_fields(), path, "match_fields", decoder);
  return term;
}

static PreferredSchedulingTerm FromProto(const v1::PreferredSchedulingTerm& message,
                                         const FieldPath& path, Decoder& decoder) {
  return {message.weight(),
          FromProto(message.preference(), FieldPath(path, "preference"), decoder)};
}

static SliceConstraint FromProto(const v1::SliceConstraint& message, const FieldPath& path,
                                 Decoder& decoder) {
  return {decoder.String(message.topology(), FieldPath(path, "topology")), message.size()};
}

v1::NodeSelectorRequirement ToProto(const NodeSelectorRequirement& requirement,
                                    StringTable& strings) {
  v1::NodeSelectorRequirement message;
  message.set_key(strings.Ref(requirement.key));
  message.set_operation(strings.Ref(requirement.operation));
  for (const std::string& value : requirement.values) message.add_values(strings.Ref(value));
  return message;
}

namespace {

v1::NodeSelectorTerm ToProto(const NodeSelectorTerm& term, StringTable& strings) {
  v1::NodeSelectorTerm message;
  for (const auto& requirement : term.match_expressions) {
    *message.add_match_expressions() = ToProto(requirement, strings);
  }
  for (const auto& requirement : term.match_fields) {
    *message.add_match_fields() = ToProto(requirement, strings);
  }
  return message;
}

}  // namespace

StringMap FromProto(const v1::StringMap& message, const FieldPath& path, Decoder& decoder) {
  return MapFromColumns<std::string>(
      message.keys(), message.values(), path, decoder,
      [&](std::uint32_t reference) { return decoder.String(reference, path); });
}

Resources FromProto(const v1::ResourceVector& message, const FieldPath& path, Decoder& decoder) {
  return MapFromColumns<Amount>(message.names(), message.amounts(), path, decoder,
                                [](std::int64_t amount) { return amount; });
}

Taint FromProto(const v1::Taint& message, const FieldPath& path, Decoder& decoder) {
  return {decoder.String(message.key(), FieldPath(path, "key")),
          decoder.String(message.value(), FieldPath(path, "value")),
          decoder.String(message.effect(), FieldPath(path, "effect"))};
}

Toleration FromProto(const v1::Toleration& message, const FieldPath& path, Decoder& decoder) {
  return {decoder.String(message.key(), FieldPath(path, "key")),
          decoder.String(message.operation(), FieldPath(path, "operation")),
          decoder.String(message.value(), FieldPath(path, "value")),
          decoder.String(message.effect(), FieldPath(path, "effect"))};
}

PodTemplate FromProto(const v1::NodeConstraints& message, const FieldPath& path, Decoder& decoder) {
  PodTemplate pod_template;
  pod_template.node_selector =
      FromProto(message.node_selector(), FieldPath(path, "node_selector"), decoder);
  pod_template.tolerations =
      FromProtoList<Toleration>(message.tolerations(), path, "tolerations", decoder);
  if (message.has_required_affinity()) {
    pod_template.affinity.required =
        FromProtoList<NodeSelectorTerm>(message.required_affinity().terms(),
                                        FieldPath(path, "required_affinity"), "terms", decoder);
  }
  pod_template.affinity.preferred = FromProtoList<PreferredSchedulingTerm>(
      message.preferred_affinity(), path, "preferred_affinity", decoder);
  return pod_template;
}

TopologyRequest FromProto(const v1::TopologyRequest& message, const FieldPath& path,
                          Decoder& decoder) {
  TopologyRequest request;
  request.required = OptionalString(message.required(), path, "required", decoder);
  request.preferred = OptionalString(message.preferred(), path, "preferred", decoder);
  if (message.has_unconstrained()) request.unconstrained = message.unconstrained();
  request.slice_topology =
      OptionalString(message.slice_topology(), path, "slice_topology", decoder);
  if (message.has_slice_size()) request.slice_size = message.slice_size();
  request.slice_constraints = FromProtoList<SliceConstraint>(message.slice_constraints(), path,
                                                             "slice_constraints", decoder);
  request.pod_set_group_name =
      OptionalString(message.pod_set_group_name(), path, "pod_set_group_name", decoder);
  request.pod_index_label =
      OptionalString(message.pod_index_label(), path, "pod_index_label", decoder);
  request.sub_group_index_label =
      OptionalString(message.sub_group_index_label(), path, "sub_group_index_label", decoder);
  if (message.has_sub_group_count()) request.sub_group_count = message.sub_group_count();
  return request;
}

TopologyAssignment FromProto(const v1::TopologyAssignment& message, const FieldPath& path,
                             Decoder& decoder) {
  TopologyAssignment assignment;
  assignment.levels = StringsFromRefs(message.levels(), FieldPath(path, "levels"), decoder);
  const FieldPath values_path(path, "values");
  const FieldPath counts_path(path, "counts");
  if (message.levels_size() > static_cast<int>(kMaxAssignmentLevels)) {
    decoder.Fail(path, "has {} levels; a topology has at most {}", message.levels_size(),
                 kMaxAssignmentLevels);
  }
  if (message.counts_size() > static_cast<int>(kMaxAssignmentDomains)) {
    decoder.Fail(counts_path, "has {} domains; an assignment has at most {}", message.counts_size(),
                 kMaxAssignmentDomains);
  }
  decoder.CheckColumn(message.values_size(),
                      std::int64_t{message.levels_size()} * message.counts_size(), false,
                      values_path);
  for (int i = 0; i < message.counts_size() && decoder.ok(); ++i) {
    decoder.Charge(sizeof(TopologyDomainAssignment), counts_path);
    if (message.counts(i) < 0) {
      decoder.Fail(counts_path, "entry {} is {}; pods are 0 or more", i, message.counts(i));
    }
    TopologyDomainAssignment& domain = assignment.domains.emplace_back();
    domain.count = message.counts(i);
    for (int l = 0; l < message.levels_size(); ++l) {
      const int position = i * message.levels_size() + l;
      domain.values.push_back(decoder.String(message.values(position), values_path));
    }
  }
  return assignment;
}

void Fill(const StringMap& map, StringTable& strings, v1::StringMap& message) {
  const std::span<const std::uint32_t> keys = strings.RefsOfKeys(map.keys());
  message.mutable_keys()->Add(keys.begin(), keys.end());
  message.mutable_values()->Reserve(static_cast<int>(map.size()));
  for (std::size_t place = 0; place < map.size(); ++place) {
    message.add_values(strings.RefAt(place, map.values()[place]));
  }
}

void Fill(const Resources& resources, StringTable& strings, v1::ResourceVector& message) {
  const std::span<const std::uint32_t> names = strings.RefsOfKeys(resources.keys());
  message.mutable_names()->Add(names.begin(), names.end());
  message.mutable_amounts()->Add(resources.values().begin(), resources.values().end());
}

v1::StringMap ToProto(const StringMap& map, StringTable& strings) {
  v1::StringMap message;
  Fill(map, strings, message);
  return message;
}

v1::ResourceVector ToProto(const Resources& resources, StringTable& strings) {
  v1::ResourceVector message;
  Fill(resources, strings, message);
  return message;
}

v1::Taint ToProto(const Taint& taint, StringTable& strings) {
  v1::Taint message;
  message.set_key(strings.Ref(taint.key));
  message.set_value(strings.Ref(taint.value));
  message.set_effect(strings.Ref(taint.effect));
  return message;
}

v1::Toleration ToProto(const Toleration& toleration, StringTable& strings) {
  v1::Toleration message;
  message.set_key(strings.Ref(toleration.key));
  message.set_operation(strings.Ref(toleration.operation));
  message.set_value(strings.Ref(toleration.value));
  message.set_effect(strings.Ref(toleration.effect));
  return message;
}

v1::NodeConstraints NodeConstraintsToProto(const PodTemplate& pod_template, StringTable& strings) {
  v1::NodeConstraints message;
  if (!pod_template.node_selector.empty()) {
    *message.mutable_node_selector() = ToProto(pod_template.node_selector, strings);
  }
  for (const Toleration& toleration : pod_template.tolerations) {
    *message.add_tolerations() = ToProto(toleration, strings);
  }
  if (pod_template.affinity.required) {
    v1::NodeSelector* required = message.mutable_required_affinity();
    for (const NodeSelectorTerm& term : *pod_template.affinity.required) {
      *required->add_terms() = ToProto(term, strings);
    }
  }
  for (const PreferredSchedulingTerm& term : pod_template.affinity.preferred) {
    v1::PreferredSchedulingTerm* preferred = message.add_preferred_affinity();
    preferred->set_weight(term.weight);
    *preferred->mutable_preference() = ToProto(term.preference, strings);
  }
  return message;
}

v1::TopologyRequest ToProto(const TopologyRequest& request, StringTable& strings) {
  v1::TopologyRequest message;
  message.set_required(strings.Ref(request.required));
  message.set_preferred(strings.Ref(request.preferred));
  if (request.unconstrained) message.set_unconstrained(*request.unconstrained);
  message.set_slice_topology(strings.Ref(request.slice_topology));
  if (request.slice_size) message.set_slice_size(*request.slice_size);
  for (const SliceConstraint& constraint : request.slice_constraints) {
    v1::SliceConstraint* slice = message.add_slice_constraints();
    slice->set_topology(strings.Ref(constraint.topology));
    slice->set_size(constraint.size);
  }
  message.set_pod_set_group_name(strings.Ref(request.pod_set_group_name));
  message.set_pod_index_label(strings.Ref(request.pod_index_label));
  message.set_sub_group_index_label(strings.Ref(request.sub_group_index_label));
  if (request.sub_group_count) message.set_sub_group_count(*request.sub_group_count);
  return message;
}

Result<v1::TopologyAssignment> ToProto(const TopologyAssignment& assignment, StringTable& strings) {
  v1::TopologyAssignment message;
  for (const std::string& level : assignment.levels) message.add_levels(strings.Ref(level));
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    if (domain.values.size() != assignment.levels.size()) {
      return BadInput(fmt::format(
          "a topology assignment has a domain of {} values for {} levels; one per level expected",
          domain.values.size(), assignment.levels.size()));
    }
    for (const std::string& value : domain.values) message.add_values(strings.Ref(value));
    message.add_counts(domain.count);
  }
  return message;
}

}  // namespace espalier
