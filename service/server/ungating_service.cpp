#include "service/server/ungating_service.hpp"

#include "service/wire/status.hpp"
#include "service/wire/ungating.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kMaxRequestBytes = std::int64_t{2} << 30;

grpc::Status Answer(const v1::UngateRequest& request, v1::UngateResponse& response) {
  ExpansionBudget budget{kMaxRequestBytes};
  const auto wanted = FromProto(request, budget);
  if (!wanted) return ToStatus(wanted.error());
  const auto ungated = UngateWorkload(wanted->workload, wanted->pods);
  if (!ungated) return ToStatus(ungated.error());
  response = ToProto(*ungated, wanted->pods);
  return grpc::Status::OK;
}

}  // namespace

grpc::ServerUnaryReactor* UngatingService::Ungate(grpc::CallbackServerContext* context,
                                                  const v1::UngateRequest* request,
                                                  v1::UngateResponse* response) {
  return calls_.Run(context, [request, response] { return Answer(*request, *response); });
}

}  // namespace espalier
