// Converts the messages in cluster_state.proto.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "espalier/v1/cluster_state.pb.h"
#include "host/live/admitted_usage.hpp"
#include "host/live/state_delta.hpp"
#include "host/live/state_position.hpp"
#include "host/packing/cluster_state.hpp"
#include "service/wire/decoder.hpp"
#include "service/wire/tables.hpp"

namespace espalier {

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
