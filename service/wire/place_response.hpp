// Writes the answers of gangs as bytes: measured once and written in one go, the long columns
// straight from the shares.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include "espalier/v1/placement.pb.h"
#include "service/wire/answers.hpp"
#include "service/wire/gangs.hpp"

namespace espalier {

// Returns the bytes of a response. `head` is the response without answers, `rows` are these but for
// the columns of domains and their counts, which are those of `gangs`. `state` is the one that the
// rows were made for.
grpc::ByteBuffer ToBytes(const v1::PlaceResponse& head, const AnswerRows& rows,
                         const GangRequests& requests, const GangAnswers& gangs,
                         const ClusterState& state);

}  // namespace espalier
