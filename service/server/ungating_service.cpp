#include "service/server/ungating_service.hpp"

#include "service/wire/status.hpp"
#include "service/wire/ungating.hpp"

namespace espalier {
namespace {

grpc::Status Answer(const v1::UngateRequest& request, WorkBudget& budget,
                    v1::UngateResponse& response) {
  const auto wanted = FromProto(request, budget);
  if (!wanted) return ToStatus(wanted.error());
  const auto ungated = UngateWorkload(wanted->workload, wanted->pods, budget);
  if (!ungated) return ToStatus(ungated.error());
  response = ToProto(*ungated, wanted->pods);
  return grpc::Status::OK;
}

}  // namespace

grpc::ServerUnaryReactor* UngatingService::Ungate(grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::UngateRequest, v1::UngateResponse>(context, calls_.queue(), request,
                                                                 response, Answer);
}

}  // namespace espalier
