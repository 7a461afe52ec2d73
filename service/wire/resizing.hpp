// Converts the messages of PlanResize.
#pragma once

#include "espalier/v1/scheduling.pb.h"
#include "host/kueue/elastic/resize_plan.hpp"
#include "service/wire/decoder.hpp"

namespace espalier {

// The workloads and queues to plan on, and the request.
struct ResizeQuestion {
  Cluster cluster;  // without nodes, topologies, flavors and pods
  ResizeRequest request;
};

// Reads a request. Errors: kBadInput with the path of the field.
Result<ResizeQuestion> FromProto(const v1::PlanResizeRequest& message, WorkBudget& budget);

// Returns the message of a plan. Errors: kBadInput when a domain of an assignment has not one value
// per level.
Result<v1::PlanResizeResponse> ToProto(const ResizePlan& plan);

}  // namespace espalier
