// Answers the calls about holds.
#pragma once

#include <string>
#include <vector>

#include <grpcpp/support/status.h>

#include "espalier/v1/placement.pb.h"
#include "host/engine/request.hpp"
#include "host/live/hold_expiry.hpp"
#include "host/live/named_states.hpp"
#include "service/server/calls.hpp"

namespace espalier {

// Returns the status of a change of holds that `store` refused. Its code is that of the first
// problem (holds.proto), and all are in the details.
grpc::Status HoldStatus(const HoldRefusal& refusal, const StateStore& store);

// Checks what a request says of holds: whether it may have any, and for how long. Errors:
// kBadInput.
Result<void> CheckHoldRequest(const v1::PlaceRequest& request);

// Returns the holds of the workloads that are placed, which a change to `generation` begins, and
// writes their ids to `response`. `peer` owns them where the request names nobody; `maker` is as in
// Hold. Errors:
// kBadInput for two workloads of one name, a name that is too long, or amounts that cannot be held.
Result<std::vector<Hold>> HoldsOf(const v1::PlaceRequest& request,
                                  const std::vector<WorkloadRequest>& workloads,
                                  const std::vector<WorkloadAnswer>& answers,
                                  std::uint64_t generation, const std::string& peer,
                                  const std::string& maker, HoldClock::TimePoint now,
                                  WorkBudget& budget, v1::PlaceResponse& response);

// Checks that the client of a call may end or extend these holds: they are its own, or it has the
// permission for those of others. PERMISSION_DENIED.
grpc::Status CheckMakers(const grpc::CallbackServerContext& context, const NamedStates& states,
                         const std::string& state_name,
                         const google::protobuf::RepeatedPtrField<std::string>& ids);

// `feature_gates` is the value of the server's flag.
grpc::Status ConfirmHolds(const NamedStates& states, HoldClock& clock,
                          const std::string& feature_gates, const v1::ConfirmHoldsRequest& request,
                          WorkBudget& budget, v1::ConfirmHoldsResponse& response);
grpc::Status ReleaseHolds(const NamedStates& states, HoldClock& clock,
                          const v1::ReleaseHoldsRequest& request, WorkBudget& budget,
                          v1::ReleaseHoldsResponse& response);
grpc::Status ExtendHolds(const NamedStates& states, HoldExpiry& expiry,
                         const v1::ExtendHoldsRequest& request, v1::ExtendHoldsResponse& response);
grpc::Status ListHolds(const NamedStates& states, HoldClock& clock,
                       const v1::ListHoldsRequest& request, WorkBudget& budget,
                       Calls::NextMessage<v1::ListHoldsResponse>& next);

}  // namespace espalier
