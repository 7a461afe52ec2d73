// How the largest answers become bytes: measured once and written in one go. gRPC's own way
// measures a message twice, which for long columns takes longer than writing them. Included before
// any use of the Placement service.
#pragma once

#include <cstdint>

#include <grpcpp/grpcpp.h>

#include "espalier/v1/placement.grpc.pb.h"

namespace grpc {

template <>
class SerializationTraits<espalier::v1::PlaceResponse> {
 public:
  static Status Serialize(const espalier::v1::PlaceResponse& message, ByteBuffer* bytes,
                          bool* own_buffer) {
    *own_buffer = true;
    Slice slice(message.ByteSizeLong());
    message.SerializeWithCachedSizesToArray(const_cast<std::uint8_t*>(slice.begin()));
    ByteBuffer buffer(&slice, 1);
    bytes->Swap(&buffer);
    return Status::OK;
  }
};

}  // namespace grpc
