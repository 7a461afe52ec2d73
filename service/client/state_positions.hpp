// Finds the positions of states in messages of any type.
#pragma once

#include <functional>

#include <google/protobuf/message.h>

#include "espalier/v1/types.pb.h"

namespace espalier {

// Returns whether messages of a type have positions in them.
bool HasPositions(const google::protobuf::Descriptor& type);

// Calls `visit` for every position in `message`, in the order of fields.
void ForEachPosition(google::protobuf::Message& message,
                     const std::function<void(v1::StatePosition&)>& visit);

}  // namespace espalier
