// Converts the messages in scheduling.proto.
#pragma once

#include <string_view>

#include "espalier/v1/scheduling.pb.h"
#include "host/kueue/cycle/scheduling_cycle.hpp"
#include "host/model/cluster.hpp"
#include "service/wire/decoder.hpp"

namespace espalier {

// Reads the queues, admission checks and workloads; the rest of the cluster stays empty. Errors:
// kBadInput with the path of the field, below `field` where the message is that field of another,
// as for two workloads of one key.
Result<Cluster> FromProto(const v1::CycleRequest& message, WorkBudget& budget,
                          std::string_view field = {});

// Writes what FromProto reads. Errors: kBadInput when a domain of an assignment has not one value
// per level.
Result<v1::CycleRequest> ToProto(const Cluster& cluster);

// Returns the message of a result, without the cluster after the cycles. Errors are as above.
Result<v1::CycleResponse> ToProto(const SchedulingCyclesResult& result);
Result<SchedulingCyclesResult> FromProto(const v1::CycleResponse& message, WorkBudget& budget);

}  // namespace espalier
