// Converts messages to and from the bytes of a connection.
#pragma once

#include <cstdint>

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>

#include "host/model/result.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

// Returns an upper bound of the memory, in bytes, that a message of type `type` takes once it is
// parsed from `bytes`: two bytes on the wire can become hundreds in memory. Reads fields, but
// builds nothing. Errors (kBadInput): the bytes are no message of any type.
Result<std::int64_t> ParsedBytes(const google::protobuf::Descriptor& type,
                                 const grpc::ByteBuffer& bytes);

// Parses `bytes` into `message` after charging its memory to `budget`. Errors: kBadInput when the
// bytes are no such message; kExhausted and kCancelled from the budget.
Result<void> Parse(const grpc::ByteBuffer& bytes, WorkBudget& budget,
                   google::protobuf::Message& message);

// Returns whether a message of type `type`, or one inside of it, has a map.
bool HasMaps(const google::protobuf::Descriptor& type);

// Returns `message`, of less than 2 GiB, in one slice.
grpc::ByteBuffer ToBytes(const google::protobuf::MessageLite& message);
grpc::Slice ToSlice(const google::protobuf::MessageLite& message);

}  // namespace espalier
