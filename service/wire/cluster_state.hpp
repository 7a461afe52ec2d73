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

// Appends what holds use, which the state of the chunk has on top. Errors as above.
Result<void> AppendHeld(const v1::ReadStateResponse& message, WorkBudget& budget,
                        std::vector<FlavorLeafUsage>& held);

Node FromProto(const v1::Node& message, const FieldPath& path, Decoder& decoder);
FlavorLeafUsage FromProto(const v1::FlavorLeafUsage& message, const FieldPath& path,
                          Decoder& decoder);
void Fill(const Node& node, StringTable& strings, v1::Node& message);
void Fill(const FlavorLeafUsage& usage, StringTable& strings, v1::FlavorLeafUsage& message);

Result<StateDelta> FromProto(const v1::UpdateStateRequest& message, WorkBudget& budget);
// Returns the message of a delta; the caller sets its base.
v1::UpdateStateRequest ToProto(const StateDelta& delta);

// Cuts an input, and the workloads admitted beside it, into chunks of the state of a name, of which
// the first has the text of Kueue's Configuration; empty: none.
class StateChunks {
 public:
  // All must outlive this.
  StateChunks(const ClusterStateInput& input, const std::vector<AdmittedUsage>& workloads,
              const std::string& state_name, const std::string& kueue_configuration)
      : input_(input),
        workloads_(workloads),
        state_name_(state_name),
        kueue_configuration_(kueue_configuration) {}

  // Fills the next chunk, which is empty. Returns whether more follow; the last one has `end`.
  bool Next(v1::LoadStateRequest& chunk);

 private:
  // Adds values as far as the chunk has room. Returns whether all of them are in a chunk.
  template <class Value, class Message>
  bool Add(const std::vector<Value>& values, Message* (v1::LoadStateRequest::*add)(),
           StringTable& strings, v1::LoadStateRequest& chunk);

  const ClusterStateInput& input_;
  const std::vector<AdmittedUsage>& workloads_;
  const std::string& state_name_;
  const std::string& kueue_configuration_;
  std::size_t next_ = 0;    // position of the next element among those of all lists
  std::size_t before_ = 0;  // elements of the lists that were looked at
  int chunk_elements_ = 0;
};

// Splits `input`, and the workloads admitted beside it, into chunks of the state of that name, the
// last of which has `end`, and passes them to `send` until it returns false. The first has the text
// of Kueue's Configuration; empty: none.
void ToChunks(const ClusterStateInput& input,
              const std::function<bool(const v1::LoadStateRequest&)>& send,
              const std::string& state_name = "", const std::vector<AdmittedUsage>& workloads = {},
              const std::string& kueue_configuration = "");

}  // namespace espalier
