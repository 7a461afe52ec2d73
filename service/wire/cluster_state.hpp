// Converts the messages in cluster_state.proto.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "espalier/v1/cluster_state.pb.h"
#include "host/packing/cluster_state.hpp"
#include "service/wire/admitted_usage.hpp"
#include "service/wire/decoder.hpp"
#include "service/wire/state_position.hpp"
#include "service/wire/tables.hpp"

namespace espalier {

// Changes to a ClusterStateInput, applied in the order of the fields.
struct StateDelta {
  std::vector<std::string> remove_nodes;
  std::vector<Node> upsert_nodes;
  std::vector<NodeUsage> set_non_tas_usage;    // empty usage: forget it
  std::vector<FlavorLeafUsage> set_tas_usage;  // empty usage: forget it
  std::vector<std::string> remove_topologies;
  std::vector<Topology> upsert_topologies;
  std::vector<std::string> remove_flavors;
  std::vector<ResourceFlavor> upsert_flavors;
  std::vector<AdmittedUsage> set_workloads;  // each once; without usage: forget it

  bool ChangesFlavors() const {
    return !remove_topologies.empty() || !upsert_topologies.empty() || !remove_flavors.empty() ||
           !upsert_flavors.empty();
  }
};

StatePosition FromProto(const v1::StatePosition& message);
v1::StatePosition ToProto(const StatePosition& position);

// Appends a chunk to `input`. `chunk` is its position in the stream, for messages; the caller
// handles `end` and the Configuration. Errors: kBadInput with the path of the field.
Result<void> AppendChunk(const v1::LoadStateRequest& message, std::int64_t chunk,
                         WorkBudget& budget, ClusterStateInput& input,
                         std::vector<AdmittedUsage>& workloads);

Node FromProto(const v1::Node& message, const FieldPath& path, Decoder& decoder);
FlavorLeafUsage FromProto(const v1::FlavorLeafUsage& message, const FieldPath& path,
                          Decoder& decoder);
void Fill(const Node& node, StringTable& strings, v1::Node& message);
void Fill(const FlavorLeafUsage& usage, StringTable& strings, v1::FlavorLeafUsage& message);

Result<StateDelta> FromProto(const v1::UpdateStateRequest& message, WorkBudget& budget);
// Returns the message of a delta; the caller sets its base.
v1::UpdateStateRequest ToProto(const StateDelta& delta);

// Splits `input`, and the workloads admitted beside it, into chunks of the state of that name, the
// last of which has `end`, and passes them to `send` until it returns false. The first has the text
// of Kueue's Configuration; empty: none.
void ToChunks(const ClusterStateInput& input,
              const std::function<bool(const v1::LoadStateRequest&)>& send,
              const std::string& state_name = "", const std::vector<AdmittedUsage>& workloads = {},
              const std::string& kueue_configuration = "");

}  // namespace espalier
