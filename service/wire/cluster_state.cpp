#include "service/wire/cluster_state.hpp"

#include <utility>

#include <google/protobuf/arena.h>

#include "host/model/excerpt.hpp"
#include "service/wire/tables.hpp"
#include "service/wire/types.hpp"

namespace espalier {
namespace {

constexpr int kElementsPerChunk = 2000;

std::vector<std::string> FromRefs(const google::protobuf::RepeatedField<std::uint32_t>& refs,
                                  const FieldPath& parent, std::string_view field,
                                  Decoder& decoder) {
  std::vector<std::string> names;
  for (int i = 0; i < refs.size() && decoder.ok(); ++i) {
    names.push_back(decoder.String(refs[i], FieldPath(parent, field, i)));
  }
  return names;
}

}  // namespace

// Not in the unnamed namespace: FromProtoList finds them by their arguments.
Node FromProto(const v1::Node& message, const FieldPath& path, Decoder& decoder) {
  Node node;
  node.name = decoder.String(message.name(), FieldPath(path, "name"));
  if (node.name.empty()) decoder.Fail(FieldPath(path, "name"), "is empty; nodes have names");
  node.labels = FromProto(message.labels(), FieldPath(path, "labels"), decoder);
  node.taints = FromProtoList<Taint>(message.taints(), path, "taints", decoder);
  node.unschedulable = message.unschedulable();
  if (!message.has_ready()) {
    decoder.Fail(FieldPath(path, "ready"), "is not set; true or false expected");
  }
  node.ready = message.ready();
  node.allocatable = FromProto(message.allocatable(), FieldPath(path, "allocatable"), decoder);
  return node;
}

static Topology FromProto(const v1::Topology& message, const FieldPath& path, Decoder& decoder) {
  return {decoder.String(message.name(), FieldPath(path, "name")),
          FromRefs(message.levels(), path, "levels", decoder)};
}

static ResourceFlavor FromProto(const v1::ResourceFlavor& message, const FieldPath& path,
                                Decoder& decoder) {
  ResourceFlavor flavor;
  flavor.name = decoder.String(message.name(), FieldPath(path, "name"));
  flavor.node_labels = FromProto(message.node_labels(), FieldPath(path, "node_labels"), decoder);
  flavor.node_taints = FromProtoList<Taint>(message.node_taints(), path, "node_taints", decoder);
  flavor.tolerations =
      FromProtoList<Toleration>(message.tolerations(), path, "tolerations", decoder);
  if (message.topology_name() != 0) {
    flavor.topology_name =
        decoder.String(message.topology_name(), FieldPath(path, "topology_name"));
  }
  return flavor;
}

static NodeUsage FromProto(const v1::NodeUsage& message, const FieldPath& path, Decoder& decoder) {
  NodeUsage usage = {decoder.String(message.node(), FieldPath(path, "node")),
                     FromProto(message.usage(), FieldPath(path, "usage"), decoder),
                     FromProto(message.lasting(), FieldPath(path, "lasting"), decoder)};
  for (const auto& [resource, amount] : usage.lasting) {
    const Amount* all = usage.usage.Find(resource);
    const Amount most = all == nullptr ? 0 : *all;
    if (amount <= most) continue;
    decoder.Fail(FieldPath(path, "lasting"),
                 "has {} {} of node {}, of which {} are in use; want "
                 "no more than that",
                 amount, Excerpt(resource), Excerpt(usage.node), most);
  }
  return usage;
}

FlavorLeafUsage FromProto(const v1::FlavorLeafUsage& message, const FieldPath& path,
                          Decoder& decoder) {
  return {decoder.String(message.flavor(), FieldPath(path, "flavor")),
          decoder.String(message.leaf(), FieldPath(path, "leaf")),
          FromProto(message.usage(), FieldPath(path, "usage"), decoder)};
}

static AdmittedUsage FromProto(const v1::AdmittedWorkload& message, const FieldPath& path,
                               Decoder& decoder) {
  AdmittedUsage workload;
  workload.key.namespace_ = decoder.String(message.namespace_(), FieldPath(path, "namespace"));
  workload.key.name = decoder.String(message.name(), FieldPath(path, "name"));
  if (workload.key.name.empty()) {
    decoder.Fail(FieldPath(path, "name"), "is empty; workloads have names");
  }
  workload.priority = message.priority();
  workload.quota_reserved_seconds = message.quota_reserved_at();
  workload.job = decoder.String(message.job(), FieldPath(path, "job"));
  workload.usage = FromProtoList<FlavorLeafUsage>(message.usage(), path, "usage", decoder);
  for (std::size_t i = 0; i < workload.usage.size(); ++i) {
    for (const auto& [resource, amount] : workload.usage[i].usage) {
      if (amount >= 0 && amount <= kMostAdmitted) continue;
      decoder.Fail(FieldPath(path, "usage", static_cast<std::int64_t>(i)),
                   "has {} {} for workload {}; 0 to {} expected", amount, Excerpt(resource),
                   Excerpt(workload.key.ToString()), kMostAdmitted);
    }
  }
  return workload;
}

void Fill(const Node& node, StringTable& strings, v1::Node& message) {
  message.set_name(strings.Ref(node.name));
  Fill(node.labels, strings, *message.mutable_labels());
  for (const Taint& taint : node.taints) *message.add_taints() = ToProto(taint, strings);
  message.set_unschedulable(node.unschedulable);
  message.set_ready(node.ready);
  Fill(node.allocatable, strings, *message.mutable_allocatable());
}

namespace {

void Fill(const Topology& topology, StringTable& strings, v1::Topology& message) {
  message.set_name(strings.Ref(topology.name));
  for (const std::string& level : topology.levels) message.add_levels(strings.Ref(level));
}

void Fill(const ResourceFlavor& flavor, StringTable& strings, v1::ResourceFlavor& message) {
  message.set_name(strings.Ref(flavor.name));
  Fill(flavor.node_labels, strings, *message.mutable_node_labels());
  for (const Taint& taint : flavor.node_taints)
    *message.add_node_taints() = ToProto(taint, strings);
  for (const Toleration& toleration : flavor.tolerations) {
    *message.add_tolerations() = ToProto(toleration, strings);
  }
  message.set_topology_name(strings.Ref(flavor.topology_name));
}

void Fill(const NodeUsage& usage, StringTable& strings, v1::NodeUsage& message) {
  message.set_node(strings.Ref(usage.node));
  Fill(usage.usage, strings, *message.mutable_usage());
  if (!usage.lasting.empty()) Fill(usage.lasting, strings, *message.mutable_lasting());
}

}  // namespace

void Fill(const FlavorLeafUsage& usage, StringTable& strings, v1::FlavorLeafUsage& message) {
  message.set_flavor(strings.Ref(usage.flavor));
  message.set_leaf(strings.Ref(usage.leaf));
  Fill(usage.usage, strings, *message.mutable_usage());
}

namespace {

void Fill(const AdmittedUsage& workload, StringTable& strings, v1::AdmittedWorkload& message) {
  message.set_namespace_(strings.Ref(workload.key.namespace_));
  message.set_name(strings.Ref(workload.key.name));
  message.set_priority(workload.priority);
  message.set_quota_reserved_at(workload.quota_reserved_seconds);
  message.set_job(strings.Ref(workload.job));
  for (const FlavorLeafUsage& usage : workload.usage) {
    Fill(usage, strings, *message.add_usage());
  }
}

}  // namespace

StatePosition FromProto(const v1::StatePosition& message) {
  return {message.epoch(), message.generation()};
}

v1::StatePosition ToProto(const StatePosition& position) {
  v1::StatePosition message;
  message.set_epoch(position.epoch);
  message.set_generation(position.generation);
  return message;
}

Result<void> AppendChunk(const v1::LoadStateRequest& message, std::int64_t chunk,
                         WorkBudget& budget, ClusterStateInput& input,
                         std::vector<AdmittedUsage>& workloads) {
  Decoder decoder(message.strings(), budget);
  const FieldPath path("chunk", chunk);
  AppendFromProto(message.topologies(), path, "topologies", decoder, input.topologies);
  AppendFromProto(message.flavors(), path, "flavors", decoder, input.flavors);
  AppendFromProto(message.nodes(), path, "nodes", decoder, input.nodes);
  AppendFromProto(message.non_tas_usage(), path, "non_tas_usage", decoder, input.non_tas_usage);
  AppendFromProto(message.tas_usage(), path, "tas_usage", decoder, input.tas_usage);
  AppendFromProto(message.workloads(), path, "workloads", decoder, workloads);
  if (message.has_share_usage_between_flavors()) {
    input.share_usage_between_flavors = message.share_usage_between_flavors();
  }
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  return {};
}

Result<void> AppendHeld(const v1::ReadStateResponse& message, WorkBudget& budget,
                        std::vector<FlavorLeafUsage>& held) {
  Decoder decoder(message.chunk().strings(), budget);
  AppendFromProto(message.held_usage(), FieldPath("state"), "held_usage", decoder, held);
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  return {};
}

Result<StateDelta> FromProto(const v1::UpdateStateRequest& message, WorkBudget& budget) {
  Decoder decoder(message.strings(), budget);
  const FieldPath path("update");
  StateDelta delta;
  delta.remove_nodes = FromRefs(message.remove_nodes(), path, "remove_nodes", decoder);
  AppendFromProto(message.upsert_nodes(), path, "upsert_nodes", decoder, delta.upsert_nodes);
  AppendFromProto(message.set_non_tas_usage(), path, "set_non_tas_usage", decoder,
                  delta.set_non_tas_usage);
  AppendFromProto(message.set_tas_usage(), path, "set_tas_usage", decoder, delta.set_tas_usage);
  delta.remove_topologies =
      FromRefs(message.remove_topologies(), path, "remove_topologies", decoder);
  AppendFromProto(message.upsert_topologies(), path, "upsert_topologies", decoder,
                  delta.upsert_topologies);
  delta.remove_flavors = FromRefs(message.remove_flavors(), path, "remove_flavors", decoder);
  AppendFromProto(message.upsert_flavors(), path, "upsert_flavors", decoder, delta.upsert_flavors);
  AppendFromProto(message.set_workloads(), path, "set_workloads", decoder, delta.set_workloads);
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  return delta;
}

v1::UpdateStateRequest ToProto(const StateDelta& delta) {
  v1::UpdateStateRequest message;
  StringTable strings(message.mutable_strings());
  for (const std::string& name : delta.remove_nodes) message.add_remove_nodes(strings.Ref(name));
  for (const Node& node : delta.upsert_nodes) Fill(node, strings, *message.add_upsert_nodes());
  for (const NodeUsage& usage : delta.set_non_tas_usage) {
    Fill(usage, strings, *message.add_set_non_tas_usage());
  }
  for (const FlavorLeafUsage& usage : delta.set_tas_usage) {
    Fill(usage, strings, *message.add_set_tas_usage());
  }
  for (const std::string& name : delta.remove_topologies) {
    message.add_remove_topologies(strings.Ref(name));
  }
  for (const Topology& topology : delta.upsert_topologies) {
    Fill(topology, strings, *message.add_upsert_topologies());
  }
  for (const std::string& name : delta.remove_flavors) {
    message.add_remove_flavors(strings.Ref(name));
  }
  for (const ResourceFlavor& flavor : delta.upsert_flavors) {
    Fill(flavor, strings, *message.add_upsert_flavors());
  }
  for (const AdmittedUsage& workload : delta.set_workloads) {
    Fill(workload, strings, *message.add_set_workloads());
  }
  return message;
}

template <class Value, class Message>
bool StateChunks::Add(const std::vector<Value>& values, Message* (v1::LoadStateRequest::*add)(),
                      StringTable& strings, v1::LoadStateRequest& chunk) {
  const std::size_t first = before_;  // the position of values[0] among all
  before_ += values.size();
  while (next_ < before_) {
    if (chunk_elements_ == kElementsPerChunk) return false;
    Fill(values[next_ - first], strings, *(chunk.*add)());
    ++next_;
    ++chunk_elements_;
  }
  return true;
}

bool StateChunks::Next(v1::LoadStateRequest& chunk) {
  if (next_ == 0) {
    chunk.set_state_name(state_name_);
    chunk.set_kueue_configuration(kueue_configuration_);
    chunk.set_share_usage_between_flavors(input_.share_usage_between_flavors);
  }
  StringTable strings(chunk.mutable_strings());
  before_ = 0;
  chunk_elements_ = 0;
  const bool all =
      Add(input_.topologies, &v1::LoadStateRequest::add_topologies, strings, chunk) &&
      Add(input_.flavors, &v1::LoadStateRequest::add_flavors, strings, chunk) &&
      Add(input_.nodes, &v1::LoadStateRequest::add_nodes, strings, chunk) &&
      Add(input_.non_tas_usage, &v1::LoadStateRequest::add_non_tas_usage, strings, chunk) &&
      Add(input_.tas_usage, &v1::LoadStateRequest::add_tas_usage, strings, chunk) &&
      Add(workloads_, &v1::LoadStateRequest::add_workloads, strings, chunk);
  if (!all) return true;
  v1::LoadStateEnd& end = *chunk.mutable_end();
  end.set_nodes(static_cast<std::int64_t>(input_.nodes.size()));
  end.set_non_tas_usage(static_cast<std::int64_t>(input_.non_tas_usage.size()));
  end.set_tas_usage(static_cast<std::int64_t>(input_.tas_usage.size()));
  end.set_workloads(static_cast<std::int64_t>(workloads_.size()));
  return false;
}

void ToChunks(const ClusterStateInput& input,
              const std::function<bool(const v1::LoadStateRequest&)>& send,
              const std::string& state_name, const std::vector<AdmittedUsage>& workloads,
              const std::string& kueue_configuration) {
  StateChunks chunks(input, workloads, state_name, kueue_configuration);
  google::protobuf::Arena arena;  // of a chunk: thousands of small messages
  for (bool more = true; more; arena.Reset()) {
    auto* chunk = google::protobuf::Arena::CreateMessage<v1::LoadStateRequest>(&arena);
    more = chunks.Next(*chunk);
    if (!send(*chunk)) return;
  }
}

}  // namespace espalier
