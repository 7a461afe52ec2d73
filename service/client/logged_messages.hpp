// Reads what the messages of logged calls say of states and holds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <google/protobuf/message.h>
#include <grpcpp/support/status.h>

#include "espalier/v1/types.pb.h"
#include "service/client/logged_calls.hpp"
#include "service/wire/status_details.hpp"

namespace espalier {

// Returns the method of a name such as espalier.v1.Placement/Place, or null.
const google::protobuf::MethodDescriptor* FindMethod(const std::string& method);

// Returns the message of a type; null where the bytes are none.
std::unique_ptr<google::protobuf::Message> ReadMessage(const google::protobuf::Descriptor& type,
                                                       std::string_view bytes);

// Returns the state that the answer to a call of `method` says the call led to, or null.
const v1::StatePosition* Produced(std::string_view method, const google::protobuf::Message& answer);

// Returns the name of the state that a call is about; empty: the one without a name, or none.
std::string StateNameOf(const LoggedCall& call);

// Returns the state that a refused call was told is the current one.
std::optional<v1::StatePosition> CurrentIn(const grpc::Status& status);

// Makes the id of a hold (NAME@GENERATION) one that began `by` generations later.
void ShiftHoldId(std::string& id, std::int64_t by);

}  // namespace espalier
