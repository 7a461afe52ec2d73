// Conversion of the messages in cluster_state.proto.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "espalier/v1/cluster_state.pb.h"
#include "host/packing/cluster_state.hpp"
#include "service/wire/decoder.hpp"
#include "service/wire/state_position.hpp"

namespace espalier {

// Changes to a ClusterStateInput, applied in the order of the fields.
struct StateDelta {
  std::vector<std::string> remove_nodes;
  std::vector<Node> upsert_nodes;
  std::vector<NodeUsage> set_non_tas_usage;    // empty usage: forget it
  std::vector<FlavorLeafUsage> set_tas_usage;  // empty usage: forget it
};

StatePosition FromProto(const v1::StatePosition& message);
v1::StatePosition ToProto(const StatePosition& position);

// Appends a chunk to `input`. `chunk` is its position in the stream, for messages; `end` is for the
// caller to look at. Errors: kBadInput with the path of the field.
Result<void> AppendChunk(const v1::LoadStateRequest& message, std::int64_t chunk,
                         WorkBudget& budget, ClusterStateInput& input);

Result<StateDelta> FromProto(const v1::UpdateStateRequest& message, WorkBudget& budget);
// The base is for the caller to set.
v1::UpdateStateRequest ToProto(const StateDelta& delta);

// Cuts `input` into chunks, the last of which has `end`, and hands them to `send`, until it returns
// false.
void ToChunks(const ClusterStateInput& input,
              const std::function<bool(const v1::LoadStateRequest&)>& send);

}  // namespace espalier
