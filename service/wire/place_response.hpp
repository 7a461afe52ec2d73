// Writes the answers of gangs as bytes: measured once and written in one go, the long columns
// straight from the shares.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include "espalier/v1/placement.pb.h"
#include "service/wire/gangs.hpp"

namespace espalier {

// Returns the bytes of a response. `head` is the response without answers. `answers` is all of them
// but the columns of domains and their counts, which are those of `gangs` by leaf index. `state` is
// the one they were placed on, or a branch.
grpc::ByteBuffer ToBytes(const v1::PlaceResponse& head, const v1::AnswerBatch& answers,
                         const GangRequests& requests, const GangAnswers& gangs,
                         const ClusterState& state);

}  // namespace espalier
