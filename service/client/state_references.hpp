// Finds in messages of any type what one server calls otherwise than another that has the same
// state: positions of states, and ids of holds.
#pragma once

#include <functional>
#include <string>

#include <google/protobuf/message.h>

#include "espalier/v1/types.pb.h"

namespace espalier {

// Returns whether messages of a type have positions in them.
bool HasPositions(const google::protobuf::Descriptor& type);

// Calls `visit` for every position in `message`, in the order of fields.
void ForEachPosition(google::protobuf::Message& message,
                     const std::function<void(v1::StatePosition&)>& visit);

// Do the same for ids of holds (holds.proto).
bool HasHoldIds(const google::protobuf::Descriptor& type);
void ForEachHoldId(google::protobuf::Message& message,
                   const std::function<void(std::string&)>& visit);

}  // namespace espalier
