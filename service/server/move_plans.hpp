// Answers where workloads of a state would be moved to.
#pragma once

#include <grpcpp/support/status.h>

#include "espalier/v1/questions.pb.h"
#include "service/server/question_context.hpp"

namespace espalier {

// Answers whom a drain of nodes hits, and where those that are described go then. `asked` is a call
// that is open.
grpc::Status PlanDrain(const v1::DrainRequest& request, const QuestionContext& asked,
                       v1::DrainResponse& response);

// Answers which of the described workloads to move so that domains become free, with `asked` as
// above.
grpc::Status PlanDefragment(const v1::DefragmentRequest& request, const QuestionContext& asked,
                            v1::DefragmentResponse& response);

}  // namespace espalier
